#!/usr/bin/python3
"""URLs that a server's document hands out, and redirects of the schemes that ask by http: from a public address they
may lead to no private one.

Each kind of document is also shown to lead where it may: to another public address, and from a near one to a near one.
"""
import hashlib
import json
import shutil
import unittest

from formats import COMMIT
from support.ground import Ground, main, seeded_bytes
from hostile import Hostile, body, redirect
from namespace import NEAR, OTHER, PUBLIC, enter_namespace
from support.certificate import Certificate

DATA = seeded_bytes(50_000)
SHA256 = hashlib.sha256(DATA).hexdigest()
LFS = "application/vnd.git-lfs+json"
HOSTS = tuple(host for host in NEAR if not host.startswith("fe80"))  # that one needs a zone


class HandedOut(unittest.TestCase):
    tls = None

    def setUp(self):
        self.ground = Ground(self)
        self.ground.config |= {"stall_timeout_s": 2, "connect_timeout_s": 2}

    def serve(self, host, answers=None, tls=None):
        server = Hostile(answers, host, tls)
        self.addCleanup(server.stop)
        return server

    def lead(self, giver, target):
        """Makes `giver` hand out a URL of `target`, which answers it, in the recipe "bad"; what the fetch is to find."""
        raise NotImplementedError

    def arrives(self, giver, target):
        name = self.lead(giver, target)
        result = self.ground.fetch("bad")
        self.assertEqual(result.exit, 0, result)
        self.assertTrue(target.heads, "it was never asked: that it is not, elsewhere, would say nothing")
        found = list(self.ground.store.glob(f"views/*/{name}"))
        self.assertEqual([path.read_bytes() for path in found], [DATA], result)
        shutil.rmtree(self.ground.store)

    def never_nearer(self):
        self.arrives(self.serve(PUBLIC, tls=self.tls), self.serve(OTHER, tls=self.tls))
        self.arrives(self.serve("127.0.0.1", tls=self.tls), self.serve("127.0.0.1", tls=self.tls))
        for host in HOSTS:
            with self.subTest(host):
                near, far = self.serve(host, tls=self.tls), self.serve(PUBLIC, tls=self.tls)
                self.lead(far, near)
                own = host.startswith("169.254.")  # where a machine's own secrets are
                said, hint = ("link-local", "near_hosts") if own else ("private address", "name the target itself")
                self.ground.refused(6, said, hint=hint)
                self.assertTrue(far.heads)
                self.assertEqual(near.heads, [], "the private server was asked")
        # Not by way of a third one either.
        near, far, other = self.serve("127.0.0.1", tls=self.tls), self.serve(PUBLIC, tls=self.tls), self.serve(OTHER, tls=self.tls)
        self.lead(far, near)
        other.answers = {path: redirect(near.url(path)) for path in near.answers}
        far.answers = {path: answer.replace(near.url("").encode(), other.url("").encode()) for path, answer in far.answers.items()}
        far.answers = {path: self.measured(answer) for path, answer in far.answers.items()}
        self.ground.refused(6, "private address")
        self.assertTrue(other.heads)
        self.assertEqual(near.heads, [])

    @staticmethod
    def measured(answer):
        head, _, content = answer.partition(b"\r\n\r\n")
        lines = [f"Content-Length: {len(content)}".encode() if line.startswith(b"Content-Length") else line
                 for line in head.split(b"\r\n")]
        return b"\r\n".join(lines) + b"\r\n\r\n" + content


class Lfs(HandedOut):
    def lead(self, giver, target):
        action = {"href": target.url("/object"), "header": {"X-aws-ec2-metadata-token-ttl-seconds": "600"}, "expires_in": 60}
        said = {"objects": [{"oid": SHA256, "size": len(DATA), "actions": {"download": action}}]}
        giver.answers = {"/r.git/info/lfs/objects/batch": body(json.dumps(said).encode(), f"Content-Type: {LFS}")}
        target.answers = {"/object": body(DATA)}
        url = "lfs+" + giver.url(f"/r.git/info/lfs/{SHA256}?size={len(DATA)}")
        self.ground.recipe("bad", self.ground.fragment(url, size=len(DATA), checksum={"sha256": SHA256}))
        return "f.bin"

    def test_object(self):
        self.never_nearer()


class Metalink(HandedOut):
    def lead(self, giver, target):
        text = (f"<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file name='f.bin'><size>{len(DATA)}</size>"
                f"<hash type='sha-256'>{SHA256}</hash><url>{giver.url('/f.bin')}</url></file></metalink>")
        link = f'Link: <{target.url("/meta4")}>; rel=describedby; type="application/metalink4+xml"'
        target.answers = {"/meta4": body(text.encode(), "Content-Type: application/metalink4+xml")}
        giver.answers = {"/f.bin": body(DATA, link)}
        self.ground.recipe("bad", self.ground.fragment("metalink+" + giver.url("/f.bin"), "file_list"))
        return "f.bin"

    def test_described_by(self):
        self.never_nearer()


