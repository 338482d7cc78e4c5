#!/usr/bin/python3
"""One file from an https, an sftp, an s3 and a sabath:// source at once; then each of them is killed in the middle."""
import os
import shutil
import threading
import time
import unittest

from support import servers
from support.certificate import Certificate
from support.origin import Nginx, find
from support import ssh_origin
from support.ground import Ground, checksums, main, seeded_bytes

SIZE = 160 << 20  # forty chunks: a login by the ssh program lasts while a dozen come from the others
RATE = 6 << 20   # bytes a second of one connection, where the server has such a bound: no source is done before the others begin


class FourSources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for reason in (ssh_origin.unavailable_because(), servers.swift_unavailable_because(),
                       "" if find("nginx") else "nginx is not installed"):
            if reason:
                raise unittest.SkipTest(reason)
        cls.data = seeded_bytes(1 << 20, 3) * (SIZE >> 20)

    def setUp(self):
        self.ground = Ground(self)
        self.ground.directory.chmod(0o755)
        self.files = self.ground.directory / "files"
        self.files.mkdir()
        self.file = self.files / "f.bin"
        # no two chunks are alike: bytes at the wrong place must not pass
        with open(self.file, "wb") as out:
            for index in range(0, SIZE, 1 << 20):
                out.write(index.to_bytes(8, "little") + self.data[index + 8:index + (1 << 20)])
        self.data = self.file.read_bytes()
        self.start()

    def start(self):
        ground = self.ground
        self.certificate = Certificate(ground.directory, "127.0.0.1", "localhost")
        self.store = ground.directory / "their-store"
        ground.recipe("theirs", ground.fragment(f"file://{self.file}"))
        made = ground.run("fetch", "--json", "theirs", "--store", self.store)
        self.assertEqual(made.exit, 0, made)
        self.root = made.record["assets"][0]["manifest"]
        self.servers, self.urls, self.started = {}, {}, 0
        for name in ("https", "s3", "sftp", "sabath"):
            self.start_one(name)
        plain = ground.environment
        ground.environment = lambda: {**plain(), **self.servers["s3"].keys}

    def start_one(self, name):
        self.started += 1
        place = self.ground.directory / f"{name}-{self.started}"
        if name == "https":
            server = Nginx(place, self.files, f"limit_rate {RATE};", certificate=self.certificate)
            self.urls[name] = f"https://127.0.0.1:{server.port}/f.bin"
            self.ground.config["ca_file"] = str(self.certificate.file)
        elif name == "s3":
            server = servers.swift(place, "bucket", [self.file])
            self.urls[name] = "s3://bucket/f.bin"
            self.ground.config["s3_endpoint"] = server.endpoint
        elif name == "sftp":
            server = ssh_origin.Sshd(place)
            server.kill = server.stop  # its relay resets what is open, and the listener is gone
            self.urls[name] = server.url(self.file)
            self.ground.config["ssh_config"] = str(server.config)
        else:
            server = servers.sabath_serve(place, self.store, "--limit-rate", str(RATE),
                                          environment=self.ground.environment())
            self.urls[name] = f"sabath://127.0.0.1:{server.port}"
        self.servers[name] = server
        self.addCleanup(server.stop)

    def recipe(self, **keys):
        self.ground.recipe("four", self.ground.fragment(list(self.urls.values()), size=SIZE, checksum=checksums(self.data)),
                           **keys)

    def fetch(self, kill=None):
        self.killed = None
        watcher = threading.Thread(target=self.kill_in_the_middle, args=(kill,))
        if kill:
            watcher.start()
        result = self.ground.fetch("four", "--lanes", "12")
        if kill:
            watcher.join()
        self.assertEqual(result.exit, 0, result)
        path = os.path.join(result.record["assets"][0]["path"], "f.bin")
        with open(path, "rb") as file:
            self.assertTrue(file.read() == self.data)
        self.ground.verified()
        return {url.partition(":")[0]: source for url, source in result.sources().items() if "manifests" not in url}

    def kill_in_the_middle(self, name):
        """When the journal has eight records: the header, claims, and a chunk or more that is done."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.killed is None:
            for path in (self.ground.store / "partial").rglob("journal.*"):
                try:
                    self.killed = name if path.stat().st_size >= 8 * 64 else None
                except OSError:
                    pass  # done, or not begun
            time.sleep(0.002)
        self.servers[name].kill()

    def test_all_at_once(self):
        self.recipe(manifest={"digest": self.root})
        sources = self.fetch()
        self.assertEqual(sorted(sources), ["https", "s3", "sabath", "sftp"])
        for scheme, source in sources.items():
            self.assertGreater(source["bytes"], 0, f"{scheme} gave nothing: {sources}")
        print("   " + told(sources))
        self.assertEqual(sum(source["failures"] for source in sources.values()), 0, sources)

    def test_without_a_manifest(self):
        self.recipe()
        sources = self.fetch()
        self.assertEqual(sorted(sources), ["https", "s3", "sabath", "sftp"])

    def test_each_is_killed_in_turn(self):
        for name in ("https", "sftp", "sabath", "s3"):
            self.recipe(manifest={"digest": self.root})
            with self.subTest(killed=name):
                sources = self.fetch(kill=name)
                self.assertEqual(self.killed, name, "it was over before")
                print(f"   {name} killed: " + told(sources))
                self.assertGreater(sources[name]["failures"], 0, f"no lane noticed: {sources}")
            shutil.rmtree(self.ground.store)
            if name != "s3":  # the slow one to start is killed last
                self.start_one(name)


def told(sources):
    return ", ".join(f"{name} {source['bytes'] >> 20} MiB" for name, source in sorted(sources.items()))


if __name__ == "__main__":
    main()
