"""Recipes, names and command lines that are wrong: exit 12, 3, 2 or 9, told with place and suggestion, fast and small."""
import json
import os
import subprocess

from support import program
from support.ground import FaultCase, main

URL = "http://127.0.0.1:1/f.bin"  # no server is asked
MEMORY_MAX = 32 << 20  # beyond what the program takes for nothing


def recipe(**keys):
    return json.dumps({"schema": 1, "kind": "dataset", "name": "bad", "fragments": [
        {"id": "main", "type": "file", "path": "f.bin", "urls": [URL]}], **keys}, indent=1)


def fragment(**keys):
    return recipe(fragments=[{"id": "main", "type": "file", "path": "f.bin", "urls": [URL], **keys}])


MALFORMED = {
    "unknown key": (recipe(licens="MIT"), ["bad.json:", '"licens"', 'did you mean "licence"?']),
    "unknown key of a fragment": (fragment(checksun={}), ['"checksun"', 'did you mean "checksum"?']),
    "wrong type": (fragment(size="12"), ["bad.json:", '"size"', "whole number", "a string"]),
    "negative size": (fragment(size=-1), ['"size"']),
    "fractional size": (fragment(size=1.5), ['"size"']),
    "size beyond 64 bits": (fragment(size=1 << 70), ['"size"']),
    "key twice": (recipe().replace('"name": "bad"', '"name": "bad",\n "name": "worse"'), ['"name"', "appears twice"]),
    "no name": (recipe(name=None), ['"name"']),
    "name with ../": (recipe(name="../evil"), ['"name"', "../evil"]),
    "name with escapes": (recipe(name="\x1b[31mbad"), ['"name"']),
    "path with ../": (fragment(path="../../evil"), ['"path"', "../../evil"]),
    "absolute path": (fragment(path="/etc/passwd"), ['"path"', "/etc/passwd"]),
    "two fragments in one place": (recipe(fragments=[
        {"id": "a", "type": "file", "path": "x", "urls": [URL]},
        {"id": "b", "type": "file", "path": "x", "urls": [URL]}]), ["x"]),
    "password in a URL": (fragment(urls=["http://me:secret@127.0.0.1/f"]), ["bad.json:"]),
    "checksum too short": (fragment(checksum={"sha256": "12ab"}), ['"sha256"', "64 hexadecimal digits"]),
    "manifest that is no digest": (recipe(manifest={"digest": "sha256:12", "urls": []}), ['"digest"', "64"]),
    "schema of the future": (recipe(schema=99), ['"schema"']),
    "not an object": ("[1, 2]", ["bad.json:1:"]),
    "empty": ("", ["bad.json is empty"]),
    "cut": (recipe()[:-9], ["malformed JSON"]),
    "text after the end": (recipe() + "x", ["malformed JSON"]),
    "NaN": (recipe().replace('"schema": 1', '"schema": NaN'), ["malformed JSON"]),
    "invalid UTF-8": (recipe(title="TITLE").encode().replace(b"TITLE", b"\xff\xfe"), ["malformed JSON"]),
    "lone surrogate": (recipe(title="TITLE").replace("TITLE", "\\ud800"), ["malformed JSON"]),
    "10,000 nested arrays": ('{"schema": 1, "fragments": ' + "[" * 10_000 + "]" * 10_000 + "}", ["nested deeper"]),
    "1,000,000 nested arrays": ("[" * 1_000_000, ["nested deeper"]),
    "ten thousand keys that nobody knows": (json.dumps({f"k{i}": i for i in range(10_000)}), ["bad.json:1:"]),
}


