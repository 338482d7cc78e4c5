#!/usr/bin/python3
"""Content that is named by its digest: artifacts of registries, and objects of Git LFS."""

import json
import subprocess
import urllib.parse

import lfs_service
from support.case import Case, main, place
from support.content import fragment, seeded, sha256
from support.listings import Server
from support.origin import find
from support.spoken import Spoken

TREE = {"a.h5": seeded(5_000_000, 1), "sub/b c.txt": b"text", "empty": b""}


class Registry(Server):
    """Debian's docker-registry."""

    def command(self, extra):
        config = self.directory / "config.yml"
        config.write_text(
            f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {self.root}}}}}\n"
            f"http: {{addr: '127.0.0.1:{self.port}'}}\n{extra}"
        )
        return [find("docker-registry"), "serve", config]

    def put(self, name, tag, files):
        """An artifact as its tools write it; returns the manifest's digest."""
        import urllib.request

        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        def send(method, url, data, kind="application/octet-stream"):
            request = urllib.request.Request(url, data, {"Content-Type": kind}, method=method)
            return opener.open(request, timeout=300)

        def blob(data):
            place = send("POST", self.url(f"v2/{name}/blobs/uploads/"), b"").headers["Location"]
            mark = "&" if "?" in place else "?"
            send("PUT", f"{place}{mark}digest=sha256:{sha256(data)}", data)
            return {"mediaType": "application/octet-stream", "digest": f"sha256:{sha256(data)}", "size": len(data)}

        layers = [{**blob(d), "annotations": {"org.opencontainers.image.title": n}} for n, d in files.items()]
        kind = "application/vnd.oci.image.manifest.v1+json"
        text = json.dumps({"schemaVersion": 2, "mediaType": kind, "config": blob(b"{}"), "layers": layers}).encode()
        send("PUT", self.url(f"v2/{name}/manifests/{tag}"), text, kind)
        return sha256(text)


class Artifacts(Case):
    def test_registry(self):
        if not find("docker-registry"):
            self.skipTest("docker-registry is not installed")
        server = Registry(self.home / "registry")
        self.addCleanup(server.stop)
        digest = server.put("lab/data", "v1", TREE)
        host = f"oci://127.0.0.1:{server.port}/lab/data"
        for url in (f"{host}:v1", f"{host}@sha256:{digest}"):
            with self.subTest(url):
                self.sabath.add("art", [fragment(url, kind="file_list")])
                asset = self.fetch("art", "--force")
                self.expect_tree(asset["path"], TREE)
                self.assertEqual(asset["resolved"], [{"url": url, "version": f"sha256:{digest}"}])
        data = TREE["a.h5"]
        self.sabath.add("one", [fragment(f"{host}@sha256:{sha256(data)}", data, path="x")])
        self.expect_tree(self.fetch("one", "--force")["path"], {"x": data})
        self.sabath.add("none", [fragment(f"{host}:none", kind="file_list")])
        self.fetch("none", code=6)

    def spoken(self, manifest, **table):
        """A registry that gives tokens; blobs are on another host."""
        data = TREE["a.h5"]
        cdn = Spoken({"/blob": data})
        self.addCleanup(cdn.stop)

        def guarded(said):
            def answer(request):
                if request.headers.get("Authorization") != "Bearer T0K":
                    return 401, {"WWW-Authenticate": f'Bearer realm="{server.url("token")}",service="reg, istry"'}, b""
                return said
            return answer

        server = Spoken({})
        self.addCleanup(server.stop)
        server.table.update({
            "/v2/": guarded(b"{}"), "/token": b'{"token":"T0K","expires_in":300}',
            "/v2/lab/x/manifests/latest": guarded(manifest),
            f"/v2/lab/x/blobs/sha256:{sha256(data)}": guarded((307, {"Location": cdn.url("blob?sig=1")}, b"")),
        })
        server.table.update(table)
        self.sabath.add("art", [fragment(server.url("lab/x").replace("http:", "oci:"), kind="file_list")])
        return server, cdn

    def keep_logins(self, logins, mode=0o600):
        file = self.home / ".docker/config.json"
        file.parent.mkdir()
        file.write_text(json.dumps({"auths": logins}))
        file.chmod(mode)

    def layer(self, **more):
        data = TREE["a.h5"]
        annotations = {"org.opencontainers.image.title": "a.h5"}
        return {"digest": f"sha256:{sha256(data)}", "size": len(data), "annotations": annotations, **more}

    def test_token_goes_to_the_registry_only(self):
        server, cdn = self.spoken(json.dumps({"layers": [self.layer()]}).encode())
        # A file of logins that has none for it (a helper of docker keeps it) is as good as none, with any permissions.
        self.keep_logins({urllib.parse.urlsplit(server.url("")).netloc: {}, "other.lab": {"auth": "eDp5"}}, mode=0o644)
        self.expect_tree(self.fetch("art")["path"], {"a.h5": TREE["a.h5"]})
        self.assertEqual([h for _, h, _ in cdn.requests if "Authorization" in h], [])
        (line, _, _), *more = server.asked("/token")
        self.assertEqual(line, "GET /token?service=reg%2C%20istry&scope=repository%3Alab%2Fx%3Apull")
        self.assertEqual(more, [])

    def test_a_login_goes_to_where_tokens_are_given(self):
        """With it the registry gives a token; no other server hears of it."""
        server, cdn = self.spoken(json.dumps({"layers": [self.layer()]}).encode())
        server.table["/token"] = lambda request: (
            b'{"token":"T0K"}' if request.headers.get("Authorization") == "Basic bWU6czNjcmV0" else (401, {}, b""))
        self.fetch("art", code=4)
        self.keep_logins({urllib.parse.urlsplit(server.url("")).netloc: {"auth": "bWU6czNjcmV0"}})
        self.expect_tree(self.fetch("art")["path"], {"a.h5": TREE["a.h5"]})
        basic = [line for line, headers, _ in server.requests if headers.get("Authorization", "").startswith("Basic")]
        self.assertEqual({line.split("?")[0] for line in basic}, {"GET /token"})
        self.assertEqual([h for _, h, _ in cdn.requests if "Authorization" in h], [])

    def test_refused(self):
        for layers in (
            [self.layer(digest="sha256:../x")],
            [self.layer(digest="sha512:" + "0" * 128)],
            [self.layer(), self.layer()],
            [self.layer(annotations={"org.opencontainers.image.title": "../x"})],
            [self.layer(annotations={"org.opencontainers.image.title": "/etc/passwd"})],
        ):
            with self.subTest(str(layers)):
                self.spoken(json.dumps({"layers": layers}).encode())
                self.fetch("art", code=12)
        self.spoken(json.dumps({"manifests": []}).encode())
        self.fetch("art", code=6)
        server, _ = self.spoken(b"{}")
        server.table["/v2/"] = (401, {"WWW-Authenticate": 'Bearer realm="file:///etc/passwd"'}, b"")
        self.fetch("art", code=4)
        server.table["/v2/"] = (401, {"WWW-Authenticate": 'Basic realm="x"'}, b"")
        self.fetch("art", code=4)


