#!/usr/bin/python3
"""No figure that was not measured: each number in a verb's text is one of its record (--json), as printed there or rounded.

Each verb is called twice, from two copies of one place: for people, and for programs. Names, paths, digests and what was
asked for are taken out of the text first. Times differ from call to call: there the record needs a time at all.
"""

import json
import pathlib
import re
import shutil
import subprocess

import h5py
import numpy

from support.case import Case, main, place
from support.content import fragment, seeded

DATA = {"train/a.bin": seeded(5_000_001, 1), "train/b.bin": seeded(70_000, 2), "facts.csv": b"a,b\n1,2\n"}
STEP = 'for epoch in 1 2 3; do echo "epoch=$epoch loss=0.$((9 - epoch)) epoch_time=2.5"; done'
SCALES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "%": 0.01}
TIMES = ("s", "ms", "min", "h", "d", "second", "seconds")
NUMBER = re.compile(r"(?<![\w.:/-])(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?: ?(%|[kMGT]?i?B|ms|seconds?|s|min|h|d)(?![\w]))?(?!\w)")


def leaves(value, key=""):
    """(key, value) of all that stands in a record; of lists and objects their lengths, too."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, key)
    else:
        yield key, value
    if isinstance(value, (dict, list)):
        yield key, len(value)


class SpokenFigures(Case):
    def setUp(self):
        super().setUp()
        for path, data in DATA.items():
            place(self.home / "origin" / path, data)
        script = {"id": "upper", "description": "Capital letters", "argv": ["sh", "-c", 'tr a-z A-Z <"$0" >"$1"', "{input}",
                  "{output}/{stem}.up"], "per": "file", "inputs": ["*.csv"], "outputs": ["*.up"]}  # fmt: skip
        parts = [fragment(f"file://{self.home}/origin/{path}", data, name=path.replace("/", "-"), path=path)
                 for path, data in DATA.items()]  # fmt: skip
        self.sabath.add("set", parts, licence="MIT", supporting=[script])
        place(self.sabath.recipes / "models/net/step.sh", STEP.encode())
        self.sabath.add("net", kind="model", source="net", default_dataset="set",
                        run={"set": [{"argv": ["sh", "{source}/step.sh"]}]})  # fmt: skip
        numpy.save(self.home / "x.npy", numpy.arange(12, dtype="<f4").reshape(3, 4))
        with h5py.File(self.home / "u.hdf5", "w") as file:
            file["full"] = numpy.arange(6 * 5, dtype="<f4").reshape(6, 5)
        self.prepared = self.home.with_name(self.home.name + "-prepared")
        self.addCleanup(shutil.rmtree, self.prepared, ignore_errors=True)

    def mirror(self, source, target):
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", source, target], check=True)  # hard links stay what they are

    def both(self, *arguments, code=0):
        """The text and the record of one call, from the same place each."""
        self.mirror(self.home, self.prepared)
        self.mirror(self.prepared, self.home)
        said = self.expect(self.sabath.run(*arguments), code)
        self.mirror(self.prepared, self.home)
        told = self.expect(self.sabath.run(*arguments, "--json"), code)
        return said.out + said.err, told.record

    def unexplained(self, text, record, arguments):
        values = list(leaves(record))
        known = [str(value) for _, value in values if isinstance(value, str)] + [str(one) for one in arguments]
        known += [value[:19] for _, value in values if isinstance(value, str) and value.startswith("sha256:")]
        for word in sorted({*known, str(self.home)}, key=len, reverse=True):
            if re.search(r"\d", word):
                text = re.sub(rf"(?<![\w.]){re.escape(word)}(?![\w])", " ", text)
        text = "\n".join(line for line in text.splitlines() if not line.startswith("hint"))
        numbers = [float(value) for _, value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
        timed = any(re.search("second|time|_ms|used", key) for key, value in values if value is not None)
        free = [float(value) for key, value in values if re.search("free|left|available", key) and isinstance(value, int)]
        return [match.group().strip() for match in NUMBER.finditer(text) if not self.is_told(match, numbers, timed, free)]

    def is_told(self, match, numbers, timed, free):
        printed, unit = match.group(1).replace(",", ""), match.group(2)
        if unit in TIMES and timed:
            return True
        scale = SCALES.get(unit, 1)
        digits = len(printed.partition("e")[0].partition(".")[2])
        power = 10.0 ** int(printed.partition("e")[2] or 0)
        room = 0.51 * 10.0**-digits * power * scale
        spoken = float(printed) * scale
        if any(abs(spoken - number) <= 0.2 * number for number in free):  # other programs write there, too
            return True
        return any(abs(spoken - number) <= room for number in numbers)

    def walk(self, *arguments, code=0):
        text, record = self.both(*arguments, code=code)
        if arguments[0] == "run":  # its record is the run's directory
            run = pathlib.Path(record["path"])
            lines = (run / "metrics.jsonl").read_text().splitlines()
            record = [record, json.loads((run / "run.json").read_text()), [json.loads(line) for line in lines]]
        self.assertEqual(self.unexplained(text, record, arguments), [], f"{arguments}: {text}\n{record}")
        return text

    def test_data(self):
        for arguments in (["list"], ["search", "set"], ["plan", "-d", "set"], ["fetch", "-d", "set"], ["fetch", "-d", "set"],
                          ["verify"], ["verify", "set"], ["info", "set"], ["info", "--where", "set"], ["path", "set"], ["du"], ["fair", "set"],
                          ["view", "set", "--to", "mine"], ["manifest", "create", "origin", "-o", "m.manifest"],
                          ["manifest", "show", "m.manifest"], ["manifest", "verify", "m.manifest", "origin"],
                          ["manifest", "diff", "m.manifest", "set"], ["gc", "--dry-run"], ["export", "set", "-o", "set.tar"],
                          ["stage", "set", "--to", "node"], ["unstage", "set", "--to", "node"], ["adopt", "mine", "--name", "other"],
                          ["apply", "--list", "set"], ["rm", "set"], ["gc", "--max-size", "1"], ["import", "set.tar", "set"]):  # fmt: skip
            with self.subTest(" ".join(arguments)):
                self.walk(*arguments)

    def test_files(self):
        for arguments in (["inspect", "x.npy"], ["inspect", "u.hdf5"], ["hdf5", "inspect", "u.hdf5"], ["hdf5", "hash", "u.hdf5"],
                          ["hdf5", "select", "u.hdf5", "full[:,0]", "-o", "part.hdf5"]):  # fmt: skip
            with self.subTest(" ".join(arguments)):
                self.walk(*arguments)

    def test_runs(self):
        for arguments in (["fetch", "set"], ["apply", "set", "upper"], ["run", "net", "--run-dir", "one"],
                          ["run", "net", "--run-dir", "two"], ["report", "one"], ["report", "one", "two"],
                          ["compare", "one", "two"], ["trust", "list"]):  # fmt: skip
            with self.subTest(" ".join(arguments)):
                self.walk(*arguments)

    def test_what_is_there_is_not_called_absent(self):
        place(self.home / "plain.log", b"FoM: 0.125\n")
        text = self.walk("report", "plain.log")
        self.assertIn("0.125", text)
        self.assertNotIn("no metric", text)

    def test_a_record_says_what_ran(self):
        """Two ranks of a step that is started once are none."""
        for ranks in (1, 2):
            done = self.sabath.run("run", "net", "--run-dir", f"ranks-{ranks}", "--ranks", ranks)
            if done.exit != 0:
                self.assertEqual((done.exit, ranks), (2, 2), done.err)
                continue
            record = json.loads((self.home / f"ranks-{ranks}/run.json").read_text())
            self.assertEqual(record["ranks"], max(step["ranks"] for step in record["steps"]))

    def test_a_file_that_was_changed(self):
        self.expect(self.sabath.run("fetch", "set"))
        wrong = max((self.sabath.store / "objects").rglob("*.*"), key=lambda file: file.stat().st_size)
        wrong.chmod(0o644)
        with open(wrong, "r+b") as file:
            file.write(bytes([file.read(1)[0] ^ 1]))
        self.walk("verify", "set", code=7)


if __name__ == "__main__":
    main()
