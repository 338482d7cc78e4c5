#!/usr/bin/python3
"""Derived assets: a script makes a new asset of one that is here; asked again, it is there and nothing is done."""

import gzip
import hashlib
import json
import os
import pathlib
import pickle
import sys

from support.case import Case, main, place
from support.content import fragment, seeded

UPPER = """
import pathlib, sys
source, target, log = map(pathlib.Path, sys.argv[1:4])
with open(log, "a") as done:
    done.write(source.name + chr(10))
if source.read_bytes().startswith(b"poison"):
    print("I cannot eat this")
    sys.exit(3)
target.write_bytes(source.read_bytes().upper() + sys.argv[4].encode())
"""


class Derived(Case):
    """A dataset of text files and one of numbers, with a script beside its recipe."""

    def setUp(self):
        super().setUp()
        self.log = self.home / "log"
        self.tree = {f"train/{i}.txt": f"universe {i} ".encode() * (i + 1) for i in range(6)}
        self.tree["facts.csv"] = b"a,b\n1,2\n"
        self.script = self.sabath.recipes / "datasets/scripts/upper.py"
        place(self.script, UPPER.encode())
        self.environment = {"SABATH_PYTHON": sys.executable}
        self.add_words()

    def add_words(self, **more):
        for name, data in self.tree.items():
            place(self.home / "origin" / name, data)
        upper = {
            "id": "upper",
            "description": "Capital letters",
            "arguments": [
                {"name": "end", "help": "what is added"},
                {"name": "level", "type": "int", "default": 3, "choices": ["1", "2", "3"]},
                {"name": "rate", "type": "float", "default": 0.5},
                {"name": "loud", "type": "bool", "default": False},
            ],
            "argv": ["python3", "{source}/upper.py", "{input}", "{output}/{stem}.up", str(self.log), "{arg.end}"],
            "per": "file",
            "inputs": ["train/*.txt"],
            "outputs": ["**/*.up", "*.up"],
            "source": "scripts",
        }
        upper.update(more)
        fragments = [
            fragment(f"file://{self.home}/origin/{name}", data, name=name.replace("/", "-"), path=name)
            for name, data in self.tree.items()
        ]
        self.sabath.add("words", fragments, supporting=[upper], licence="MIT", citation=["cite me"])

    def apply(self, *arguments, code=0, **options):
        return self.expect(self.sabath.run("apply", "--json", *arguments, **self.environment, **options), code).record

    def done(self):
        """The files that the script was started on, in order."""
        return sorted(self.log.read_text().split()) if self.log.exists() else []

    def upper(self, end="!"):
        return {name.replace(".txt", ".up"): data.upper() + end.encode()
                for name, data in self.tree.items() if name.endswith(".txt")}  # fmt: skip


class Listing(Derived):
    def test_scripts_and_arguments(self):
        record = self.expect(self.sabath.run("apply", "--list", "words", "--json")).record
        ids = [script["id"] for script in record["scripts"]]
        self.assertEqual((ids[0], "gzip" in ids), ("upper", True))
        upper = record["scripts"][0]
        self.assertEqual((upper["built_in"], upper["per"], upper["inputs"]), (False, "file", ["train/*.txt"]))
        self.assertEqual(
            [(a["name"], a["type"], a["default"], a["required"], a["choices"]) for a in upper["arguments"]],
            [("end", "text", None, True, []), ("level", "int", 3, False, [1, 2, 3]), ("rate", "float", 0.5, False, []),
             ("loud", "bool", False, False, [])],
        )  # fmt: skip
        text = self.expect(self.sabath.run("apply", "--list", "words")).out
        self.assertIn("Capital letters", text)
        self.assertIn("gzip  (built in)", text)
        self.assertIn("end=...", text)
        alone = self.expect(self.sabath.run("apply", "--list", "--json")).record
        self.assertTrue(all(script["built_in"] for script in alone["scripts"]))


