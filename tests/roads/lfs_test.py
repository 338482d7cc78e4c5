#!/usr/bin/python3
"""Git LFS: objects and source trees of a repository that git-lfs itself pushed to its own test server.

That server, lfstest-gitserver, is in no package: `go build -tags testtools t/cmd/lfstest-gitserver.go` in git-lfs'
source makes it (in PATH, or named by SABATH_LFS_SERVER). It wants a login for all below info/lfs, ignores ranges, and
names places by plain http; an nginx before it logs in, or ends the TLS.
"""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

from support.certificate import Certificate
from support.origin import Nginx, find
from support.ground import Ground, checksums, main, seeded_bytes

BIG, SMALL = seeded_bytes(9_437_185, 6), seeded_bytes(1024, 7)  # three chunks; one
TREE = {"big.bin": BIG, "deep/small.bin": SMALL, "empty.bin": b"", "train.py": b"print()\n",
        ".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n"}
FILES = ("URL", "SSL_URL", "CLIENT_CERT_URL", "CERT", "CLIENT_CERT", "CLIENT_KEY", "CLIENT_KEY_ENCRYPTED")
SERVER = find(os.environ.get("SABATH_LFS_SERVER", "lfstest-gitserver"))
LOGIN = 'location ~ /info/lfs/ { %s proxy_set_header Authorization "Basic dXNlcjpwYXNz"; }'  # user:pass


def oid(data):
    return hashlib.sha256(data).hexdigest()


def unavailable_because():
    if not SERVER:
        return "lfstest-gitserver, git-lfs' own test server, is not there (SABATH_LFS_SERVER may name it)"
    missing = [name for name in ("git", "git-lfs", "nginx", "openssl") if not find(name)]
    return f"{', '.join(missing)} not installed" if missing else ""


class LfsServer:
    """lfstest-gitserver over `directory`/repos; it chooses its port, and keeps objects in memory."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.repos = self.directory / "repos"
        self.repos.mkdir(parents=True)
        self.log = self.directory / "log"
        told = {f"LFSTEST_{name}": str(self.directory / name) for name in FILES}
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([SERVER], stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                            cwd=directory, start_new_session=True,
                                            env={**os.environ, **told, "LFSTEST_DIR": str(self.repos)})
        deadline = time.monotonic() + 30
        while "client cert url" not in self.log.read_text():  # the last that it says of itself
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.stop()
                raise RuntimeError(f"lfstest-gitserver: {self.log.read_text()}")
            time.sleep(0.01)
        self.url = (self.directory / "URL").read_text()

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def put(self, data):
        """An object of r.git, by the server's own upload. Some contents tell the server how to behave."""
        request = urllib.request.Request(f"{self.url}/storage/{oid(data)}?r=r", data, method="PUT")
        urllib.request.urlopen(request, timeout=300).close()


