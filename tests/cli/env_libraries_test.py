#!/usr/bin/python3
"""Libraries that a packed environment needs: those of Python's own modules stop nothing, others are named with who needs them."""

import json
import shutil
import subprocess
import unittest

from support import python_prefix
from support.case import Case, main
from support.packed_lock import skip_without_tools

setUpModule = skip_without_tools
ABSENT = "libnowhere.so.9"


class Libraries(Case):
    def setUp(self):
        super().setUp()
        self.base = python_prefix.interpreter(self.home / "interpreter")
        self.mine = python_prefix.install(python_prefix.venv(self.base, self.home / "mine"))

    def pack(self, code=0):
        result = self.expect(self.sabath.run("env", "pack", "horn", self.mine, "--json"), code)
        return python_prefix.with_view(self.sabath, json.loads(result.out), "horn")

    def as_if_absent(self, record, key, needs):
        """The same environment, which also needs a library that no machine has."""
        tree = self.home / key
        shutil.copytree(record["path"], tree, symlinks=True)
        note = json.loads((tree / "environment.json").read_text())
        note[key].append(ABSENT)
        note["needed_by"][ABSENT] = needs
        (tree / "environment.json").chmod(0o644)
        (tree / "environment.json").write_text(json.dumps(note))
        self.expect(self.sabath.run("adopt", tree, "--name", key))
        return key

    def test_of_pythons_own_modules(self):
        record = self.pack()
        note = json.loads((python_prefix.site(record["path"]).parents[2] / "environment.json").read_text())
        self.assertEqual(note["optional_libraries"], record["optional_libraries"])
        self.assertEqual(sorted(note["needed_by"]), sorted(record["system_libraries"] + record["optional_libraries"]))
        self.assertIn("libc.so.6", record["system_libraries"])
        self.assertFalse(set(record["system_libraries"]) & set(record["optional_libraries"]))
        for library in record["optional_libraries"]:
            self.assertIn("/lib-dynload/", note["needed_by"][library])
        name = self.as_if_absent(record, "optional_libraries", "lib/python3.9/lib-dynload/_tkinter.so")
        said = self.expect(self.sabath.run("stage", "--env", name, "--to", self.home / "node")).err
        self.assertIn(f"{ABSENT} (for lib/python3.9/lib-dynload/_tkinter.so)", said)
        shown = self.expect(self.sabath.run("env", "show", name, "--json")).record
        self.assertEqual((shown["against"], shown["fits"]), ([], True))
        self.assertEqual(shown["not_loadable"], [f"{ABSENT} (for lib/python3.9/lib-dynload/_tkinter.so)"])

    def test_of_packages(self):
        name = self.as_if_absent(self.pack(), "system_libraries", "lib/python3.9/site-packages/drum.so")
        said = self.expect(self.sabath.run("stage", "--env", name, "--to", self.home / "node"), 11).err
        self.assertIn(f"{ABSENT} (for lib/python3.9/site-packages/drum.so)", said)
        self.assertIn("accept by name", said)
        self.assertFalse((self.home / "node").exists())
        self.assertFalse(self.expect(self.sabath.run("env", "show", name, "--json")).record["fits"])

    @unittest.skipUnless(shutil.which("cc"), "no compiler is here")
    def test_a_directory_that_cannot_be_read_is_passed_over(self):
        circle = self.home / "circle"
        circle.symlink_to(circle)
        (self.home / "skin.c").write_text("int skin(void) { return 1; }\n")
        module = python_prefix.site(self.mine) / "drum.so"
        subprocess.run(["cc", "-shared", self.home / "skin.c", "-o", module, "-fPIC", "-Wl,--no-as-needed", "-lm", f"-Wl,-rpath,{circle}/lib"], check=True)
        record = self.pack()
        (remark,) = [one for one in record["remarks"] if str(circle) in one]
        self.assertIn("drum.so", remark)
        self.assertIn("libm.so.6", record["system_libraries"])

    @unittest.skipUnless(shutil.which("dash"), "dash is not here")
    def test_a_shell_that_names_no_file_gets_a_failure(self):
        tree = self.pack()["path"]
        done = subprocess.run(["dash", "-c", f". '{tree}/bin/activate'; echo $?; python -c ''"], capture_output=True, text=True, env={"PATH": "/nonexistent:/usr/bin:/bin"})
        self.assertEqual(done.stdout, "1\n", done.stderr)
        self.assertIn("SABATH_ENV", done.stderr)

    def test_deactivate_leaves_an_active_venv_as_it_was(self):
        tree = self.pack()["path"]
        line = f"VIRTUAL_ENV=/some/venv; export VIRTUAL_ENV; . '{tree}/bin/activate'; echo \"[$VIRTUAL_ENV]\"; deactivate; echo \"[$VIRTUAL_ENV]\""
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(done.stdout, "[]\n[/some/venv]\n", done.stderr)


if __name__ == "__main__":
    main()