class BuiltIn(Derived):
    def test_made_once_then_there(self):
        made = self.apply("words", "gzip", "level=9")
        self.assertEqual((made["was_there"], made["inputs"], made["processed"], made["files"]), (False, 7, 7, 7))
        for name, data in self.tree.items():
            packed = (pathlib.Path(made["path"]) / f"{name}.gz").read_bytes()
            self.assertEqual(gzip.decompress(packed), data)
            self.assertEqual(packed[4:8], bytes(4))  # no time
        again = self.apply("words", "gzip", "level=09")
        self.assertEqual((again["was_there"], again["processed"], again["manifest"]), (True, 0, made["manifest"]))
        other = self.apply("words", "gzip", "level=1")
        self.assertEqual((other["was_there"], other["processed"]), (False, 7))
        self.assertNotEqual(other["name"], made["name"])

    def test_it_is_an_asset_like_any(self):
        made = self.apply("words", "gzip")
        name = made["name"]
        listed = self.expect(self.sabath.run("list", "--json")).record["assets"]
        self.assertIn((name, True), [(asset["name"], asset["present"]) for asset in listed])
        asset = self.fetch(name)
        self.assertEqual((asset["manifest"], asset["fetched_bytes"]), (made["manifest"], 0))
        self.expect(self.sabath.run("verify", name))
        self.assertEqual(self.expect(self.sabath.run("path", name)).out.strip(), made["path"])
        self.assertIn("cite me", self.expect(self.sabath.run("cite", name)).out)
        self.expect(self.sabath.run("stage", name, "--to", self.home / "node"))
        self.assertTrue((self.home / "node" / name / "train/0.txt.gz").exists())
        self.expect(self.sabath.run("export", name, "-o", self.home / "bundle"))
        step = {"argv": ["sh", "-c", "ls {dataset}; echo epoch=1 loss=2"]}
        self.sabath.add("model", kind="model", run={name: [step]})
        self.expect(self.sabath.run("run", "model", name, "--run-dir", self.home / "run"))
        # A collection of what can be had again leaves it: no source can be asked for it.
        self.expect(self.sabath.run("gc", "--older-than", "0s"))
        self.assertEqual(self.apply("words", "gzip")["was_there"], True)
        self.expect(self.sabath.run("rm", name, "--now"))
        gone = self.apply("words", "gzip")
        self.assertEqual((gone["was_there"], gone["manifest"]), (False, made["manifest"]))

    def test_a_chain_and_a_name_of_its_own(self):
        first = self.apply("words", "gzip", "--as", "small")
        self.assertEqual(first["name"], "small")
        second = self.apply("small", "gzip", "level=1")
        data = (pathlib.Path(second["path"]) / "facts.csv.gz.gz").read_bytes()
        self.assertEqual(gzip.decompress(gzip.decompress(data)), self.tree["facts.csv"])
        self.apply("words", "gzip", "level=2", "--as", "small", code=2)

    def test_what_is_wrong_is_said_before_any_work(self):
        for arguments, words in [
            (["words", "gzipp"], "did you mean gzip"),
            (["words", "gzip", "level=12"], "level"),
            (["words", "gzip", "lvel=1"], "did you mean level"),
            (["words", "gzip", "level"], "KEY=VALUE"),
            (["words", "gzip", "level=1", "level=2"], "twice"),
            (["words", "upper"], "end must be given"),
            (["words", "gzip", "num_threads=0"], "num_threads"),
            (["word", "gzip"], "words"),
            (["words", "gzip", "--as", "a/b"], "is no name"),
        ]:
            with self.subTest(arguments=arguments):
                result = self.sabath.run("apply", *arguments)
                self.assertIn(result.exit, (2, 3), result)
                self.assertIn(words, result.err)
        self.assertEqual(self.sabath.visible(), [])

    def test_dry_run_touches_nothing(self):
        seen = self.apply("words", "gzip", "-n")
        self.assertEqual((seen["was_there"], seen["name"]), (False, None))
        self.assertFalse(self.sabath.store.exists())
        self.fetch("words")
        before = self.sabath.visible()
        seen = self.apply("words", "gzip", "-n")
        self.assertEqual((seen["was_there"], seen["inputs"]), (False, 7))
        self.assertEqual(self.sabath.visible(), before)
        made = self.apply("words", "gzip")
        self.assertEqual((made["name"], self.apply("words", "gzip", "-n")["was_there"]), (seen["name"], True))

    def test_no_fetch(self):
        self.apply("words", "gzip", "--no-fetch", code=9)


