#!/usr/bin/python3
"""Requests to external programs, seen in their arguments: ranges, continuations; and files at a chunk's edge."""
import pathlib
import shlex
import shutil
import subprocess
import time
import unittest

from support import servers
from support import ssh_origin
from support.origin import Nginx, find
from commands_test import QUOTED, CommandCase, needs
from support.ground import checksums, main, seeded_bytes

CHUNK = 4 << 20
EDGES = {"empty": b"", "edge": seeded_bytes(CHUNK + 1, 5), "f.bin": seeded_bytes(2 * CHUNK + 3, 6)}


class RangesCase(CommandCase):
    def setUp(self):
        super().setUp()
        for name, data in EDGES.items():
            (self.files / name).write_bytes(data)
        self.seen = self.ground.directory / "seen"

    def watch(self, program, path=None):
        """Puts a wrapper before the program that notes how it was called."""
        place = self.ground.directory / "watched"
        place.mkdir(exist_ok=True)
        path = path or self.ground.environment()["PATH"]
        real = shutil.which(program, path=path)
        (place / program).write_text(f"""#!/bin/sh
printf '%s\\0' "$@" end-of-call >>{shlex.quote(str(self.seen))}
exec {shlex.quote(real)} "$@"
""")
        (place / program).chmod(0o755)
        self.extra["PATH"] = f"{place}:{path}"

    def calls(self):
        """Each is one write, for several programs run at once."""
        calls = self.seen.read_text().split("end-of-call\0")[:-1] if self.seen.exists() else []
        self.seen.unlink(missing_ok=True)
        return [call.split("\0")[:-1] for call in calls]

    def fetched(self, url, name):
        """Fetches it into an empty store: how the program was called."""
        self.calls()
        self.say(url, size=len(EDGES[name]), checksum=checksums(EDGES[name]))
        self.ground.succeeds("bad", EDGES[name])
        self.forget()
        return self.calls()

    def edges(self, base):
        for name in ("empty", "edge"):
            with self.subTest(name):
                self.fetched(f"{base}/{name}", name)


class Continued(RangesCase):
    """Programs that can begin anywhere, and not end: what broke off is taken up where it did."""

    def through(self, name, option):
        server = Nginx(self.ground.directory / "nginx", self.files)
        self.addCleanup(server.stop)
        relay = ssh_origin.Relay(server.port)
        self.addCleanup(relay.stop)
        self.watch(name)
        self.ground.config["prefer"] = {"http": name}
        base = f"http://127.0.0.1:{relay.port}"
        asked = self.offsets(self.fetched(f"{base}/f.bin", "f.bin"), option)
        self.assertEqual(sorted(asked), [0, CHUNK, 2 * CHUNK])
        relay.limit = CHUNK // 2
        asked = self.offsets(self.fetched(f"{base}/f.bin", "f.bin"), option)
        self.assertLessEqual({0, CHUNK}, set(asked))
        rest = [offset for offset in asked if CHUNK < offset < 2 * CHUNK]  # the last three bytes may come with it
        self.assertTrue(2 * CHUNK in asked or rest, f"the end was never asked for: {asked}")
        self.assertTrue([offset for offset in asked if offset % CHUNK], f"taken up nowhere: {asked}")
        relay.limit = None
        self.edges(base)

    @staticmethod
    def offsets(calls, option):
        """Of each call the value of the option, or None."""
        found = []
        for words in calls:
            joined = [word.partition("=")[2] for word in words if word.startswith(option + "=")]
            apart = words[words.index(option) + 1:][:1] if option in words else []
            (value,) = (*joined, *apart) or (None,)
            found.append(None if value is None else int(value))
        return found

    @needs("curl", "nginx")
    def test_curl(self):
        self.through("curl", "--continue-at")

    @needs("wget", "nginx")
    def test_wget(self):
        self.through("wget", "--start-pos")


