#!/usr/bin/python3
"""Command lines that are wrong, standard output that cannot be written, and who is told what."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from support import program
from support.case import Case, main
from support.content import fragment, seeded


class Usage(Case):
    def refused(self, *arguments, says, hint=None, code=2):
        result = self.expect(self.sabath.run(*arguments), code)
        self.assertEqual(result.out, "")
        self.assertTrue(result.err.startswith("error: "), result.err)
        self.assertIn(says, result.err)
        if hint is not None:
            self.assertIn(f"  hint: {hint}\n", result.err)

    def test_alone_it_explains_itself_and_fails(self):
        result = self.expect(self.sabath.run(), 2)
        self.assertEqual(result.out, "")
        self.assertIn("Usage: sabath COMMAND", result.err)
        self.assertEqual(self.expect(self.sabath.run("--help")).out, result.err)
        self.assertEqual(self.expect(self.sabath.run("help")).out, result.err)

    def test_suggestions(self):
        self.refused("fecth", "one", says="no such command: 'fecth'", hint="did you mean fetch?")
        self.refused("pin", "one", says="no such command: 'pin'", hint="its name is `sabath keep one` now; `sabath catalogue pin` is for recipes")
        self.refused("unpin", says="no such command: 'unpin'", hint="its name is `sabath unkeep` now")
        self.refused("fetch", "one", "--manifest", "", says="--manifest is empty", hint="give a value, or leave it out")
        self.refused("want", "-d", "x", says="no such command: 'want'",
                     hint="its name is `sabath export --missing` now: see `sabath export --missing --help`")
        self.refused("where", "one", says="no such command: 'where'", hint="its name is `sabath info --where one` now")
        self.refused("want", "one two", "-o", "x", says="no such command: 'want'",
                     hint="its name is `sabath export --missing 'one two' -o x` now")
        self.refused("help", "want", says="no such command: 'want'", hint="see: sabath export --missing --help")
        self.refused("help", "pin", says="no such command: 'pin'", hint="see: sabath help keep")
        self.refused("manifest", "creat", says="no such command: 'creat'", hint="did you mean create?")
        self.refused("list", "--knd=model", says="no such option: '--knd'", hint="did you mean --kind?")
        self.refused("list", "--kind", "models", says="--kind cannot be 'models'", hint="did you mean model?")
        self.refused("help", "lits", says="no such command: 'lits'", hint="did you mean list?")

    def test_help_on_what_is_no_command(self):
        self.refused("noverb", "--help", says="no such command: 'noverb'", hint="see: sabath --help")
        self.refused("--help", "lits", says="no such command: 'lits'", hint="did you mean list?")
        self.refused("manifest", "creat", "-h", says="no such command: 'creat'", hint="did you mean create?")

    def test_directories_without_recipes_are_named(self):
        deep, empty = self.home / "deep" / "models", self.home / "empty"
        deep.mkdir(parents=True)
        empty.mkdir()
        result = self.sabath.run("list", SABATH_RECIPES=f"/nonexistent:{deep}:{empty}:{self.sabath.recipes}")
        self.assertEqual(
            self.expect(result).err.splitlines()[:3],
            [
                "warning: there is no directory /nonexistent, which is to hold recipes",
                f"warning: {deep} is one level too deep: recipes are found by the directory above it",
                f"warning: {empty} holds no recipes: they are in its folders datasets, models, workflows, libraries, executables, objects",
            ],
        )
        result = self.sabath.run("--root", empty, "info", "--where", "x")
        self.assertIn(f"warning: the root {empty} has no var/sabath/assets", self.expect(result, 3).err)

    def test_too_little_and_too_much(self):
        self.refused("info", says="NAME is required")
        self.refused("fetchers", "x", says="one argument too many: 'x'")
        self.refused("verify", "--threads", "many", says="--threads")
        self.refused("--store", says="--store needs one value")
        self.refused("search", "(", says="cannot search for '('")
        self.refused("search", "a" * 201, says="more than 200 bytes")
        self.refused("manifest", "create", self.home, says="needs -o FILE")

    def test_no_such_asset_is_suggested(self):
        self.sabath.add("cosmology", [fragment("http://a.example/f")])
        self.refused("info", "cosmolgy", says='no recipe named "cosmolgy"', hint=None, code=3)
        self.assertIn("cosmology", self.sabath.run("info", "cosmolgy").err)

    def test_control_bytes_are_shown_not_sent(self):
        for arguments in (["\x1b[2J"], ["info", "\x1b[2J"], ["list", "--\x1b[2J"], ["search", "(\x1b[2J"]):
            result = self.sabath.run(*arguments)
            self.assertNotIn("\x1b", result.err)
            self.assertIn("\\x1b[2J", result.err)

    def test_verbose_names_the_kind(self):
        result = self.expect(self.sabath.run("-v", "info", "nothing"), 3)
        self.assertIn("  kind: not_found (exit 3)\n", result.err)

    def test_errors_are_one_record_too(self):
        for arguments, kind, code in (
            (["--json", "fecth"], "usage", 2),
            (["info", "nothing", "--json"], "not_found", 3),
            (["path", "--json", "nothing"], "not_found", 3),
            (["manifest", "show", "--json", "nothing"], "not_found", 3),
            (["verify", "--json"], "offline", 9),
        ):
            result = self.expect(self.sabath.run(*arguments), code)
            self.assertEqual(len(result.lines), 1)
            self.assertEqual(set(result.record), {"schema", "error", "exit"})
            self.assertEqual((result.record["error"]["kind"], result.record["exit"]), (kind, code))

    def test_standard_output_full_or_closed(self):
        self.sabath.add("one", [fragment("http://a.example/f")])
        for arguments in (["list"], ["list", "--json"], ["--help"], ["info", "one"], ["fetchers"]):
            for redirection in (">/dev/full", ">&-"):
                command = f'"$0" "$@" {redirection}'
                result = subprocess.run(
                    ["/bin/sh", "-c", command, program.BINARY, *arguments],
                    env=self.sabath.environment, stderr=subprocess.PIPE, text=True, timeout=300, check=False,
                )  # fmt: skip
                self.assertEqual(result.returncode, 70, (arguments, redirection, result.stderr))
                self.assertIn("cannot write to standard output", result.stderr)

    def test_a_reader_that_has_seen_enough(self):
        for i in range(2000):
            self.sabath.add(f"asset-{i:05}", [fragment("http://a.example/f")], title="t" * 100)
        read_end, write_end = os.pipe()
        process = subprocess.Popen(
            [program.BINARY, "list"], env=self.sabath.environment, stdout=write_end, stderr=subprocess.PIPE, text=True
        )
        os.close(write_end)
        os.read(read_end, 100)
        os.close(read_end)
        _, err = process.communicate(timeout=300)
        self.assertEqual((process.returncode, err), (70, ""))

    def test_no_library_is_taken_from_the_current_directory(self):
        if not shutil.which("readelf"):
            self.skipTest("there is no readelf")
        said = subprocess.run(["readelf", "-d", program.BINARY], stdout=subprocess.PIPE, text=True, check=True).stdout
        for path in re.findall(r"path: \[(.*)\]", said):
            self.assertNotIn("", path.split(":"))

    def test_nothing_is_written_by_asking(self):
        self.sabath.add("one", [fragment("http://a.example/f")])
        cache = tempfile.TemporaryDirectory()  # `search` keeps an index in the user's cache
        self.addCleanup(cache.cleanup)
        self.sabath.environment["XDG_CACHE_HOME"] = cache.name
        before = sorted(self.home.rglob("*"))
        for arguments in (["list"], ["info", "one"], ["info", "--where", "one"], ["du"], ["doctor"], ["config"], ["fetchers"],
                          ["search", "o"], ["path", "one"], ["verify"]):  # fmt: skip
            self.sabath.run(*arguments)
            self.assertEqual(sorted(self.home.rglob("*")), before, arguments)


class Records(Case):
    """--json: one record on standard output, null for what is absent, and the same facts as the text."""

    def test_every_command_gives_one_record(self):
        data = seeded(1000)
        (self.home / "f.bin").write_bytes(data)
        self.sabath.add("one", [fragment((self.home / "f.bin").as_uri(), data)], citation=["@misc{one}"], title="One")
        self.expect(self.sabath.run("fetch", "one"))
        (self.home / "d").mkdir()
        self.expect(self.sabath.run("manifest", "create", "d", "-o", "d.manifest"))
        for arguments in (["list"], ["search", "one"], ["info", "one"], ["info", "--where", "one"], ["path", "one"],
                          ["cite", "one"], ["verify"], ["verify", "one"], ["du"], ["fetchers"], ["doctor"], ["config"],
                          ["manifest", "show", "one"], ["manifest", "diff", "one", "one"],
                          ["manifest", "create", "d", "-o", "e.manifest"],
                          ["manifest", "verify", "d.manifest", "d"]):  # fmt: skip
            result = self.expect(self.sabath.run(*arguments, "--json"))
            self.assertEqual(len(result.lines), 1, arguments)
            if arguments != ["fetchers"]:
                self.assertEqual((result.record["schema"], result.record["exit"]), (1, 0))

    def test_what_is_absent_is_null(self):
        self.sabath.add("bare", [fragment("http://a.example/f")])
        (asset,) = self.expect(self.sabath.run("info", "bare", "--json")).record["assets"]
        for key in ("version", "size", "title", "abstract", "licence", "homepage", "manifest", "path", "git"):
            self.assertIsNone(asset[key], key)
        self.assertIs(asset["present"], False)
        where = self.expect(self.sabath.run("info", "--where", "bare", "--json"), 9).record
        self.assertEqual((where["manifest"], where["path"], where["exit"]), (None, None, 9))

    def test_fetchers_as_designed(self):
        schemes = self.expect(self.sabath.run("fetchers", "--json")).record["schemes"]
        for scheme in schemes:
            self.assertEqual(set(scheme), {"name", "built", "ranges", "resolver", "command", "by", "used"})
        built = {scheme["name"] for scheme in schemes if scheme["built"]}
        self.assertLessEqual({"http", "https", "ftp", "file"}, built)

    def test_names_that_are_not_utf8(self):
        directory = self.home / "d"
        directory.mkdir()
        (self.home / "p\udcff.json").write_text("{")
        result = self.sabath.run("info", "--json", self.home / "p\udcff.json")
        json.loads(result.out)


if __name__ == "__main__":
    unittest.TestCase.longMessage = True
    main()
