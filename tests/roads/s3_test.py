#!/usr/bin/python3
"""s3:// as its users have it: a profile of ~/.aws, buckets that are hosts, listings of several pages; against OpenStack Swift."""
import pathlib
import shutil
import tempfile
import unittest

from support import servers
from support.origin import Nginx, find
from support.ground import Ground, checksums, main, seeded_bytes

DATA = seeded_bytes(9_000_001, 5)  # three chunks
TREE = {"big": DATA, "a b&<c>.h5": b"12", "d/ü.h5": b"123", "empty": b"", "x+y=z": b"1",
        **{f"many/{i}": b"%d" % i for i in range(7)}}


class Profile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if reason := servers.swift_unavailable_because():
            raise unittest.SkipTest(reason)
        if not find("nginx"):
            raise unittest.SkipTest("nginx is not installed")
        directory = pathlib.Path(tempfile.mkdtemp(prefix="sabath-s3-"))
        cls.addClassCleanup(shutil.rmtree, directory)
        files = directory / "run"
        for name, data in TREE.items():
            (files / name).parent.mkdir(parents=True, exist_ok=True)
            (files / name).write_bytes(data)
        (directory / "swift").mkdir()
        cls.swift = servers.swift(directory / "swift", "lake-data", [files])
        cls.addClassCleanup(cls.swift.stop)
        only = "if ($host != lake-data.localhost) { return 421; } "
        passed = f"location / {{ proxy_pass {cls.swift.endpoint}; proxy_set_header Host $http_host; }}"
        cls.by_host = Nginx(directory / "nginx", files, only + passed)
        cls.addClassCleanup(cls.by_host.stop)

    def setUp(self):
        self.ground = Ground(self)
        self.aws = self.ground.directory / ".aws"
        self.aws.mkdir()
        self.say("virtual", "testing")
        self.ground.variables["AWS_PROFILE"] = "lake"

    def say(self, style, secret):
        """`virtual` leads to where no bucket is known by its path, `path` to where none is a host."""
        endpoint = f"http://localhost:{self.by_host.port}" if style == "virtual" else self.swift.endpoint
        (self.aws / "config").write_text("[default]\nregion = eu-west-1\nendpoint_url = http://127.0.0.1:1\n[profile lake]\n"
                                         f"endpoint_url = {endpoint}\ns3 =\n  addressing_style = {style}\n")
        (self.aws / "credentials").write_text("[default]\naws_access_key_id = nobody\naws_secret_access_key = nothing\n"
                                              f"[lake]\naws_access_key_id = test:tester\naws_secret_access_key = {secret}\n")
        (self.aws / "credentials").chmod(0o600)

    def test_listed_in_pages(self):
        for style in ("virtual", "path"):
            with self.subTest(style):
                self.say(style, "testing")
                self.ground.recipe("bad", self.ground.fragment("s3://lake-data/run/", kind="file_list", path=style))
                result = self.ground.succeeds("bad")
                place = pathlib.Path(result.record["assets"][0]["path"], style)
                found = {str(p.relative_to(place)): checksums(p.read_bytes()) for p in place.rglob("*") if p.is_file()}
                self.assertEqual(found, {name: checksums(data) for name, data in TREE.items()})

    def test_by_ranges(self):
        self.ground.recipe("bad", self.ground.fragment("s3://lake-data/run/big", size=len(DATA), checksum=checksums(DATA)))
        self.ground.succeeds("bad", DATA, "--lanes", "3")

    def test_refused(self):
        self.ground.recipe("bad", self.ground.fragment("s3://lake-data/run/big", size=len(DATA), checksum=checksums(DATA)))
        self.say("virtual", "wrong-secret")
        result = self.ground.refused(4, "SignatureDoesNotMatch", hint="check the keys")
        self.assertNotIn("wrong-secret", result.out + result.err)
        self.say("sideways", "testing")
        self.ground.refused(2, "addressing")
        self.ground.variables["AWS_PROFILE"] = "absent"
        self.ground.refused(2, "no S3 profile 'absent'")


if __name__ == "__main__":
    main()