class Ranges(RangesCase):
    def covers(self, spans):
        """The spans (first, last) are the whole file, none more than a chunk; parts of a slow one may be asked again."""
        end = 0
        for first, last in sorted(spans):
            self.assertLessEqual(first, end, spans)
            self.assertLessEqual(last - first, CHUNK - 1, spans)
            end = max(end, last + 1)
        self.assertEqual(end, len(EDGES["f.bin"]), spans)

    @staticmethod
    def counted(calls):
        values = [dict(word.partition("=")[::2] for word in words if word.startswith("--")) for words in calls]
        return [(int(v["--offset"]), int(v["--offset"]) + int(v["--count"]) - 1) for v in values if "--offset" in v]

    @staticmethod
    def ranged(calls):
        words = [word for call in calls for word in call if word.startswith("--range=bytes=")]
        return [tuple(map(int, word.rpartition("=")[2].split("-"))) for word in words]

    @unittest.skipIf(servers.swift_unavailable_because(), servers.swift_unavailable_because())
    def test_s3(self):
        files = [self.files / name for name in EDGES]
        server = servers.swift(self.ground.directory / "swift", "bucket", files)
        self.addCleanup(server.stop)
        self.ground.config["s3_endpoint"] = server.endpoint
        self.ground.config["stall_timeout_s"] = 60  # on a busy machine it takes long until aws has started
        for name, program, spans in (("rclone-s3", "rclone", self.counted), ("aws-cli", "aws", self.ranged)):
            with self.subTest(by=name):
                if not find(program):
                    self.skipTest(f"{program} is not installed")
                self.extra = {**server.keys}
                self.watch(program, "/usr/bin:/bin")
                self.ground.config["prefer"] = {"s3": name}
                self.covers(spans(self.fetched("s3://bucket/f.bin", "f.bin")))
                self.edges("s3://bucket")

    @needs("rclone")
    @unittest.skipIf(ssh_origin.unavailable_because(), ssh_origin.unavailable_because())
    def test_rclone_sftp(self):
        """With keys by the agent, and the hosts that the user knows."""
        server = ssh_origin.Sshd(self.ground.directory / "ssh")
        self.addCleanup(server.stop)
        self.extra |= self.agent(server.keys / "id")
        self.watch("rclone")
        self.ground.config["prefer"] = {"sftp": "rclone-sftp"}
        known = self.ground.directory / ".ssh/known_hosts"
        known.parent.mkdir()
        known.write_text("")
        self.say(server.url(self.files / "f.bin"), checksum={})
        self.ground.refused(4, "knownhosts", hint="accept the host's key once")
        known.write_bytes((server.keys / "known_hosts").read_bytes())
        self.both_names(server.url(self.files), ("-e", QUOTED))
        self.covers(self.counted(self.fetched(server.url(self.files / "f.bin"), "f.bin")))
        self.edges(server.url(self.files))
        self.say(server.url(self.files / "absent"), checksum={})
        self.ground.refused(6, "not found", hint="check the path")
        del self.extra["SSH_AUTH_SOCK"]
        self.say(server.url(self.files / "f.bin"), checksum={})
        self.ground.refused(4, "SSH_AUTH_SOCK", hint="ssh-add")

    def agent(self, key):
        """An agent of this test that holds the key."""
        socket = self.ground.directory / "agent"
        agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
        self.addCleanup(self.ended, agent)
        while not socket.exists():
            time.sleep(0.01)
        variables = {"SSH_AUTH_SOCK": str(socket), "USER": pathlib.Path.home().owner()}
        subprocess.run(["ssh-add", "-q", key], env=self.ground.environment() | variables, check=True)
        return variables

    @staticmethod
    def ended(process):
        process.terminate()
        process.wait()


class Whole(RangesCase):
    """Programs that only know whole files."""

    def names_are_no_patterns(self, base):
        for name in ("a[1]", "a1", "b1"):
            (self.files / name).write_bytes(name.encode())
        self.say(f"{base}/a%5B1%5D", size=None, checksum={})
        self.ground.succeeds("bad", b"a[1]")
        for name in ("b%5B1%5D", "b%3F", "%2A"):
            self.say(f"{base}/{name}", size=None, checksum={})
            self.ground.refused(6, "cannot read")

    @needs("rsync")
    def test_rsync(self):
        server = servers.rsyncd(self.ground.directory / "rsyncd", self.files)
        self.addCleanup(server.stop)
        self.edges(f"rsync://127.0.0.1:{server.port}/data")
        self.names_are_no_patterns(f"rsync://127.0.0.1:{server.port}/data")

    @unittest.skipIf(ssh_origin.unavailable_because(), ssh_origin.unavailable_because())
    def test_scp(self):
        server = ssh_origin.Sshd(self.ground.directory / "ssh")
        self.addCleanup(server.stop)
        self.ground.config |= {"ssh_config": str(server.config), "prefer": {"sftp": "scp"}}
        self.edges(server.url(self.files))
        self.names_are_no_patterns(server.url(self.files))


if __name__ == "__main__":
    main()
