#!/usr/bin/python3
"""Services that are asked with a token and answer by a redirect to another host: it is asked, and hears no token."""
import base64
import hashlib
import json
import unittest

from formats import COLLECTION, COMMIT
from support.ground import Ground, main
from hostile import Hostile, body, redirect
from namespace import OTHER, PUBLIC, enter_namespace
from support.certificate import Certificate

DATA, TOKEN = b"canary\n", "canary-token-8c1f"
SHA256 = hashlib.sha256(DATA).hexdigest()
BASIC = base64.b64encode(f"me:{TOKEN}".encode()).decode()
JSON = "Content-Type: application/json"


class Api(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        self.ground.config |= {"stall_timeout_s": 2, "connect_timeout_s": 2}

    def serve(self, tls=None):
        self.far, self.other = Hostile(host=PUBLIC, tls=tls), Hostile(host=OTHER, tls=tls)
        for server in (self.far, self.other):
            self.addCleanup(server.stop)

    def keeps(self, sent, url, path, said):
        """`said` stands at the other host: what the first is asked at `path` carries `sent`, and nothing there does."""
        self.far.answers[path] = redirect(self.other.url(path))
        self.other.answers = {path: body(json.dumps(said).encode(), JSON)}
        self.ground.recipe("bad", self.ground.fragment(url, "file_list"))
        result = self.ground.fetch("bad", "-v")
        asked = [head for head in self.far.heads if head.split()[1].startswith(path)]
        self.assertTrue(asked, result)
        for head in asked:
            self.assertIn(f"Authorization: {sent}\r\n", head)
        self.assertTrue(self.other.heads, "it was never asked: that it heard nothing would say nothing")
        for head in self.other.heads:
            for word in (TOKEN, BASIC, "Authorization", "Cookie", "Referer"):
                self.assertNotIn(word.lower(), head.lower())
        self.assertNotIn(TOKEN, result.out + result.err)
        return result

    def test_hub(self):
        self.serve()
        self.ground.variables |= {"HF_ENDPOINT": self.far.url(""), "HF_TOKEN": TOKEN}
        tree, files = f"/api/datasets/Lab/set/tree/{COMMIT}", [{"type": "file", "path": "f", "size": len(DATA)}]
        self.far.answers = {f"/datasets/Lab/set/resolve/{COMMIT}/f": body(DATA)}
        result = self.keeps(f"Bearer {TOKEN}", f"hf://datasets/Lab/set@{COMMIT}", tree, files)
        self.assertEqual(result.exit, 0, result)

    def registry(self, challenge):
        certificate = Certificate(self.ground.directory, PUBLIC, OTHER)
        tls, self.ground.config["ca_file"] = certificate.tls(), str(certificate.file)
        self.serve(tls)
        docker = self.ground.directory / ".docker"
        docker.mkdir(mode=0o700)
        name = f"{PUBLIC}:{self.far.port}"
        (docker / "config.json").write_text(json.dumps({"auths": {name: {"auth": BASIC}}}))
        (docker / "config.json").chmod(0o600)
        self.far.answers = {"/v2/": body(b"", "WWW-Authenticate: " + challenge(self.far), status="401 Unauthorized"),
                            "/token": body(json.dumps({"token": TOKEN}).encode(), JSON),
                            f"/v2/lab/x/blobs/sha256:{SHA256}": body(DATA)}
        layer = {"digest": "sha256:" + SHA256, "size": len(DATA),
                 "annotations": {"org.opencontainers.image.title": "f"}}
        return f"oci://{name}/lab/x:v1", "/v2/lab/x/manifests/v1", {"schemaVersion": 2, "layers": [layer]}

    def test_registry(self):
        asked = self.registry(lambda server: 'Basic realm="x"')
        self.assertEqual(self.keeps(f"Basic {BASIC}", *asked).exit, 0)

    def test_registry_by_token(self):
        asked = self.registry(lambda server: f'Bearer realm="{server.url("/token")}",service="s"')
        self.assertEqual(self.keeps(f"Bearer {TOKEN}", *asked).exit, 0)

    def test_globus(self):
        self.serve()
        (self.ground.directory / "token").write_text(TOKEN)
        (self.ground.directory / "token").chmod(0o600)
        self.ground.config |= {"globus": {"api": self.far.url("/v0.10")},
                               "tokens": [{"origin": self.far.url(""), "file": "token"}]}
        listed = {"DATA": [{"name": "f", "type": "file", "size": len(DATA)}], "has_next_page": False}
        self.keeps(f"Bearer {TOKEN}", f"globus://{COLLECTION}/d/", f"/v0.10/operation/endpoint/{COLLECTION}/ls", listed)


if __name__ == "__main__":
    enter_namespace()
    main()
