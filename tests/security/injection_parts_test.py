#!/usr/bin/python3
"""Commands in the parts of URLs: hosts, paths, buckets and users, as they stand and percent-encoded; also random ones.

Paths reach a real sshd and a real rsync daemon of this machine, so that a shell over there would be seen as well. What
a command would do is `mark N`, a program in PATH. SABATH_SEED repeats the random texts.
"""
import collections
import concurrent.futures
import itertools
import json
import os
import random
import subprocess
import sys
import time
import urllib.parse

from support import servers
from support import ssh_origin
from support.origin import find
from support.spoken import Spoken
from support.ground import main
from injection_test import InjectionCase, dataset, model, put

# Each text at each place, or each place with a third of the texts, another third at the next one.
EVERY = 1 if os.environ.get("SABATH_INJECTION_STRIDE") == "1" else 3
SEED = int(os.environ.get("SABATH_SEED", random.SystemRandom().randrange(1 << 32)))
HOSTILE = (
    "-oProxyCommand=mark${IFS}{X}", "-Fmark", "-v", "-emark {X}", "--rsh=mark {X}", "--upload-pack=mark${IFS}{X}",
    "$(mark${IFS}{X})", "`mark${IFS}{X}`", ";mark${IFS}{X};", "|mark${IFS}{X}", "&mark${IFS}{X}&", "a\nmark {X}\n",
    "a%0amark${IFS}{X}%0a", "';mark${IFS}{X};'", '";mark${IFS}{X};"', "%24(mark%20{X})", "ext::mark {X}",
    "h -oProxyCommand=mark${IFS}{X}", "@$(mark${IFS}{X})", "a:b@;mark${IFS}{X};", "[;mark${IFS}{X};]")
PIECES = (
    "-", "--", "-o", "-e", "ProxyCommand=", "rsh=", "upload-pack=", "$(", ")", "`", ";", "|", "&", "\n", "%0a", "%00",
    "%2f", "'", '"', "%27", "%22", "%60", "%24(", "\\", "/", "..", "@", ":", "[", "]", "{", "}", "*", "?", "#", "~",
    " ", "ü", "h", "127.0.0.1", "mark${IFS}{X}", "mark {X}", "mark%20{X}")


def raw(text):
    return text


def encoded(text):
    return urllib.parse.quote(text, safe="{}")


