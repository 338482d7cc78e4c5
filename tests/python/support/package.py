"""A case of the Python package `sabath`: a session on a store of its own, and recipes in it."""

import json
import os
import subprocess
import sys

import sabath
from support import program
from support.case import Case, place
from support.content import fragment, seeded

os.environ["SABATH_PROGRAM"] = program.BINARY
ROUNDS = int(os.environ.get("SABATH_PYTHON_ROUNDS", "1"))  # scripts/test --part python: more


def own_environment(environment):
    """The library reads the test's environment, and not the caller's."""
    kept = ("SABATH_LIBRARY", "SABATH_PROGRAM", "SABATH_BINARY")
    for name in [name for name in os.environ if name.startswith("SABATH_") and name not in kept]:
        del os.environ[name]
    os.environ.update({name: environment[name] for name in ("HOME", "SABATH_CACHE", "SABATH_RECIPES")})


class PackageCase(Case):
    def setUp(self):
        super().setUp()
        own_environment(self.sabath.environment)
        self.session = sabath.Session()
        self.addCleanup(self.session.close)

    def one(self, size=9_000_000, name="one", **server):
        """An asset of one file, from an nginx."""
        data = seeded(size)
        origin = self.serve({f"{name}.bin": data}, name=f"origin-{name}", **server)
        self.sabath.add(name, [fragment(origin.url(f"{name}.bin"), data, path=f"d/{name}.bin")], version="1.0")
        return data, origin

    def many(self, count, content, name="many"):
        """An asset of files in a list; a thousand or more stand in packs."""
        names = [f"train/{number:05}.bin" for number in range(count)]
        for number, path in enumerate(names):
            place(self.home / "files" / path, content(number))
        (self.home / "files/list.txt").write_text("".join(f"{path}\n" for path in names))
        self.sabath.add(name, [{"id": "all", "type": "file_list", "urls": [f"file://{self.home}/files/list.txt"]}])
        return names

    def python(self, code, *arguments, **variables):
        """Another Python with this text as its program."""
        return subprocess.Popen([sys.executable, "-X", "dev", "-W", "error", "-c", code, *map(str, arguments)], cwd=self.home,
                                env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip

    def run_python(self, code, *arguments, **variables):
        """Its output, as JSON."""
        process = self.python(code, *arguments, **variables)
        out, err = process.communicate(timeout=program.RUN_SECONDS_MAX)
        self.assertEqual(process.returncode, 0, f"{out}\n{err}")
        return json.loads(out)