class Recipes(FaultCase):
    def test_malformed(self):
        for name, (text, says) in MALFORMED.items():
            with self.subTest(name):
                self.ground.write_recipe("bad", text)
                result = self.ground.refused(12, *says)
                self.assertNotIn("secret", result.out + result.err)

    def test_unknown_placeholder(self):
        for argv, says in ((["sh", "{sorce}"], ["{sorce}", "{source}"]), (["{dataset.x.dir}{evil}"], ["{evil}"])):
            model = {"schema": 1, "kind": "model", "name": "bad", "run": {"d": [{"argv": argv}]}}
            (self.ground.recipes / "models" / "bad.json").write_text(json.dumps(model))
            self.ground.refused(12, "bad.json:1:", *says, hint="{source}")

    def peak_memory(self, exit_code, *command):
        child = subprocess.Popen([program.BINARY, *command], env=self.ground.environment(), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, exit_code)
        return usage.ru_maxrss * 1024

    def test_a_gibibyte_costs_nothing(self):
        """A recipe of one string of 1 GiB (sparse on disk), by name and by path, and beside a good one."""
        path = self.ground.write_recipe("bad", '{"schema": 1, "name": "')
        os.truncate(path, 1 << 30)
        for command in (("fetch", "--json", "bad"), ("fetch", "--json", str(path))):
            self.ground.refused(12, "bad.json", command=command)
            self.assertLess(self.peak_memory(12, *command) - self.peak_memory(0, "--version"), MEMORY_MAX)
        self.ground.succeeds("before", self.before)

    def test_a_recipe_that_is_no_file(self):
        os.mkfifo(self.ground.recipes / "datasets" / "bad.json")
        self.ground.refused(12, "bad.json", "no regular file")
        os.unlink(self.ground.recipes / "datasets" / "bad.json")
        os.symlink("bad.json", self.ground.recipes / "datasets" / "bad.json")
        self.ground.fails(12, "bad.json")
        self.ground.succeeds("before", self.before)


class Names(FaultCase):
    def test_unknown_asset(self):
        self.ground.refused(3, '"befor"', hint='did you mean "before"?', command=("fetch", "--json", "befor"))
        self.ground.refused(3, "../evil", command=("fetch", "--json", "../evil"))
        self.ground.refused(3, "\\x1b[31m", command=("fetch", "--json", "\x1b[31m"))
        self.ground.refused(3, command=("path", "--json", "nothing-like-it"))

    def test_usage(self):
        for arguments, says, hint in (
            (("fetch",), ["nothing was named"], "sabath"),
            (("fetch", "before", "--lanes", "many"), ["lanes", "many"], ""),
            (("fetch", "before", "--lanes", "0x10"), ["lanes"], ""),
            (("fetch", "before", "--lane"), ["--lane"], ""),
            (("fetch", "before", "--rewrite", "nonsense"), ["--rewrite", "nonsense"], "PREFIX=PREFIX"),
            (("fetch", "before", "--limit-rate", "fast"), ["fast"], ""),
            (("fetch", "before", "--manifest", "/no/such"), ["/no/such"], "manifest create"),
            (("fetch", "before", "--path", "/no/such"), ["/no/such"], "--path"),
            (("fech", "before"), ["fech"], "fetch"),
            (("fetch", "before", "--config", "/no/such"), ["/no/such"], ""),
            (("fetch", "before", "--\x1b[31m"), ["\\x1b[31m"], ""),
        ):
            with self.subTest(" ".join(arguments)):
                self.ground.refused(2, *says, command=(*arguments, "--json"), hint=hint or None)

    def test_malformed_configuration(self):
        config = self.ground.directory / "mine.json"
        for text, says in (('{"lanez": 4}', ["mine.json:1:", '"lanez"', '"lanes"']), ("{", ["mine.json:1:"])):
            config.write_text(text)
            self.ground.fails(12, *says, command=("fetch", "--json", "before", "--config", config))

    def test_offline(self):
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok")))
        self.ground.refused(9, "bad", command=("fetch", "--json", "--offline", "bad"), hint="--offline")
        self.assertEqual(self.ground.fetch("before", "--offline").exit, 0)
        self.ground.refused(9, "bad", command=("path", "--json", "bad"), hint="sabath fetch bad")


if __name__ == "__main__":
    main()