@unittest.skipIf(unavailable_because(), unavailable_because())
class Lfs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="sabath-lfs-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.lfs = LfsServer(cls.directory / "lfs")
        cls.addClassCleanup(cls.lfs.stop)
        passed = f"proxy_pass {cls.lfs.url}; proxy_set_header Host $http_host;"
        cls.front = Nginx(cls.directory / "nginx", cls.lfs.repos,
                          extra=LOGIN % passed + f" location / {{ {passed} }} client_max_body_size 0;")
        cls.addClassCleanup(cls.front.stop)
        cls.origin = f"http://127.0.0.1:{cls.front.port}/r.git"
        cls.push()

    @classmethod
    def git(cls, *arguments, **more):
        env = {**os.environ, "HOME": str(cls.directory), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_TERMINAL_PROMPT": "0", **more}
        done = subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *map(str, arguments)], env=env,
                              cwd=cls.directory / "work", check=True, capture_output=True, text=True, timeout=300)
        return done.stdout.strip()

    @classmethod
    def push(cls):
        """`main` with all objects, and `lost`, whose object stayed with its author."""
        work, bare = cls.directory / "work", cls.lfs.repos / "r.git"
        work.mkdir()
        cls.git("init", "-q", "--bare", "-b", "main", bare)
        cls.git("--git-dir", bare, "config", "http.receivepack", "true")
        cls.git("init", "-q", "-b", "main")
        cls.git("lfs", "install", "--local")
        cls.git("config", f"lfs.{cls.origin}/info/lfs.locksverify", "false")
        for name, data in TREE.items():
            (work / name).parent.mkdir(exist_ok=True)
            (work / name).write_bytes(data)
        cls.git("add", "-A")
        cls.git("commit", "-q", "-m", "x")
        cls.git("push", "-q", cls.origin, "main")
        cls.commit = cls.git("rev-parse", "HEAD")
        cls.git("checkout", "-q", "-b", "lost")
        (work / "lost.bin").write_bytes(b"lost")
        cls.git("add", "-A")
        cls.git("commit", "-q", "-m", "y")
        cls.git("push", "-q", cls.origin, "lost", GIT_LFS_SKIP_PUSH="1")

    def setUp(self):
        self.ground = Ground(self)

    def model(self, **which):
        recipe = {"schema": 1, "kind": "model", "name": "code", "git": {"origin": self.origin, **which}}
        (self.ground.recipes / "models/code.json").write_text(json.dumps(recipe))

    def say(self, data, origin=None):
        url = f"lfs+{origin or self.origin}/info/lfs/{oid(data)}?size={len(data)}"
        self.ground.recipe("bad", self.ground.fragment(url, size=len(data), checksum=checksums(data)))

    def test_pointers_in_a_repository(self):
        pointer = self.git("cat-file", "blob", f"{self.commit}:big.bin")
        self.assertIn(f"oid sha256:{oid(BIG)}\nsize {len(BIG)}", pointer)
        for which in ({"commit": self.commit}, {"branch": "main"}, {}):
            with self.subTest(which):
                self.model(**which)
                result = self.ground.succeeds("-m", None, "code", "--force")
                place = pathlib.Path(result.record["assets"][0]["path"])
                found = {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file()}
                self.assertEqual(found.keys(), TREE.keys())
                self.assertEqual([name for name in TREE if found[name] != TREE[name]], [])
                self.ground.verified()

    def test_pointer_to_what_was_never_pushed(self):
        self.model(branch="main")
        self.ground.succeeds("-m", None, "code")
        self.model(branch="lost")
        says = ("has no LFS object", oid(b"lost"), "404")
        self.ground.refused(6, *says, command=("fetch", "--json", "-m", "code"), hint="has not pushed it")

    def test_one_object(self):
        for data in (BIG, SMALL):
            with self.subTest(size=len(data)):
                self.say(data)
                self.ground.succeeds("bad", data)
                self.ground.verified()

    def test_ranges_are_ignored(self):
        place = urllib.request.Request(f"{self.lfs.url}/storage/{oid(BIG)}?r=r", headers={"Range": "bytes=5-9"})
        with urllib.request.urlopen(place, timeout=300) as answer:
            self.assertEqual((answer.status, len(answer.read())), (200, len(BIG)))
        self.say(BIG)
        result = self.ground.succeeds("bad", BIG, "--lanes", "3")
        (source,) = result.sources().values()
        self.assertIn("the byte range was ignored", source["reason"], result)
        self.assertLess(source["bytes"], 2 * len(BIG), result)
        self.ground.verified()

    def test_object_that_is_not_there(self):
        self.say(b"nobody's")
        self.ground.refused(6, "has no LFS object", oid(b"nobody's"), "does not exist", hint="has not pushed it")

    def test_login(self):
        self.say(SMALL, f"{self.lfs.url}/r.git")
        self.ground.refused(4, "/r.git/info/lfs/objects/batch", "401")

    def test_over_tls(self):
        certificate = Certificate(self.directory, "127.0.0.1", "localhost")
        passed = f"location / {{ proxy_pass {self.lfs.url}; proxy_set_header Host $http_host; %s }}"
        named = f"sub_filter_types *; sub_filter {self.lfs.url} https://$http_host;"
        fronts = [Nginx(self.directory / name, self.lfs.repos, passed % more, certificate=certificate)
                  for name, more in (("plain", ""), ("named", named))]
        for front in fronts:
            self.addCleanup(front.stop)
        self.ground.config["ca_file"] = str(certificate.file)
        plain, named = (f"https://127.0.0.1:{front.port}/r.git" for front in fronts)
        self.say(SMALL, named)
        self.ground.refused(4, "/r.git/info/lfs/objects/batch", "401")
        netrc = self.ground.directory / ".netrc"
        netrc.write_text("machine 127.0.0.1 login user password pass\n")
        netrc.chmod(0o600)
        self.ground.succeeds("bad", SMALL)
        self.say(SMALL, plain)
        self.ground.refused(12, '"href"', "is no URL that may be followed from here",
                            command=("fetch", "--json", "--force", "bad"))

    def test_what_goes_wrong_at_the_server(self):
        for words, code, says in (
            (b"status-batch-403", 4, "403 welp"),
            (b"status-batch-404", 6, "404 welp"),
            (b"status-batch-410", 6, "410 welp"),
            (b"status-batch-422", 6, "422 welp"),
            (b"unknown-oid", 12, "is not the one that was asked for"),
            (b"send-deprecated-links", 12, "name no download"),
            (b"status-batch-resume-206", 7, "10 bytes long"),  # the first 10 bytes, said to be all
        ):
            with self.subTest(words):
                self.lfs.put(words)
                self.say(words)
                self.ground.refused(code, says)

    def test_what_can_be_had_all_the_same(self):
        for words in (b"storage-download-retry",  # two times HTTP 500
                      b"redirect-storage-upload", b"return-expired-action", b"return-invalid-size",
                      b"batch-hash-algo-empty"):
            with self.subTest(words):
                self.lfs.put(words)
                self.say(words)
                self.ground.succeeds("bad", words)


if __name__ == "__main__":
    main()
