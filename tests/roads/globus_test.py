#!/usr/bin/python3
"""globus://: delivered by the Transfer API, read from a collection's HTTPS server, listed. The service is imitated."""
import os
import shutil
import signal
import subprocess
import time
import unittest

from support.certificate import Certificate
from support.origin import Nginx, find
from globus_service import GlobusService
from support.ground import Ground, checksums, main, seeded_bytes

DATA = seeded_bytes(9_000_001, 4)  # three chunks
TOKEN, WEB_TOKEN = "AgTransferToken123", "AgCollectionToken456"
NAME, QUOTED = "dir with space/ü.bin", "dir%20with%20space/%C3%BC.bin"


class GlobusCase(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        self.ground.directory.chmod(0o755)
        self.files = self.ground.directory / "files"
        for name in ("f.bin", NAME, "small", "empty"):
            (self.files / name).parent.mkdir(parents=True, exist_ok=True)
            (self.files / name).write_bytes({"small": b"x", "empty": b""}.get(name, DATA))
        self.inbox = self.ground.directory / "inbox"
        self.inbox.mkdir()
        self.service = GlobusService(TOKEN)
        self.addCleanup(self.service.stop)
        self.theirs, self.ours = self.service.add(self.files), self.service.add(self.inbox)
        self.tokens = self.ground.config["tokens"] = []
        self.allow(self.service.origin, TOKEN)
        self.ground.config |= {"stall_timeout_s": 10,
                               "globus": {"api": self.service.origin + "/v0.10", "collection": self.ours, "path": "/~/",
                                          "directory": str(self.inbox)}}

    def allow(self, origin, token):
        file = self.ground.directory / f"token-{len(self.tokens)}"
        file.write_text(token)
        file.chmod(0o600)
        self.tokens.append({"origin": origin, "file": str(file)})

    def say(self, path, **keys):
        keys = {"size": len(DATA), "checksum": checksums(DATA)} | keys
        self.ground.recipe("bad", self.ground.fragment(f"globus://{self.theirs}/{path}", **keys))

    def forget(self):
        subprocess.run(["chmod", "-R", "u+w", self.ground.store], check=True)
        shutil.rmtree(self.ground.store)

    def clean_inbox(self):
        self.assertEqual(list(self.inbox.iterdir()), [])


class Transfer(GlobusCase):
    def test_delivered(self):
        for path, data in ((QUOTED, DATA), ("small", b"x"), ("empty", b"")):
            with self.subTest(path):
                self.say(path, size=len(data), checksum=checksums(data))
                result = self.ground.succeeds("bad", data)
                self.assertNotIn(TOKEN, result.out + result.err)
                self.clean_inbox()
        self.assertEqual(len(self.service.tasks), 3)

    def test_nothing_said_of_it(self):
        self.say("f.bin", size=None, checksum={})
        self.ground.succeeds("bad", DATA)
        self.assertEqual(len(self.service.tasks), 1)
        self.clean_inbox()

    def test_wrong_bytes_are_not_adopted(self):
        self.say("f.bin", checksum=checksums(b"other"))
        self.ground.refused(7)
        self.clean_inbox()

    def test_busy(self):
        self.service.busy = 5
        self.say("f.bin")
        self.ground.succeeds("bad", DATA)
        self.assertEqual(len(self.service.tasks), 1)

    def test_stopped_and_taken_up(self):
        for number, how in enumerate((signal.SIGINT, signal.SIGKILL), 1):
            with self.subTest(how):
                self.say(("f.bin", QUOTED)[number - 1])
                self.service.held.set()
                before = len(self.service.calls("GET /v0.10/task/"))
                running = self.start()
                self.wait_until(lambda: len(self.service.calls("GET /v0.10/task/")) > before + 2)
                running.send_signal(how)
                self.assertEqual(running.wait(timeout=300), 130 if how == signal.SIGINT else -how)
                self.service.held.clear()
                self.ground.succeeds("bad", DATA)
                self.assertEqual(len(self.service.tasks), number)
                self.clean_inbox()
                self.forget()

    def test_two_at_once(self):
        """Two stores, one delivery: the second process finds the first one's ticket."""
        self.say("f.bin")
        self.service.held.set()
        running = [self.start("--store", self.ground.directory / f"store-{i}") for i in (1, 2)]
        self.wait_until(lambda: len(self.service.calls("POST /v0.10/transfer")) == 2)
        self.service.held.clear()
        self.assertEqual([process.wait(timeout=300) for process in running], [0, 0])
        self.assertLessEqual(len(self.service.tasks), 2)  # the slower one may come when all is taken away
        self.clean_inbox()

    def test_another_version(self):
        """What was delivered of the old one is not taken for the new one."""
        self.say("f.bin", size=None, checksum={})
        self.service.held.set()
        running = self.start()
        self.wait_until(lambda: self.service.calls("GET /v0.10/task/"))
        running.kill()
        running.wait()
        self.service.held.clear()
        new = DATA[::-1]
        (self.files / "f.bin").write_bytes(new)
        self.ground.succeeds("bad", new)
        self.assertEqual(len(self.service.tasks), 2)

    def start(self, *arguments):
        return subprocess.Popen([os.environ["SABATH_BINARY"], "fetch", "bad", *map(str, arguments)],
                                env=self.ground.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_until(self, holds):
        deadline = time.monotonic() + 30
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)


class Refusals(GlobusCase):
    def test_consent(self):
        for place in (self.theirs, self.ours):
            self.service.collections[place].consent = False
            self.say("f.bin")
            self.ground.refused(4, "ConsentRequired", hint="globus session consent 'urn:globus:auth:scope:"
                                f"transfer.api.globus.org:all[*https://auth.globus.org/scopes/{place}/data_access]'")
            self.service.collections[place].consent = True
        self.ground.succeeds("bad", DATA)

    def test_tokens(self):
        self.say("f.bin")
        self.tokens.clear()
        self.ground.refused(4, "there is no token for", hint="tokens")
        self.allow(self.service.origin, "AgWrong")
        result = self.ground.refused(4, "AuthenticationFailed", hint="renew")
        self.assertNotIn("AgWrong", result.out + result.err)

    def test_permission(self):
        self.service.collections[self.theirs].readable = False
        self.say("f.bin")
        self.ground.refused(4, "PermissionDenied", hint="ask the collection's owner")

    def test_what_is_not_there(self):
        for path in ("absent", "dir%20with%20space"):
            self.say(path)
            self.ground.refused(6)
        self.theirs = "00000000-0000-0000-0000-000000000000"
        self.say("f.bin")
        self.ground.refused(6, "EndpointNotFound")
        for place in ("x", "0" * 36):
            self.theirs = place
            self.say("f.bin")
            self.ground.refused(6, "names no collection")

    def test_tasks_that_fail(self):
        for fate, code, words in (("FAILED", 6, "ENDPOINT_ERROR"), ("INACTIVE", 4, "credentials have expired"),
                                  ("PERMISSION_DENIED", 4, "permission denied")):
            with self.subTest(fate):
                self.service.fate = fate
                self.say("f.bin")
                self.ground.refused(code, words, hint="https://app.globus.org/activity/")
                self.service.fate = "SUCCEEDED"
                for task in self.service.tasks.values():  # its user has logged in
                    task.status = "ACTIVE" if task.status == "INACTIVE" else task.status
                self.ground.succeeds("bad", DATA)
                self.clean_inbox()
                self.forget()
        # One task; the request may come again, where its answer was lost.
        self.assertEqual(len(set(self.service.calls("/cancel"))), 1, self.service.requests)

    def test_not_where_it_should_be(self):
        other = self.ground.directory / "other"
        other.mkdir()
        self.ground.config["globus"]["directory"] = str(other)
        self.say("f.bin")
        self.ground.refused(6, "is not there", hint="`globus` in the configuration")

    def test_configuration(self):
        for value in ({"collection": self.ours}, {"by": "magic"}, {"by": "transfer"}, {"unknown": "x"}):
            self.ground.config["globus"] = value
            self.assertEqual(self.ground.run("fetchers").exit, 12, value)


@unittest.skipUnless(find("nginx"), "nginx is not installed")
class Web(GlobusCase):
    def setUp(self):
        super().setUp()
        self.certificate = Certificate(self.ground.directory, "127.0.0.1", "localhost")
        self.ground.config["ca_file"] = str(self.certificate.file)

    def serve(self, refusal):
        allowed = f'if ($http_authorization != "Bearer {WEB_TOKEN}") {{ {refusal} }}'
        self.nginx = Nginx(self.ground.directory / "nginx", self.files, allowed, certificate=self.certificate)
        self.addCleanup(self.nginx.stop)
        self.origin = f"https://127.0.0.1:{self.nginx.port}"
        self.service.collections[self.theirs].https_server = self.origin

    def test_by_ranges(self):
        self.serve("return 401;")
        self.say(QUOTED)
        self.ground.refused(4, "401", hint=f"https://auth.globus.org/scopes/{self.theirs}/https")
        self.allow(self.origin, WEB_TOKEN)
        self.ground.succeeds("bad", DATA, "--lanes", "3")
        log = (self.ground.directory / "nginx/access.log").read_text()
        self.assertGreater(log.count("\t206\t"), 1, log)
        self.assertEqual(self.service.tasks, {})

    def test_transfer_is_preferred(self):
        self.serve("return 401;")
        self.ground.config["globus"]["by"] = "transfer"
        self.say("f.bin")
        self.ground.succeeds("bad", DATA)
        self.assertEqual(len(self.service.tasks), 1)

    def test_a_login_page(self):
        """Who has no token is led elsewhere, where a page says 200. No token goes there."""
        page = "default_type text/html; if ($http_authorization) { return 418; } location / { return 200 '<html>log in</html>'; }"
        elsewhere = Nginx(self.ground.directory / "login", self.files, page, certificate=self.certificate)
        self.addCleanup(elsewhere.stop)
        self.serve(f"return 302 https://127.0.0.1:{elsewhere.port}/login;")
        self.allow(self.origin, "AgExpired")
        self.say("f.bin")
        self.ground.refused(4, "wants a login", hint="tokens")
        log = (self.ground.directory / "login/access.log").read_text()
        self.assertIn("/login", log)
        self.assertNotIn("\t418\t", log, "the token went along")


class Lists(GlobusCase):
    def list(self, path, **keys):
        self.ground.recipe("bad", self.ground.fragment(f"globus://{self.theirs}/{path}", kind="file_list", **keys))

    def test_directories(self):
        self.service.page_entries = 2
        self.list("")
        result = self.ground.succeeds("bad")
        place = result.record["assets"][0]["path"]
        found = {os.path.relpath(os.path.join(top, name), place) for top, _, names in os.walk(place) for name in names}
        self.assertEqual(found, {"f.bin", NAME, "small", "empty"})
        self.clean_inbox()
        self.list("**/*.bin")
        self.assertEqual(self.ground.succeeds("bad").record["assets"][0]["files"], 2)

    def test_hostile_names(self):
        plain = self.service.facts
        for name in ("../x", "/etc/passwd", "a/b", "a\u001b[31m", "..", ""):
            with self.subTest(name):
                self.service.facts = lambda path, name=name: plain(path) | {"name": name}
                self.list("")
                self.ground.refused(12)


if __name__ == "__main__":
    main()
