"""Sources over sftp and s3 that refuse, are not there, break off, or are not who they should be."""
import os
import shutil
import unittest

from support import ssh_origin
from support.origin import free_port
from support.ground import FaultCase, checksums, main, seeded_bytes

SIZE = 9_000_000  # three chunks
DATA = seeded_bytes(SIZE)


@unittest.skipIf(ssh_origin.unavailable_because(), ssh_origin.unavailable_because())
class SftpCase(FaultCase):
    more = ""  # of the server's configuration

    def setUp(self):
        super().setUp()
        self.files = self.ground.directory / "files"
        self.files.mkdir()
        (self.files / "f").write_bytes(DATA)
        self.ground.directory.chmod(0o755)
        self.sshd = ssh_origin.Sshd(self.ground.directory / "ssh", self.more)
        self.addCleanup(self.sshd.stop)
        self.ground.config["ssh_config"] = str(self.sshd.config)
        self.ground.config["connect_timeout_s"] = 20  # a login computes, and other tests do so beside it
        self.say(self.sshd.url(self.files / "f"))

    def say(self, url):
        self.ground.recipe("bad", self.ground.fragment(str(url), size=SIZE, checksum=checksums(DATA)))


class Sftp(SftpCase):
    def test_it_works(self):
        result = self.ground.succeeds("bad", DATA)
        (source,) = result.sources().values()
        self.assertGreaterEqual(source["bytes"], SIZE, result)
        self.assertLess(source["bytes"], 2 * SIZE, result)  # the end of a late chunk may come twice

    def test_missing(self):
        self.say(self.sshd.url(self.files / "absent"))
        self.ground.refused(6, "absent", "No such file", hint="check the path")

    def test_down(self):
        self.say(f"sftp://127.0.0.1:{free_port()}/f")
        self.ground.refused(6, "Connection refused", hint="check the host and the port")

    def test_reset_in_the_middle(self):
        self.sshd.relay.limit = 2000  # while the keys are exchanged
        self.ground.refused(6, "cannot read sftp://127.0.0.1:")
        # libssh2 1.10 keeps the keys of an exchange that breaks off; its name is not in the stack, for a suppression.
        self.ground.variables["ASAN_OPTIONS"] = "detect_leaks=0"
        self.sshd.relay.limit = 3_000_000  # each connection dies within its first chunk or behind it
        result = self.ground.succeeds("bad", DATA)
        (source,) = result.sources().values()
        self.assertGreater(source["failures"], 0, result)

    def test_unknown_host_key(self):
        known = self.sshd.keys / "known_hosts"
        before = known.read_text()
        known.write_text("")
        self.ground.refused(4, "unknown host key", "ED25519", hint="accept it once by `ssh")
        self.assertEqual(known.read_text(), "", "a key was accepted")
        known.write_text(before)
        self.ground.succeeds("bad", DATA)

    def test_changed_host_key(self):
        known = self.sshd.keys / "known_hosts"
        name = known.read_text().split()[0]
        kind, key = (self.sshd.keys / "id.pub").read_text().split()[:2]
        known.write_text(f"{name} {kind} {key}\n")
        self.ground.refused(4, "not the one that was accepted", "SHA256:", hint="ssh-keygen -R")

    def test_no_key(self):
        (self.sshd.keys / "id").unlink()
        self.ground.refused(4, "refused the login", "publickey", hint="passwords are never asked for")


class SftpPermission(SftpCase):
    """The server reads as a user who may not."""

    more = "Match all\nForceCommand setpriv --reuid=65534 --clear-groups /usr/lib/openssh/sftp-server"

    def test_denied(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root can have the server read as another user")
        (self.files / "f").chmod(0)
        self.ground.refused(4, "Permission denied", hint="permission")
        (self.files / "f").chmod(0o644)
        self.ground.succeeds("bad", DATA)


class S3(FaultCase):
    """The fault server as an S3 server: path-style, and signatures are not its business."""

    def setUp(self):
        super().setUp()
        self.ground.config["s3_endpoint"] = self.server.url("")

    def say(self, url, **keys):
        keys = keys or {"size": 100_000, "checksum": checksums(DATA[:100_000])}
        self.ground.recipe("bad", self.ground.fragment(url, **keys))

    def test_it_works(self):
        self.say("s3://ok/k")
        self.ground.succeeds("bad", DATA[:100_000])

    def test_faults_have_their_exit_codes(self):
        for bucket, code, words in (("status/404", 6, "HTTP 404"), ("status/403", 4, "HTTP 403"),
                                    ("status/503", 6, "HTTP 503"), ("rst/k", 6, "reset"), ("trunc/k", 6, "truncated")):
            with self.subTest(bucket=bucket):
                self.say(f"s3://{bucket}")
                self.ground.refused(code, f"s3://{bucket}", words)

    def test_down(self):
        self.ground.config["s3_endpoint"] = f"http://127.0.0.1:{free_port()}"
        self.say("s3://b/k")
        self.ground.refused(6, "s3://b/k")

    def test_an_endpoint_that_is_none(self):
        self.ground.config["s3_endpoint"] = "ftp://x"
        self.say("s3://b/k")
        self.ground.refused(2, "endpoint")

    def test_secrets_are_never_shown(self):
        aws = self.ground.directory / ".aws"
        aws.mkdir()
        (aws / "credentials").write_text("[default]\naws_access_key_id = AKTEST\n"
                                         "aws_secret_access_key = very-secret\naws_session_token = very-token\n")
        (aws / "credentials").chmod(0o644)
        self.say("s3://status/403")
        self.ground.refused(4, "others may read it", hint="chmod 600")
        (aws / "credentials").chmod(0o600)
        result = self.ground.refused(4, "HTTP 403")
        shown = result.out + result.err
        shown += "".join(str(self.ground.run(*verb)) for verb in (["config"], ["config", "--json"], ["doctor", "--json"]))
        written = b"".join(p.read_bytes() for p in self.ground.store.rglob("*") if p.is_file())
        for secret in ("very-secret", "very-token"):
            self.assertNotIn(secret, shown)
            self.assertNotIn(secret.encode(), written)


if __name__ == "__main__":
    main()