class Foreign(Derived):
    def test_a_script_of_the_recipe(self):
        made = self.apply("words", "upper", "end=!", "num_threads=3")
        self.expect_tree(made["path"], self.upper())
        self.assertEqual(self.done(), sorted(pathlib.Path(name).name for name in self.tree if name.endswith(".txt")))
        self.assertEqual(made["derived"]["arguments"], {"end": "!", "level": "3", "loud": "false", "rate": "0.5"})
        self.assertEqual(self.apply("words", "upper", "end=!", "level=3")["was_there"], True)
        self.assertEqual(len(self.done()), 6)

    def test_one_byte_of_the_script_is_another_asset(self):
        made = self.apply("words", "upper", "end=!")
        self.script.write_text(UPPER + "#")
        other = self.apply("words", "upper", "end=!")
        self.assertEqual((other["was_there"], other["processed"]), (False, 6))
        self.assertNotEqual(other["derived"]["key"], made["derived"]["key"])
        self.assertNotEqual(other["name"], made["name"])
        self.assertEqual(other["manifest"], made["manifest"])  # the same bytes came of it

    def test_the_input_is_read_only(self):
        program = "import os, sys; open(sys.argv[2], 'w').write(oct(os.stat(sys.argv[1]).st_mode & 0o777))"
        self.add_words(argv=["python3", "-c", program, "{input}", "{output}/{stem}.up"], arguments=[])
        made = self.apply("words", "upper")
        modes = {file.read_text() for file in pathlib.Path(made["path"]).rglob("*.up")}
        self.assertEqual(modes, {"0o444"})

    def test_a_pickle_is_asked_about_before_a_script_reads_it(self):
        code = pickle.dumps(os.getcwd)
        self.tree = {"train/a.txt": b"plain", "train/evil.txt": code, "aside/evil.pkl": code}
        self.add_words()
        self.assertEqual(self.apply("words", "upper", "end=?")["processed"], 2)  # from a directory of one's own
        (self.home / "origin").chmod(0o777)
        refused = self.expect(self.sabath.run("apply", "words", "upper", "end=!"), 4)
        found = "loads   train/evil.txt: pickle, though its name says otherwise, imports posix.getcwd"
        for part in ("words was not read", found, "words upper --trust once"):
            self.assertIn(part, refused.err)
        self.assertNotIn("aside", refused.err)  # the script does not read it
        self.assertEqual(self.apply("words", "gzip")["processed"], 3)  # a built-in script loads none
        self.assertEqual(self.apply("words", "upper", "end=!", "--trust", "commit")["processed"], 2)
        self.assertEqual(self.apply("words", "upper", "end=:")["processed"], 2)

    def test_what_others_may_have_written_runs_when_it_is_trusted(self):
        self.home.chmod(0o755)  # such a recipe names only files that others could read
        (self.sabath.recipes / "datasets").chmod(0o777)
        error = self.apply("words", "upper", "end=!", code=4)["error"]
        self.assertEqual(error["kind"], "access")
        for part in (str(self.script.parent), "commit  sha256:", "sabath apply words upper --trust once"):
            self.assertIn(part, error["message"] + error["hint"])
        self.assertEqual(self.done(), [])
        self.apply("words", "gzip")  # a built-in script is no code of the recipe
        self.assertEqual(self.apply("words", "upper", "end=!", "--trust", "once")["processed"], 6)
        self.assertTrue(self.apply("words", "upper", "end=!")["was_there"])
        self.apply("words", "upper", "end=?", code=4)
        self.apply("words", "upper", "end=?", "--trust", "commit")
        self.assertEqual(self.apply("words", "upper", "end=.")["processed"], 6)
        place(self.script, UPPER.encode() + b"# another\n")
        self.apply("words", "upper", "end=.", code=4)

    def test_the_key_is_the_hash_of_canonical_json(self):
        made = self.apply("words", "upper", "end=!")["derived"]
        program = pathlib.Path(sys.executable).read_bytes()
        script = {"id": "upper", "argv": json.loads(pathlib.Path(self.sabath.recipes / "datasets/words.json").read_text())
                  ["supporting"][0]["argv"], "per": "file", "inputs": ["train/*.txt"], "outputs": ["**/*.up", "*.up"],
                  "root": made["script_root"]}  # fmt: skip
        key = {"schema": 1, "script": script, "arguments": {"end": "!", "level": 3, "rate": 0.5, "loud": False},
               "tools": {"python3": "sha256:" + hashlib.sha256(program).hexdigest()}, "input": made["input"],
               "in_place": False}  # fmt: skip
        text = json.dumps(key, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self.assertEqual(made["key"], "sha256:" + hashlib.sha256(text.encode()).hexdigest())

    def test_a_file_that_fails_is_named_and_the_others_are_kept(self):
        self.tree["train/9.txt"] = b"poison"
        self.add_words()
        record = self.apply("words", "upper", "end=!", code=11)
        (failed,) = record["failures"]
        self.assertEqual((failed["path"], failed["script_exit"], failed["last_lines"]),
                         ("train/9.txt", 3, ["I cannot eat this"]))  # fmt: skip
        self.assertEqual((record["processed"], record["manifest"]), (6, None))
        told = self.sabath.run("apply", "words", "upper", "end=!", **self.environment)
        self.assertIn("I cannot eat this", told.err)
        self.assertEqual(self.done().count("9.txt"), 2)
        self.assertEqual(self.done().count("1.txt"), 1)
        # Another version of the data: only what changed is done.
        self.tree["train/9.txt"] = b"good"
        self.add_words()
        mended = self.apply("words", "upper", "end=!")
        self.assertEqual((mended["processed"], mended["resumed"]), (1, 6))
        self.expect_tree(mended["path"], self.upper())

    def test_a_script_for_the_whole_asset(self):
        code = "import os,sys;open(sys.argv[2]+'/n','w').write(str(sum(len(f) for _,_,f in os.walk(sys.argv[1]))))"
        self.add_words(argv=["python3", "-c", code, "{dataset}", "{output}"], per="asset", outputs=["n"], source=None,
                       arguments=[])  # fmt: skip
        made = self.apply("words", "upper")
        self.expect_tree(made["path"], {"n": b"7"})

    def test_bounds(self):
        code = "import subprocess,time;subprocess.Popen(['sleep','999']);time.sleep(999)"
        self.add_words(argv=["python3", "-c", code], arguments=[], source=None)
        record = self.apply("words", "upper", "--time", "1s", "num_threads=6", code=11)
        self.assertIn("had not ended after 1 s", record["failures"][0]["message"])
        self.add_words(argv=["python3", "-c", "x = bytes(3 << 30)"], arguments=[], source=None)
        record = self.apply("words", "upper", "--memory", "1G", code=11)
        self.assertIn("MemoryError", record["failures"][0]["last_lines"][-1])
        self.add_words(argv=["python3", "-c", "pass"], arguments=[], source=None)
        self.assertIn("wrote no output", self.apply("words", "upper", code=11)["failures"][0]["message"])

    def test_a_script_that_writes_into_its_input_is_found_out(self):
        code = "import os,sys;os.chmod(sys.argv[1],0o600);open(sys.argv[1],'ab').write(b'!');open(sys.argv[2],'w')"
        self.add_words(argv=["python3", "-c", code, "{input}", "{output}/x.up"], arguments=[], source=None)
        record = self.apply("words", "upper", code=11)
        self.assertTrue(all("may only read" in failed["message"] for failed in record["failures"]))
        self.fetch("words")
        self.expect(self.sabath.run("verify", "words"))

    def test_outputs_are_plain_files(self):
        for what in ("os.symlink('/etc/passwd', o)", "os.link(i, o)", "os.mkfifo(o)"):
            with self.subTest(what=what):
                code = f"import os,sys;i,o=sys.argv[1:3];{what}"
                self.add_words(argv=["python3", "-c", code, "{input}", "{output}/x.up"], arguments=[], source=None)
                self.assertEqual(len(self.apply("words", "upper", code=11)["failures"]), 6)


class InPlace(Derived):
    def test_a_tree_becomes_one_of_the_new_asset(self):
        self.fetch("words")
        tree = self.home / "mine"
        self.expect(self.sabath.run("view", "words", "--to", tree))
        made = self.apply("words", "upper", "end=!", "--in-place", tree)
        self.assertEqual(made["path"], str(tree))
        self.expect_tree(tree, {**self.tree, **self.upper()})
        again = self.apply("words", "upper", "end=!", "--in-place", tree)
        self.assertEqual((again["was_there"], again["path"]), (True, str(tree)))
        beside = self.apply("words", "upper", "end=!")  # without the input's files: another asset, of the same work
        self.assertEqual((beside["was_there"], beside["processed"], beside["resumed"]), (False, 0, 6))
        self.assertEqual(sorted(p.name for p in self.home.iterdir() if p.name.startswith("mine")), ["mine"])

    def test_a_tree_of_something_else_is_left_alone(self):
        self.fetch("words")
        tree = self.home / "mine"
        self.expect(self.sabath.run("view", "words", "--to", tree))
        (tree / "notes").write_text("mine")
        self.apply("words", "gzip", "--in-place", tree, code=7)
        self.assertEqual((tree / "notes").read_text(), "mine")
        self.apply("words", "gzip", "--in-place", self.home / "none", code=2)


class Kept(Derived):
    def test_kill_and_go_on(self):
        slow = UPPER + "\nimport time, os\nif os.environ.get('SLOW') and source.name >= '4': time.sleep(99)\n"
        self.script.write_text(slow)
        process = self.sabath.start("apply", "words", "upper", "end=!", **self.environment, SLOW="1")
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.wait_until(lambda: "4.txt" in self.done())
        process.kill()
        process.wait()
        record = self.apply("words", "upper", "end=!")
        self.assertEqual((record["resumed"], record["processed"]), (4, 2))
        self.expect_tree(record["path"], self.upper())
        self.assertEqual(self.done().count("4.txt"), 2)
        self.assertEqual(self.done().count("3.txt"), 1)

    def wait_until(self, seen):
        from support.origin import poll

        poll(seen)


if __name__ == "__main__":
    main()
