#!/usr/bin/python3
"""External programs as fetchers, described by data: the real programs against real servers."""
import json
import os
import pathlib
import signal
import subprocess
import threading
import time
import unittest

from support import servers
from support.certificate import Certificate
from support.origin import Nginx, find
from support import ssh_origin
from support.ground import Ground, checksums, main, seeded_bytes
from support.spoken import Spoken

DATA = seeded_bytes(5_000_001, 4)  # two chunks
NAME = "dir with space/f,'\"$(touch X)`touch X`-ü.bin"
QUOTED = "dir%20with%20space/f%2C%27%22%24(touch%20X)%60touch%20X%60-%C3%BC.bin"


class CommandCase(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        self.ground.directory.chmod(0o755)
        self.files = self.ground.directory / "files"
        for name in ("f.bin", "-e", NAME):
            (self.files / name).parent.mkdir(parents=True, exist_ok=True)
            (self.files / name).write_bytes(DATA)
        self.ground.config["stall_timeout_s"] = 10
        self.extra = {}
        plain = self.ground.environment
        self.ground.environment = lambda: {**plain(), **self.extra}

    def say(self, url, **keys):
        keys = {"size": len(DATA), "checksum": checksums(DATA)} | keys
        self.ground.recipe("bad", self.ground.fragment(url, **keys))

    def describe(self, name, **keys):
        """A description of the user's own."""
        place = self.ground.directory / ".local/share/sabath/fetchers"
        place.mkdir(parents=True, exist_ok=True)
        rule = {"schema": 1, "name": name, "failures": [{"kind": "network"}]} | keys
        (place / f"{name}.json").write_text(json.dumps(rule))

    def used(self, scheme):
        listed = json.loads(self.ground.run("fetchers", "--json").out)["schemes"]
        (one,) = [s for s in listed if s["name"] == scheme and s["used"]]
        return one

    def both_names(self, base, names=("f.bin", QUOTED, "-e")):
        for path in names:
            with self.subTest(path=path):
                self.say(f"{base}/{path}")
                result = self.ground.succeeds("bad", DATA)
                (source,) = result.sources().values()
                self.assertGreaterEqual(source["bytes"], len(DATA), result)
                self.forget()
        self.assertFalse(list(self.ground.directory.rglob("X")), "a shell was at work")

    def forget(self):
        for path in sorted(self.ground.store.rglob("*"), reverse=True):
            path.chmod(0o755) if path.is_dir() and not path.is_symlink() else None
        subprocess.run(["rm", "-rf", self.ground.store], check=True)


def needs(*programs):
    missing = [p for p in programs if not find(p)]
    return unittest.skipIf(missing, f"{', '.join(missing)} not installed")


class Web(CommandCase):
    def prefer(self, name, scheme="http", **options):
        server = Nginx(self.ground.directory / f"nginx-{name}", self.files, **options)
        self.addCleanup(server.stop)
        self.ground.config["prefer"] = {scheme: name}
        self.assertEqual(self.used(scheme)["by"], name)
        return f"{scheme}://127.0.0.1:{server.port}"

    def through(self, name):
        base = self.prefer(name, extra="location /login { return 401; } location /gone { return 404; }")
        self.both_names(base)
        self.say(base + "/gone")
        self.ground.refused(6, "404")
        self.say(base + "/login")
        self.ground.refused(4, hint="log in")
        self.say(base + "/f.bin?signature=secret")
        result = self.ground.refused(6, "its URL has a query")
        self.assertNotIn("secret", result.err + result.out)
        self.say("http://127.0.0.1:1/f.bin")
        self.ground.refused(6, "http://127.0.0.1:1/f.bin")
        log = (self.ground.directory / f"nginx-{name}/access.log").read_text()
        self.assertNotIn('"sabath/', log, "SABATH itself asked")

    @needs("curl", "nginx")
    def test_curl(self):
        self.through("curl")

    @needs("curl")
    def test_curl_takes_200_and_206_only(self):
        """As SABATH itself does: the body of another answer is not the file."""
        status = {}
        server = Spoken({"*": lambda _: (status["is"], {"Location": "/login"}, b"" if status["is"] in (204, 304) else b"not the file\n")})
        self.addCleanup(server.stop)
        self.ground.config["prefer"] = {"http": "curl"}
        for code in (202, 203, 204, 300, 302, 304):
            status["is"] = code
            self.say(f"{server.url()}f-{code}", checksum={})
            self.ground.refused(7, f"the answer was HTTP {code}")

    @needs("wget", "nginx")
    def test_wget(self):
        self.through("wget")

    @needs("curl", "nginx")
    def test_tls(self):
        certificate = Certificate(self.ground.directory, "127.0.0.1", "localhost")
        base = self.prefer("curl", "https", certificate=certificate)
        self.say(base + "/f.bin")
        self.ground.refused(6, "certificate")
        self.ground.config["ca_file"] = str(certificate.file)
        self.ground.succeeds("bad", DATA)

    @needs("curl", "nginx")
    def test_interrupted_and_taken_up(self):
        base = self.prefer("curl", extra="limit_rate 2m;")
        self.say(base + "/f.bin", checksum={})
        running = subprocess.Popen([os.environ["SABATH_BINARY"], "fetch", "bad"], env=self.ground.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not self.children(running.pid) and time.monotonic() < deadline:
            time.sleep(0.005)
        (child,) = self.children(running.pid)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(timeout=300), 130)
        self.assertFalse(pathlib.Path(f"/proc/{child}").exists(), "the program outlived its user")
        self.ground.succeeds("bad", DATA)

    @staticmethod
    def children(pid):
        try:
            tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
            return [int(c) for task in tasks for c in (task / "children").read_text().split()]
        except OSError:
            return []


class Unresolvable(CommandCase):
    """A host that has no address gets none by being asked again."""

    def test_once(self):
        for scheme, name, program in (("https", "curl", "curl"), ("https", "wget", "wget"), ("rsync", "rsync", "rsync"),
                                      ("sftp", "scp", "scp"), ("sftp", "rclone-sftp", "rclone")):
            if not find(program):
                print(f"SKIP: {program} is not installed")
                continue
            with self.subTest(by=name):
                self.ground.config["prefer"] = {scheme: name}
                self.say(f"{scheme}://nowhere.invalid/data/f.bin", size=1000)
                (source,) = self.ground.refused(6, "nowhere.invalid").sources().values()
                self.assertEqual(source["requests"], 0 if name == "curl" else 1)  # which is told addresses: it was not started


class Files(CommandCase):
    @needs("rsync")
    def test_rsync(self):
        server = servers.rsyncd(self.ground.directory / "rsyncd", self.files)
        self.addCleanup(server.stop)
        self.assertEqual(self.used("rsync")["by"], "rsync")
        base = f"rsync://127.0.0.1:{server.port}"
        self.both_names(base + "/data", ("f.bin", QUOTED))  # its daemon takes "-e" for an option of its own
        self.say(base + "/data/absent")
        self.ground.refused(6, "No such file", hint="check the path")
        self.say(base + "/nothing/f.bin")
        self.ground.refused(6, "Unknown module")
        self.say(base + "/private/f.bin")
        self.ground.refused(4, "auth failed")
        self.extra = {"RSYNC_PASSWORD": "secret", "USER": "tester", "LOGNAME": "tester"}
        self.ground.succeeds("bad", DATA)

    def test_globus_cli(self):
        """The description is tried with an imitation: the program was not at hand."""
        inbox, programs = self.ground.directory / "inbox", self.ground.directory / "programs"
        inbox.mkdir()
        programs.mkdir()
        (programs / "globus").write_text(f"""#!/bin/sh -e
case "$1 $2" in
  "transfer --format") shift 6; cp -- "${{1#*:}}" "{inbox}/${{2##*/}}"; echo 1234;;
  "task wait") test -e {inbox}/again || {{ touch {inbox}/again; exit 1; }};;
  "task show") test -e {inbox}/again.2 && echo SUCCEEDED || {{ touch {inbox}/again.2; echo ACTIVE; }};;
esac
""")
        (programs / "globus").chmod(0o755)
        self.ground.config["prefer"] = {"globus": "globus-cli"}
        self.extra = {"PATH": f"{programs}:{os.environ['PATH']}", "SABATH_GLOBUS_DESTINATION": "0b226e2c:/~",
                      "SABATH_GLOBUS_DIRECTORY": str(inbox)}
        self.both_names(f"globus://0b226e2c-4de0-11ea-971a-021304b0cca7{self.files}", ("f.bin", QUOTED))
        self.say(f"globus://0b226e2c-4de0-11ea-971a-021304b0cca7{self.files}/absent")
        self.ground.refused(6, "No such file")

    @unittest.skipIf(ssh_origin.unavailable_because(), ssh_origin.unavailable_because())
    def test_scp(self):
        server = ssh_origin.Sshd(self.ground.directory / "ssh")
        self.addCleanup(server.stop)
        self.ground.config |= {"ssh_config": str(server.config), "prefer": {"sftp": "scp"}}
        self.both_names(server.url(self.files))
        self.say(server.url(self.files / "absent"))
        self.ground.refused(6, "No such file")
        known = server.keys / "known_hosts"
        known.write_text("")
        self.say(server.url(self.files / "f.bin"))
        self.ground.refused(4, "host key", hint="accept the host's key once")

    @unittest.skipIf(servers.swift_unavailable_because(), servers.swift_unavailable_because())
    def test_s3(self):
        server = servers.swift(self.ground.directory / "swift", "bucket", [self.files / "f.bin"])
        self.addCleanup(server.stop)
        self.ground.config["s3_endpoint"] = server.endpoint
        for name, program in (("rclone-s3", "rclone"), ("aws-cli", "aws")):
            if not find(program):
                print(f"SKIP: {program} is not installed")
                continue
            with self.subTest(by=name):
                self.extra = {**server.keys, "PATH": "/usr/bin:/bin"}
                self.ground.config["prefer"] = {"s3": name}
                self.say("s3://bucket/f.bin")
                self.ground.succeeds("bad", DATA)
                self.say("s3://bucket/absent", checksum={})
                self.ground.refused(6, "s3://bucket/absent")
                self.extra = {**server.keys, "AWS_SECRET_ACCESS_KEY": "wrong", "PATH": "/usr/bin:/bin"}
                self.say("s3://bucket/f.bin", checksum={})
                self.ground.refused(4, "s3://bucket/f.bin", command=("fetch", "--json", "--refresh", "bad"))
                self.forget()


class Descriptions(CommandCase):
    def test_one_of_the_user(self):
        """A scheme of one's own: a program that cats a file."""
        self.describe("catter", schemes=["shelf"], read={"argv": ["cat", "--", "{path}"], "output": "stdout"})
        self.assertEqual(self.used("shelf"), {"name": "shelf", "built": True, "ranges": False, "resolver": False,
                                              "command": True, "by": "catter", "used": True})
        self.both_names(f"shelf://{self.files}".replace("shelf:///", "shelf://x/"))

    def test_a_clean_environment(self):
        self.describe("teller", schemes=["tell"], read={"argv": ["env"], "output": "stdout"}, environment={"MINE": "1"},
                      **{"pass": ["WANTED"]})
        self.extra = {"WANTED": "yes", "AWS_SECRET_ACCESS_KEY": "hidden", "SABATH_TOKEN": "https://h hidden",
                      "LD_PRELOAD": "", "OTHER": "hidden"}
        self.ground.recipe("bad", self.ground.fragment("tell://x/y"))
        result = self.ground.succeeds("bad")
        text = (pathlib.Path(result.record["assets"][0]["path"]) / "f.bin").read_text()
        proxies = {"http_proxy", *(name for one in ("https", "ftp", "ftps", "all", "no")
                                   for name in (f"{one}_proxy", f"{one}_proxy".upper()))}
        names = sorted(line.partition("=")[0] for line in text.splitlines())
        self.assertLessEqual(set(names), {"HOME", "LC_ALL", "MINE", "PATH", "WANTED", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK",
                                          *proxies})
        self.assertNotIn("hidden", text)

    def test_failures_by_exit_and_words(self):
        script = "echo -e '\\033[31mno \\x07 way' >&2; exit 9"
        self.describe("teller", schemes=["tell"], read={"argv": ["bash", "-c", script], "output": "stdout"},
                      failures=[{"exit": [8], "kind": "unavailable"}, {"exit": [9], "stderr": "no . way", "kind": "access",
                                                                       "hint": "ask for it"}])
        self.say("tell://x/y")
        self.ground.refused(4, "exit 9", hint="ask for it")

    def test_wrong_bytes_are_not_adopted(self):
        self.describe("liar", schemes=["lie"], read={"argv": ["head", "-c", str(len(DATA)), "/dev/zero"], "output": "stdout"})
        self.say("lie://x/y")
        self.ground.refused(7)
        self.describe("liar", schemes=["lie"], read={"argv": ["cat", "/dev/zero"], "output": "stdout"})
        self.ground.refused(7)  # endless

    def test_one_that_hangs(self):
        self.ground.config["stall_timeout_s"] = 1
        self.describe("sleeper", schemes=["sleep"], read={"argv": ["bash", "-c", "sleep 600 & sleep 600"], "output": "stdout"})
        self.say("sleep://x/y")
        seen, stop = [], threading.Event()

        def watch():
            while not stop.wait(0.02):
                seen.extend(line for line in self.processes() if line.startswith("sleep\x00600"))

        watcher = threading.Thread(target=watch)
        watcher.start()
        begin = time.monotonic()
        try:
            self.ground.refused(6, "no progress for 1 s")
        finally:
            stop.set()
            watcher.join()
        self.assertLess(time.monotonic() - begin, 60)
        self.assertTrue(seen, "its children were never seen: that none is left would say nothing")
        self.assertNotIn("sleep\x00600", "".join(self.processes()), "it left a child")

    def test_one_that_never_ends(self):
        """It makes progress, so that only its deadline ends it."""
        self.ground.config["command_deadline_s"] = 2
        trickle = "while printf x; do sleep 0.1; done"
        self.describe("trickle", schemes=["slow"], read={"argv": ["bash", "-c", trickle], "output": "stdout"})
        self.say("slow://x/y")
        begin = time.monotonic()
        self.ground.refused(6, "not done after 2 s")
        self.assertLess(time.monotonic() - begin, 60)

    def processes(self):
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.fsencode(f"HOME={self.ground.directory}") in (entry / "environ").read_bytes():
                    yield (entry / "cmdline").read_text()
            except OSError:
                pass

    def test_nothing_is_left_in_scratch(self):
        self.describe("writer", schemes=["write"], read={"argv": ["bash", "-c", 'cp "$1" "$2"; exit 3', "x",
                                                                  str(self.files / "f.bin"), "{file}"], "output": "file"})
        self.say("write://x/y")
        self.ground.refused(6, "exit 3")
        self.assertFalse(list((self.ground.store / "tmp").iterdir()))

    def test_a_link_in_place_of_a_file(self):
        self.describe("linker", schemes=["link"], read={"argv": ["ln", "-s", str(self.files / "f.bin"), "{file}"],
                                                        "output": "file"})
        self.say("link://x/y")
        self.ground.refused(6)

    def test_not_installed(self):
        self.describe("absent", schemes=["none"], read={"argv": ["no-such-program", "{url}"], "output": "stdout"})
        self.say("none://x/y")
        self.ground.refused(6, "cannot start `no-such-program`", hint="install")

    def test_descriptions_that_are_refused(self):
        good = {"argv": ["cat", "--", "{path}"], "output": "stdout"}
        for words, keys in (("put \"--\" before it", {"read": {"argv": ["cat", "{path}"], "output": "stdout"}}),
                            ("means nothing", {"read": {"argv": ["cat", "{passwd}"], "output": "stdout"}}),
                            ("name of a program", {"read": {"argv": ["{host}"], "output": "stdout"}}),
                            ("do not agree", {"read": {"argv": ["cat", "{file}"], "output": "stdout"}}),
                            ("no pattern", {"read": good, "failures": [{"stderr": "(", "kind": "access"}]}),
                            ("kind", {"read": good, "failures": [{"kind": "happy"}]}),
                            ("unknown", {"read": good, "shell": True}),
                            ("{offset}", {"read": good, "range": good}),
                            ("schemes", {"read": good, "schemes": []})):
            with self.subTest(words=words):
                self.describe("wrong", **({"schemes": ["w"]} | keys))
                result = self.ground.run("fetchers")
                self.assertEqual(result.exit, 12, result)
                self.assertIn("wrong.json", result.err)
                self.assertIn(words, result.err)
        self.describe("wrong", schemes=["w"], read=good)
        file = self.ground.directory / ".local/share/sabath/fetchers/wrong.json"
        file.chmod(0o666)
        result = self.ground.run("fetchers")
        self.assertEqual(result.exit, 4, result)
        self.assertIn("others may write it", result.err)

    def test_paths_that_no_program_sees(self):
        self.describe("catter", schemes=["shelf"], read={"argv": ["cat", "--", "{path}"], "output": "stdout"})
        for path in ("a%0Ab", "a%00b", "a%1b%5b31m", "a%c2%9bb"):
            self.say("shelf://x/" + path)
            self.ground.refused(12, "control characters")
        self.say("shelf://-oProxyCommand=x/f")
        self.ground.refused(12)


if __name__ == "__main__":
    main()