class Oci(HandedOut):
    """By TLS: only a registry of this machine is spoken to without."""

    def setUp(self):
        super().setUp()
        certificate = Certificate(self.ground.directory, PUBLIC, OTHER, *HOSTS)
        self.tls, self.ground.config["ca_file"] = certificate.tls(), str(certificate.file)

    def lead(self, giver, target):
        layer = {"mediaType": "x/y", "digest": f"sha256:{SHA256}", "size": len(DATA),
                 "annotations": {"org.opencontainers.image.title": "f.bin"}}
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": [layer]}
        challenge = f'WWW-Authenticate: Bearer realm="{target.url("/token")}",service="s"'
        target.answers = {"/token": body(b'{"token": "t0k"}')}
        giver.answers = {"/v2/": body(b"", challenge, status="401 Unauthorized"), f"/v2/lab/data/blobs/sha256:{SHA256}": body(DATA),
                         "/v2/lab/data/manifests/v1": body(json.dumps(manifest).encode())}
        self.ground.recipe("bad", self.ground.fragment(giver.url("/lab/data:v1").replace("https:", "oci:"), "file_list"))
        return "f.bin"

    def test_realm(self):
        # On this machine itself it is plain http, for which no realm by https is an answer: Lfs shows near to near.
        self.arrives = lambda giver, target, way=self.arrives: way(giver, target) if giver.host == PUBLIC else None
        self.never_nearer()


class OciBlob(Oci):
    """The content itself, which registries do send elsewhere."""

    test_realm, test_redirect = None, Oci.test_realm

    def lead(self, giver, target):
        name = super().lead(giver, target)
        blob = f"/v2/lab/data/blobs/sha256:{SHA256}"
        target.answers = {"/blob": body(DATA)}
        giver.answers |= {"/v2/": body(b"{}"), blob: redirect(target.url("/blob"))}
        return name


class HfContent(HandedOut):
    def lead(self, giver, target):
        self.ground.variables["HF_ENDPOINT"] = giver.url("")
        giver.answers = {f"/datasets/Lab/set/resolve/{COMMIT}/f.bin": redirect(target.url("/blob"))}
        target.answers = {"/blob": body(DATA)}
        url = f"hf://datasets/Lab/set@{COMMIT}/f.bin"
        self.ground.recipe("bad", self.ground.fragment(url, size=len(DATA), checksum={"sha256": SHA256}))
        return "f.bin"

    def test_redirect(self):
        self.never_nearer()


class Index(HandedOut):
    def lead(self, giver, target):
        giver.answers = {"/d/": redirect(target.url("/d/"))}
        target.answers = {"/d/": body(b"<a href=f.bin>f</a>", "Content-Type: text/html"), "/d/f.bin": body(DATA)}
        self.ground.recipe("bad", self.ground.fragment(giver.url("/d/"), "file_list"))
        return "f.bin"

    def test_redirect(self):
        self.never_nearer()


class Doi(HandedOut):
    """doi.org stands at a public address; the page of the dataset is where the document says."""

    def lead(self, giver, target):
        self.ground.config["rewrites"] = [{"from": "https://doi.org/", "to": giver.url("/")}]
        page = target.url("/dataset.xhtml?persistentId=doi:10.7910/DVN/X")
        giver.answers = {"/10.7910/DVN/X": body(json.dumps({"url": page}).encode())}
        file = {"label": "f.bin", "dataFile": {"id": 7, "filename": "f.bin", "filesize": len(DATA),
                                               "checksum": {"type": "SHA-256", "value": SHA256}}}
        version = {"data": {"datasetPersistentId": "x", "versionNumber": 1, "versionMinorNumber": 0, "files": [file]}}
        target.answers = {"/api/datasets/:persistentId/versions/:latest-published": body(json.dumps(version).encode()),
                          "/api/access/datafile/7": body(DATA)}
        self.ground.recipe("bad", self.ground.fragment("doi:10.7910/DVN/X", "file_list"))
        return "f.bin"

    def test_dataverse(self):
        self.never_nearer()

    def test_a_rewrite_rule_is_the_users_own_word(self):
        near, far = self.serve("10.1.2.3"), self.serve(PUBLIC)
        self.lead(far, near)
        far.answers = {"/10.7910/DVN/X": self.measured(far.answers["/10.7910/DVN/X"].replace(near.url("").encode(), b"http://d.example"))}
        self.ground.config["rewrites"].append({"from": "http://d.example/api/datasets/", "to": near.url("/api/datasets/")})
        self.ground.fetch("bad")
        self.assertTrue(near.heads)


if __name__ == "__main__":
    enter_namespace()
    main()