class Parts(InjectionCase):
    def setUp(self):
        super().setUp()
        programs = self.ground.directory / "programs"
        programs.mkdir()
        (programs / "mark").write_text(f"""#!/bin/sh
mktemp {self.ground.directory}/X"$(printf %s "$1" | tr -dc a-z0-9)"-XXXXXX
""")
        (programs / "mark").chmod(0o755)
        self.path = f"{programs}:{os.environ['PATH']}"
        self.numbers = itertools.count()
        store = Spoken({})  # it holds nothing
        self.addCleanup(store.stop)
        self.config(s3_endpoint=store.url().rstrip("/"), s3_addressing="path")

    def config(self, **keys):
        self.ground.config |= keys
        ssh = self.ground.config.get("ssh_config", "none")
        self.environment = {**self.ground.environment(), "PATH": self.path, "GIT_SSH_COMMAND": f"ssh -F {ssh}"}

    def mark(self, canary):
        return canary.name.removeprefix("X")

    def verbs(self, kind):
        yield (("fetch", "victim", "--json"),) if kind == "dataset" else (("fetch", "-m", "victim", "--json"),)

    def serve(self):
        """What stands before a path: sshd, which hands its shell a PATH with `mark`, and an rsync daemon."""
        found = {"rsync": "rsync://h.invalid/m", "sftp": "sftp://h.invalid", "ssh": "ssh://h.invalid"}
        if not ssh_origin.unavailable_because():
            server = ssh_origin.Sshd(self.ground.directory / "ssh", f'SetEnv "PATH={self.path}"')
            self.addCleanup(server.stop)
            self.config(ssh_config=str(server.config))
            found["sftp"] = server.url("")
            found["ssh"] = server.url("").replace("sftp", "ssh")
        if find("rsync"):
            server = servers.rsyncd(self.ground.directory / "rsyncd", self.base)
            self.addCleanup(server.stop)
            found["rsync"] = f"rsync://127.0.0.1:{server.port}/data"
        return found

    def url_case(self, url):
        document = dataset(self.base)
        for known in ("size", "checksum"):  # with them it would be found in the store
            del document["fragments"][0][known]
        return "dataset", document, ("fragments", 0, "urls", 0), url, put

    def git_case(self, url):
        return "model", model(self.base), ("git", "origin"), url, put

    def nothing_is_run(self, cases, ends=(4, 6)):
        """Some end so: were all refused as they stand, no program would have been reached."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            codes = collections.deque()
            wrong = [w for w in pool.map(lambda case: self.one(next(self.numbers), *case, codes=codes), cases) if w]
        self.assertEqual(wrong, [])
        self.assertEqual(list(self.ground.directory.glob("X*")), [])
        self.assertTrue(set(ends) & set(codes), codes)
        self.assertLessEqual(set(codes), {4, 6, 12})
        print(len(cases), "cases, ended with", dict(collections.Counter(codes)))

    def everywhere(self, case, templates):
        texts = [quote(text) for text in HOSTILE for quote in (raw, encoded)]
        return [case(template.replace("{}", text)) for place, template in enumerate(templates)
                for number, text in enumerate(texts) if (number + place) % EVERY == 0]

    def start(self, command):
        subprocess.run(command, cwd=self.base, env=self.environment, capture_output=True, stdin=subprocess.DEVNULL,
                       timeout=300, check=False)

    def test_the_commands_would_work(self):
        rsync = ["rsync", "{}", "h.invalid:x", "y"]
        at = {"-o": ["ssh", "-F", "none", "{}", "h.invalid", "true"], "-e": rsync, "--rsh": rsync,
              "--upload": ["git", "ls-remote", "{}", f"file://{self.base}/repository"],
              "ext::": ["git", "-c", "protocol.ext.allow=always", "ls-remote", "{}"]}
        shell = {"'": "printf '{}'", '"': 'printf "{}"'}
        for number, text in enumerate(t for t in HOSTILE if "mark" in t and t[:2] not in ("-F", "h ")):
            text = urllib.parse.unquote(text).replace("{X}", f"c{number}c")
            by_shell = ["sh", "-c", shell.get(text[0], "printf {}")]
            words = next((w for key, w in at.items() if text.startswith(key)), by_shell)
            with self.subTest(text):
                if not find(words[0]):
                    self.skipTest(f"{words[0]} is not installed")
                command = [word.replace("{}", text) for word in words]
                self.start(command)
                self.assertTrue(list(self.ground.directory.glob(f"Xc{number}c*")), command)

    def test_a_command_that_is_run_is_seen(self):
        """By the look of the tests below: in a program that is no better than a shell, in ssh, and over there."""
        place = self.ground.directory / ".local/share/sabath/fetchers"
        place.mkdir(parents=True)
        weak = {"argv": ["sh", "-c", 'eval "cat $2"', "sh", "--", "{path}"], "output": "stdout"}
        rule = {"schema": 1, "name": "weak", "schemes": ["weak"], "read": weak, "failures": [{"kind": "unavailable"}]}
        (place / "weak.json").write_text(json.dumps(rule))
        self.assertIn("made", self.one("1", *self.url_case("weak://h/$(mark${IFS}{X})")))
        (self.ground.directory / "proxy").write_text("ProxyCommand mark 2%h\n")
        self.config(ssh_config=str(self.ground.directory / "proxy"))
        self.assertIn("made", self.one("2", *self.url_case("sftp://h.invalid/x")))
        self.assertIn("made", self.one("2h", *self.git_case("ssh://h.invalid/x")))
        if ssh_origin.unavailable_because():
            self.skipTest(ssh_origin.unavailable_because())
        port = self.serve()["ssh"].rpartition(":")[2]
        self.start(["ssh", "-F", self.ground.config["ssh_config"], "-p", port, "127.0.0.1", "mark 3"])
        self.assertTrue(list(self.ground.directory.glob("X3*")))

    def test_hosts_and_buckets(self):
        urls = ("rsync://{}/m/x", "stcp://{}/x", "s3://{}/k", "sftp://{}/x", "scp://{}/x", "sftp://h.invalid:{}/x",
                "globus://{}/x")
        self.nothing_is_run(self.everywhere(self.url_case, urls), ends=[12])

    def test_hosts_by_programs(self):
        self.config(prefer={"sftp": "scp", "s3": "rclone-s3", "http": "curl"})
        urls = ("sftp://{}/x", "s3://{}/k", "http://{}/x")
        self.nothing_is_run(self.everywhere(self.url_case, urls), ends=[12])

    def test_origins_of_git(self):
        urls = ("ssh://{}/r", "ssh://git@{}/r", "ssh://{}@h.invalid/r", "git://{}/r", "https://{}/r", "file://{}", "{}")
        self.nothing_is_run(self.everywhere(self.git_case, urls), ends=[12])

    def test_paths(self):
        at = self.serve()
        self.nothing_is_run(self.everywhere(self.url_case, (at["sftp"] + "/{}", at["rsync"] + "/{}", "s3://b/{}")))

    def test_paths_by_programs(self):
        at = self.serve()
        for place, (scheme, name, base) in enumerate((("sftp", "scp", at["sftp"]), ("s3", "rclone-s3", "s3://b"))):
            with self.subTest(name):
                if not find(name.partition("-")[0]):
                    self.skipTest(f"{name} is not installed")
                self.config(prefer={scheme: name})
                self.nothing_is_run([self.url_case(f"{base}/{encoded(text)}") for text in HOSTILE[place % EVERY::EVERY]])

    def test_paths_of_git(self):
        self.nothing_is_run(self.everywhere(self.git_case, [self.serve()["ssh"] + "/{}"]))

    def test_random_texts(self):
        print(f"seed {SEED}; SABATH_SEED repeats it")
        choose, at, begin = random.Random(SEED), self.serve(), time.monotonic()
        urls = ("sftp://{}/x", "rsync://{}/x", "s3://{}/k", "s3://b/{}", "scp://{}/x", at["sftp"] + "/{}",
                at["rsync"] + "/{}", "{}")
        git = ("ssh://{}/r", "ssh://{}@h.invalid/r", at["ssh"] + "/{}", "{}")
        cases = []
        for _ in range(300 // EVERY):
            text = "".join(choose.choice(PIECES) for _ in range(choose.randint(1, 6)))
            text = choose.choice((raw, encoded))(text + choose.choice(PIECES[-3:]) + choose.choice(PIECES))
            case, templates = choose.choice(((self.url_case, urls), (self.git_case, git)))
            cases.append(case(choose.choice(templates).replace("{}", text)))
        self.nothing_is_run(cases)
        print(f"{time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()
