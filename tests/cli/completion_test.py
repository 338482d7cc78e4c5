#!/usr/bin/python3
"""Completion in the real bash, zsh and fish, typed at a terminal; and what the program offers them, whole."""

import json
import pathlib
import re
import shutil
import subprocess
import time

from support import program
from support.case import Case, main
from support.content import fragment
from support.typed import Shell

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "etc/completions"
MANY = 10_000

# (what is typed, the last word as it may become; two of them are shown, one is written out)
TYPED = [
    ("fetc", {"fetch", "fetchers"}),
    ("--offline manifest d", {"diff"}),
    ("list --k", {"--kind"}),
    ("list --kind mo", {"model"}),
    ("list --kind=mo", {"--kind=model"}),
    ("fetch zeb", {"zebra_one", "zebra_two"}),
    ("--store somewhere -q info zebra_t", {"zebra_two"}),
    ("--root original info ori", {"origin_one"}),
    ("fetch ./rec", {"./recipes.json"}),
    ("report --output fig", {"figure.svg"}),
    ("--config set", {"settings.json"}),
    ("run --set lr=1 -- fig", {"figure.svg"}),
    ("run gir", {"giraffe"}),
]


class Completion(Case):
    def setUp(self):
        super().setUp()
        for name in ("zebra_one", "zebra_two"):
            self.sabath.add(name, [fragment("http://a.example/f")])
        self.sabath.add("giraffe", kind="model", run={})
        self.here = self.home / "here"
        original = self.here / "original/var/sabath/assets/sciml_bench/datasets"
        original.mkdir(parents=True)
        shutil.copy(self.sabath.recipes / "datasets/zebra_one.json", original / "origin_one.json")
        for name in ("recipes.json", "figure.svg", "settings.json"):
            (self.here / name).write_text("{}")
        path = f"{pathlib.Path(program.BINARY).parent}:/usr/bin:/bin"
        self.environment = {**self.sabath.environment, "PATH": path, "TERM": "xterm", "LC_ALL": "C.UTF-8"}

    def shell(self, *arguments):
        shell = shutil.which(arguments[0])
        if shell is None:
            self.skipTest(f"there is no {arguments[0]}: scripts/setup full")
        started = Shell([shell, *arguments[1:]], self.environment, self.here)
        self.addCleanup(started.stop)
        return started

    def expect_typed(self, shell):
        for typed, expected in TYPED:
            line = f"sabath {typed}"
            if len(expected) > 1:
                self.assertLessEqual(expected, set(shell.offered(line)), line)
            else:
                self.assertEqual(shell.completed(line), " ".join([*line.split()[:-1], *expected]))

    def test_bash(self):
        shell = self.shell("bash", "--norc", "--noprofile", "-i")
        shell.run(f"PS1='$ '; bind 'set enable-bracketed-paste off'; source {SCRIPTS}/bash/sabath")
        self.expect_typed(shell)

    def test_zsh(self):
        shell = self.shell("zsh", "-f", "-i")
        shell.run(f"PS1='%% '; unsetopt auto_menu; unset zle_bracketed_paste; fpath=({SCRIPTS}/zsh $fpath); autoload -U compinit; compinit -u -D")
        self.expect_typed(shell)

    def test_fish(self):
        fish = shutil.which("fish")
        if fish is None:
            self.skipTest("there is no fish: scripts/setup full")
        for typed, expected in TYPED:
            result = subprocess.run(
                [fish, "--no-config", "-c", f"source {SCRIPTS}/fish/sabath.fish; complete -C 'sabath {typed}'"],
                env=self.environment, cwd=self.here, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            self.assertEqual({line.split("\t")[0] for line in result.stdout.splitlines()}, expected, typed)

    def offer(self, *words):
        kind, *lines = self.expect(self.sabath.run("help", "--complete", "--", *words)).lines
        return kind, [line.split("\t")[0] for line in lines]

    def test_every_verb_and_option(self):
        verbs = re.findall(r"^  ([a-z][a-z0-9]*(?: [a-z]+)?)  ", self.expect(self.sabath.run("help", "all")).out, re.M)
        self.assertGreater(len(verbs), 30)
        self.assertEqual(set(self.offer("")[1]), {verb.split()[0] for verb in verbs})
        for verb in verbs:
            options = re.findall(r"^  (-\S+?),? ", self.expect(self.sabath.run("help", *verb.split())).out.split("Options\n")[-1], re.M)
            self.assertLessEqual(set(options), {*self.offer("-q", *verb.split(), "-")[1], "--"}, verb)

    def test_values(self):
        self.assertEqual(self.offer("list", "--kind", ""), ("words", ["dataset", "model", "workflow", "library", "executable", "object"]))
        self.assertEqual(self.offer("list", "--kind", "=", "d"), ("words", ["dataset"]))  # as bash says it
        self.assertEqual(self.offer("fetch", "--lanes", ""), ("words", []))
        self.assertEqual(self.offer("serve", "--tls-cert", "x"), ("files", []))
        self.assertEqual(self.offer("--store", ""), ("directories", []))
        self.assertEqual(self.offer("help", "unk"), ("words", ["unkeep"]))
        self.assertEqual(self.offer("help", "sto"), ("words", ["store"]))
        self.assertEqual(self.offer("nonsense", ""), ("words", []))
        self.assertEqual(self.offer("-d"), ("words", []))
        self.assertEqual(self.offer("--sample", "3", "fetch", "zebra_t")[1], ["zebra_two"])
        self.assertEqual(self.offer(), self.offer(""))
        models = self.offer("run", "")[1]
        self.assertIn("giraffe", models)
        self.assertNotIn("zebra_one", models)
        self.assertEqual(self.offer("fetch", "-d", "gir")[1], [])

    def test_ten_thousand_recipes(self):
        text = json.dumps({"schema": 1, "kind": "dataset", "name": "x", "fragments": []})
        for number in range(MANY):
            (self.sabath.recipes / f"datasets/many_{number:05}.json").write_text(text)
        self.offer("fetch", "many_")
        begin = time.monotonic()
        names = self.offer("fetch", "many_0123")[1]
        print(f"completion among {MANY} recipes: {1000 * (time.monotonic() - begin):.0f} ms")
        self.assertEqual(names, [f"many_0123{digit}" for digit in range(10)])


if __name__ == "__main__":
    main()
