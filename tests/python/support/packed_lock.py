"""A test case of `env pack` with a lock: a small interpreter, wheels on a loopback server."""

import json
import shutil
import subprocess
import unittest

from support import python_prefix
from support.case import Case, use_memory
from support.wheels import Index, make_lock, make_wheel

CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
PROGRAM = b"import sys\n\n\ndef main():\n    print('a note')\n    return 0\n\n\nclass Stand:\n    play = staticmethod(main)\n"


def skip_without_tools():
    use_memory()
    if python_prefix.found() is None:
        raise unittest.SkipTest("no interpreter with a prefix of its own: SABATH_TEST_PYTHON_PREFIX may name one")
    if not shutil.which("patchelf"):
        raise unittest.SkipTest("patchelf is not here")


class PackLock(Case):
    def setUp(self):
        super().setUp()
        self.base = python_prefix.interpreter(self.home / "interpreter")
        self.index = Index(self.home)
        self.shelf = self.index.root / "w"
        self.url = f"{self.index.url}/w"
        self.addCleanup(self.stop)

    def stop(self):
        if self.index:
            self.index.stop()
            self.index = None

    def wheel(self, name="flute", version="1.2", **how):
        return make_wheel(self.shelf, name, version, **how)

    def flute(self, **how):
        files = {
            "flute/__init__.py": b"",
            "flute/note.py": PROGRAM,
            "flute-1.2.data/scripts/blow": b"#!python -E\nimport flute.note\nflute.note.main()\n",
            "flute-1.2.data/headers/flute.h": b"#define FLUTE 1\n",
            "flute-1.2.data/data/share/flute/tune.txt": b"c d e\n",
            "flute-1.2.data/purelib/flute/reed.py": b"x = {1, 2, 'a', 'b'}\n",
        }
        points = "[console_scripts]\nflute = flute.note:main\nstand = flute.note:Stand.play [extra]\n\n[other]\nanything at all\n"
        return self.wheel(files=files, entry_points=points, **how)

    def lock(self, *wheels, name="pylock.toml", **how):
        file = self.home / name
        file.write_text(make_lock(self.url, wheels, **how))
        return file

    def pack(self, lock, *arguments, name="horn", code=0, python=None, **options):
        python = self.base if python is None else python
        named = ("--python", python) if python else ()
        result = self.expect(self.sabath.run("env", "pack", name, lock, *named, *arguments, "--json", **options), code)
        if code or "--store" in arguments:
            return result if code else json.loads(result.out)
        return python_prefix.with_view(self.sabath, json.loads(result.out), name)

    def python(self, tree, *arguments):
        done = subprocess.run([f"{tree}/bin/python3", *arguments], capture_output=True, text=True, env=CLEAN, cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def same(self, one, other):
        if one["manifest"] != other["manifest"]:
            self.fail(subprocess.run(["diff", "-rq", one["path"], other["path"]], capture_output=True, text=True).stdout)
