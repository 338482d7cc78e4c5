"""The ground on which the tests of bad input stand: a store that holds one good asset, recipes, and servers.

A Ground is one user's world: a home, a store, recipes and a configuration of its own. `refused` runs a fetch that must
fail and checks what every failure owes its user: the exit code, a valid record that says the same, a message that
names what was tried, nothing new in the store, and what was there before still whole. Unlike a Case, it has
configuration that a test changes, and one server for a whole class.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import program
from support.case import main  # noqa: F401
from support.content import checksums, seeded_bytes
from support.program import Result

FAULT_SERVER = os.environ.get("SABATH_FAULT_SERVER", "sabath-fault-server")
TIMEOUT_S = 600


class FaultServer:
    """The program sabath-fault-server; `stop` returns what it counted."""

    def __init__(self):
        self.process = subprocess.Popen([FAULT_SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def url(self, target):
        return f"http://127.0.0.1:{self.port}{target}"

    def stop(self):
        if self.process.poll() is not None:
            return None
        counted, _ = self.process.communicate()
        return json.loads(counted)


class Ground:
    def __init__(self, test, directory=None):
        self.test = test
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="sabath-faults-"))
        if directory is None:
            test.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.store = self.directory / "store"
        self.recipes = self.directory / "recipes"
        (self.recipes / "datasets").mkdir(parents=True)
        (self.recipes / "models").mkdir()
        self.config = {"stall_timeout_s": 1, "connect_timeout_s": 3}
        self.variables = {}  # of the environment
        self.prefix = []  # words before the command, e.g. setpriv and its options

    # --- recipes ------------------------------------------------------------------------------------------------
    def write_recipe(self, name, text):
        path = self.recipes / "datasets" / f"{name}.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def recipe(self, name, *fragments, **keys):
        data = {"schema": 1, "kind": "dataset", "name": name, "fragments": list(fragments), **keys}
        return self.write_recipe(name, json.dumps(data))

    @staticmethod
    def fragment(urls, kind="file", **keys):
        urls = [urls] if isinstance(urls, str) else urls
        if kind == "file":
            keys.setdefault("path", "f.bin")
        return {"id": keys.pop("id", "main"), "type": kind, "urls": urls, **keys}

    # --- runs ---------------------------------------------------------------------------------------------------
    def environment(self):
        config = self.directory / "config.json"
        config.write_text(json.dumps(self.config))
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory),
            "LC_ALL": "C.UTF-8",
            "SABATH_CONFIG": str(config),
            "SABATH_CACHE": str(self.store),
            "SABATH_RECIPES": str(self.recipes),
            **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")},
            **self.variables,
        }

    def run(self, *arguments, **options):
        """Its output is read as bytes: a carriage return among them is a control byte, too."""
        command = [*self.prefix, program.BINARY, *map(str, arguments)]
        done = subprocess.run(command, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_S, check=False, **options)
        return Result(done.returncode, *(text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr)))

    def fetch(self, name, *arguments, **options):
        return self.run("fetch", "--json", name, *arguments, **options)

    def visible(self):
        """Every name in the store that a reader could take for content, with its size."""
        found = {}
        for folder in ("objects", "manifests", "views"):
            for path in sorted((self.store / folder).rglob("*")):
                if path.is_symlink() or not path.is_dir():
                    found[str(path.relative_to(self.store))] = path.lstat().st_size
        return found

    def have_before(self, url, data):
        """Fetches the asset that must outlive all that the test does: 'before'."""
        self.recipe("before", self.fragment(url, size=len(data), checksum=checksums(data)))
        self.succeeds("before", data)

    # --- judgements ---------------------------------------------------------------------------------------------
    def clean(self, result):
        """The promises of every run: no raw control bytes, one valid record with the process's exit code, no defect."""
        test = self.test
        for stream in (result.out, result.err):
            test.assertNotRegex(stream, r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", "control bytes reached the terminal")
        test.assertEqual(result.record["exit"], result.exit, result)
        test.assertNotIn("internal", [kind for kind, _ in result.failures], result)
        test.assertEqual(bool(result.failures), result.exit != 0, result)

    def verified(self):
        result = self.run("verify", "--json")
        self.test.assertEqual(result.exit, 0, result)
        return result

    def succeeds(self, name, data=None, *arguments):
        result = self.fetch(name, *arguments)
        self.test.assertEqual(result.exit, 0, result)
        self.clean(result)
        if data is not None:
            path = pathlib.Path(result.record["assets"][0]["path"]) / "f.bin"
            self.test.assertEqual(path.read_bytes(), data)
        return result

    def fails(self, exit_code, *says, command=("fetch", "--json", "bad"), hint=None, **options):
        """A run that must fail so, without a trace among the content. `says`: words of the message."""
        before = self.visible()
        result = self.run(*command, **options)
        self.test.assertEqual(result.exit, exit_code, result)
        self.clean(result)
        for word in says:
            self.test.assertIn(word, result.err, result)
            self.test.assertTrue(any(word in message for _, message in result.failures), f"{word!r} in {result}")
        if hint is not None:
            self.test.assertIn(hint, result.err.partition("hint:")[2], result)
        self.test.assertEqual(self.visible(), before, result)
        return result

    def refused(self, exit_code, *says, **keys):
        """`fails`, and the store is whole after it."""
        result = self.fails(exit_code, *says, **keys)
        self.verified()
        if os.environ.get("SABATH_FAULTS_TABLE"):  # a line for each case, for people
            print(f"{exit_code} | {result.failures[0][1]}", file=sys.stderr)
        return result


class FaultCase(unittest.TestCase):
    """Tests with a fault server for the whole class and a ground, with the asset 'before' in its store, for each."""

    before = seeded_bytes(5000, 7)

    @classmethod
    def setUpClass(cls):
        cls.server = FaultServer()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.ground = self.new_ground()

    def new_ground(self, directory=None):
        ground = Ground(self, directory)
        ground.have_before(self.server.url("/ok?size=5000&seed=7"), self.before)
        return ground

    def side_by_side(self, cases, check):
        """`check(case)` for all cases at once: most of their time is the pauses between attempts."""
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            running = [(case, pool.submit(check, case)) for case in cases]
            for case, future in running:
                with self.subTest(case=case.name):
                    future.result()