class Lfs(Case):
    def setUp(self):
        super().setUp()
        self.data = TREE["a.h5"]
        self.oid = sha256(self.data)
        self.store = Spoken({f"/o/{self.oid}": self.content})
        self.server = Spoken({f"{lfs_service.PATH}/objects/batch": self.batch})
        for server in (self.store, self.server):
            self.addCleanup(server.stop)
        self.change = {}

    def content(self, request):
        return self.data if request.headers.get("X-Key") == "k3y" else (403, {}, b"")

    def batch(self, request):
        action = {"href": self.store.url(f"o/{self.oid}"), "header": {"X-Key": "k3y"}, "expires_in": 60, **self.change}
        return lfs_service.answer(request, lambda oid: action if oid == self.oid else None)

    def url(self, oid, size):
        return "lfs+" + self.server.url(f"{lfs_service.PATH[1:]}/{oid}?size={size}")

    def get(self, code=0):
        self.sabath.add("x", [fragment(self.url(self.oid, len(self.data)), self.data, path="a.h5")])
        return self.fetch("x", "--force", code=code)

    def test_one_object(self):
        self.expect_tree(self.get()["path"], {"a.h5": self.data})
        self.assertLessEqual(len(self.server.requests), 2)  # two chunks: two lanes may ask at once, and no more
        self.assertEqual([h for _, h, _ in self.server.requests if "X-Key" in h], [])

    def test_refused(self):
        for change in ({"href": "file:///etc/passwd"}, {"header": {"X\r\nY": "1"}}, {"header": {"X": "1\r\nY: 2"}},
                       {"header": {"Host": "x"}}, {"header": {"Range": "bytes=0-1"}}):
            with self.subTest(str(change)):
                self.change = change
                self.get(code=12)
        self.assertEqual(self.store.requests, [])
        self.sabath.add("none", [fragment(self.url("0" * 64, 5), path="a")])
        asset = self.fetch("none", code=6)
        self.assertNotIn("\u001b", asset["err"])

    def test_pointers_in_a_repository(self):
        """A real repository over http, whose pointers its LFS server knows."""
        work, bare = self.home / "work", self.home / "www/lab/r.git"
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.oid}\nsize {len(self.data)}\n"
        place(work / "big/a.h5", pointer.encode())
        place(work / "train.py", b"print()")
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
            subprocess.run([*git, work, *command], check=True, capture_output=True)
        subprocess.run(["git", "clone", "-q", "--bare", work, bare], check=True, capture_output=True)
        subprocess.run(["git", "-C", bare, "update-server-info"], check=True)
        for file in bare.rglob("*"):
            if file.is_file():
                self.server.table["/lab/r.git/" + str(file.relative_to(bare))] = file.read_bytes()
        head = ["git", "-C", bare, "rev-parse", "HEAD"]
        commit = subprocess.run(head, check=True, capture_output=True, text=True).stdout.strip()
        self.sabath.add("code", kind="model", git={"origin": self.server.url("lab/r.git"), "commit": commit})
        asset = self.fetch("code")
        self.expect_tree(asset["path"], {"big/a.h5": self.data, "train.py": b"print()"})


if __name__ == "__main__":
    main()
