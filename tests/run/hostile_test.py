#!/usr/bin/python3
"""Values and recipes that would like to be commands, or to be elsewhere."""

import json
import os

from runs import Runs, main, place

EVIL = ["$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned", "\n", "a\x1b[31mb", "'; touch pwned; '",
        '"; touch pwned; "', "&& touch pwned", "> pwned", "${IFS}touch", "\\", "*", "~", "#", "{dataset}", "{source}",
        "-rf", "../../../../etc/passwd", "%s%n", "é\u202e"]  # fmt: skip


class Hostile(Runs):
    def expect_clean(self):
        self.assertEqual(list(self.home.rglob("pwned")), [])

    def test_values_are_arguments(self):
        self.model(["python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", "{config.word}", "x{config.word}y"],
                   config={"word": "w"})  # fmt: skip
        for number, value in enumerate(EVIL):
            with self.subTest(value):
                self.run_directory = self.home / f"record-{number}"
                escaped = value.replace(",", "\\,")
                if any(ord(c) < 32 for c in value):
                    self.launch("model", "--set", f"word={escaped}", code=2)
                    self.assertFalse(self.run_directory.exists())
                    continue
                self.launch("model", "--set", f"word={escaped}")
                self.assertEqual(json.loads(self.output()), [value, f"x{value}y"])
        self.expect_clean()

    def test_values_for_a_shell_are_plain_or_refused(self):
        self.model({"shell": "echo '{config.word}' \"{config.word}\" {config.word}"}, config={"word": "w"})
        refused = 0
        for number, value in enumerate(EVIL):
            with self.subTest(value):
                self.run_directory = self.home / f"record-{number}"
                done = self.sabath.run("run", "--run-dir", self.run_directory, "model", "--set", f"word={value}")
                self.assertEqual(self.run_directory.exists(), done.exit == 0)
                self.assertIn(done.exit, (0, 2), done.err)
                refused += done.exit == 2
                if done.exit == 0:
                    self.assertEqual(self.output(), f"{value} {value} {value}\n")
        self.assertGreaterEqual(refused, 17)
        self.expect_clean()

    def test_arguments_for_the_program_stay_arguments(self):
        self.model(["python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"])
        self.launch("model", "--", "--run-dir", "-n", "$(touch pwned)", "--", "")
        self.assertEqual(json.loads(self.output()), ["--run-dir", "-n", "$(touch pwned)", "--", ""])

    def test_settings_that_are_none(self):
        self.model(["true"], config={"epochs": 3})
        for text in ("epochs", "=3", "epoch=3", "a b=3", "../x=3", "epochs=" + "9" * 5000):
            with self.subTest(text[:20]):
                self.launch("model", "--set", text, code=2)
        self.assertIn("did you mean epochs?", self.launch("model", "--set", "epoch=3", code=2).err)
        self.assertFalse(self.run_directory.exists())

    def test_settings_files(self):
        self.model(["echo", "{config.a}", "{config.b.c}"], config={"a": "1", "b.c": "2"})
        file = self.home / "settings.json"
        for text, code in (('{"a": 7, "b": {"c": "x y"}}', 0), ('{"a": [1]}', 12), ("{", 12), ('{"a":1,"a":2}', 12),
                           ('{"z": 1}', 2), ("[" * 100000, 12)):  # fmt: skip
            with self.subTest(text[:20]):
                file.write_text(text)
                self.launch("model", "--set-from", file, code=code)
        self.assertEqual(self.output(), "7 x y\n")
        self.launch("model", "--set-from", self.home / "none.json", code=2)
        file = self.home / "settings.yaml"
        for number, (text, code) in enumerate((("a: 7\nb:\n  c: x y\n", 0), ("a: &x 1\nb: {c: *x}", 12), ("a: [1]", 12),
                                               ("z: 1", 2), ("a: !!python/object/apply:os.system [id]", 12))):  # fmt: skip
            with self.subTest(text):
                file.write_text(text)
                self.run_directory = self.home / f"yaml-{number}"
                done = self.launch("model", "--set-from", file, code=code)
                if code == 12:
                    self.assertIn("settings.yaml:1: ", done.err)
        self.run_directory = self.home / "yaml-0"
        self.assertEqual(self.output(), "7 x y\n")

    def test_code_that_leads_elsewhere(self):
        self.model(["cat", "{source}/train.py"])
        (self.sabath.recipes / "models/model/out").symlink_to("../../../../etc")
        self.launch("model", code=12)
        (self.sabath.recipes / "models/model/out").unlink()
        os.mkfifo(self.sabath.recipes / "models/model/pipe")
        self.launch("model", code=12)
        self.sabath.add("model", kind="model", source="none", run={"data": [{"argv": ["true"]}]})
        self.launch("model", code=3)

    def test_a_dataset_is_no_model(self):
        self.model(["true"])
        result = self.expect(self.sabath.run("run", "data"), 2)
        self.assertIn("error: data is a dataset: a run takes a model, then the dataset\n", result.err)
        self.assertIn("  hint: models that train on it: model\n", result.err)

    def test_recipes_with_bad_parts(self):
        for part in ({"source": "../.."}, {"run": {"data": [{"argv": ["a", "{config}"]}]}}, {"config": {"a": [1]}},
                     {"run": {"data": [{"argv": ["a"], "shell": "b"}]}}, {"metrics": [""]}):  # fmt: skip
            with self.subTest(part):
                self.sabath.add("bad", kind="model", **{"run": {"data": [{"argv": ["true"]}]}, **part})
                self.expect(self.sabath.run("run", "bad"), 12)

    def test_a_pattern_that_is_none_ends_nothing_late(self):
        self.model(["touch", "launched"], metrics=["(unclosed"])
        done = self.sabath.run("run", "--run-dir", self.run_directory, "model")
        self.assertEqual(done.exit, 12, done.err)
        self.assertEqual(list(self.home.rglob("launched")), [])

    def test_output_that_is_garbage(self):
        code = "import os, sys\nfor i in range(200):\n    os.write(1 + i % 2, os.urandom(50_000))\n"
        code += "os.write(1, b'\\nEpoch 1/1\\n1/1 - 1s - loss: 0.5\\n' + b'x' * 5_000_000)\n"
        self.model(["python3", "{source}/train.py"], code={"train.py": code})
        self.launch("model")
        self.assertIn(0.5, self.values("loss"))
        size = sum((self.run_directory / "output" / name).stat().st_size for name in ("stdout", "stderr"))
        self.assertEqual(size, 200 * 50_000 + 5_000_000 + len(b"\nEpoch 1/1\n1/1 - 1s - loss: 0.5\n"))

    def test_profiles_and_containers(self):
        self.model(["true"])
        for arguments, code in ((["--site", "none"], 3), (["--launcher", "none"], 2), (["--container", "none:x"], 2),
                                (["--container", "podman"], 2), (["--container", "podman:--privileged"], 2),
                                (["--ranks", "0"], 2), (["--ranks", "4", "--launcher", "direct"], 2)):  # fmt: skip
            with self.subTest(arguments):
                self.launch("model", *arguments, code=code)
        place(self.home / "bad.json", b'{"schema":1,"name":"a","launcher":{"argv":[]}}')
        self.launch("model", "--site", self.home / "bad.json", code=12)
        self.assertFalse(self.run_directory.exists())


if __name__ == "__main__":
    main()
