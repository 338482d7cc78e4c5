#!/usr/bin/python3
"""A program without its plugins: look-ups work, all else says what is missing and where it belongs."""

import pathlib
import shutil

from support import program
from support.case import Case, main
from support.content import fragment, seeded

DATA = seeded(100_000, 3)


class Alone(Case):
    def setUp(self):
        super().setUp()
        self.binary = pathlib.Path(program.BINARY)
        plugins = list(self.binary.parents[1].glob("lib*/sabath/libsabath?*.so"))
        if not any(plugin.name == "libsabath_io.so" for plugin in plugins):
            self.skipTest("a build without plugins")
        self.addCleanup(setattr, program, "BINARY", program.BINARY)
        self.plugins = {plugin.stem.removeprefix("libsabath")[1:]: plugin for plugin in plugins}
        self.copy = self.home / "program"
        (self.copy / "bin").mkdir(parents=True)

    def leave_out(self, *names):
        """From here on the program is a copy without these plugins."""
        program.BINARY = shutil.copy(self.binary, self.copy / "bin")
        for name, plugin in self.plugins.items():
            if name not in names:
                place = self.copy / plugin.relative_to(self.binary.parents[1])
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(plugin, place)

    def test_without_any_what_is_there_is_found(self):
        server = self.serve({"f": DATA})
        self.sabath.add("one", [fragment(server.url("f"), DATA)])
        self.fetch("one")
        self.leave_out(*self.plugins)
        self.expect(self.sabath.run("path", "one"))
        self.expect(self.sabath.run("list"))
        self.assertEqual(self.fetch("one")["fetched_bytes"], 0)
        result = self.expect(self.sabath.run("fetch", "--force", "one"), 70)
        self.assertIn("libsabath_io.so", result.err)
        self.assertIn("install both together", result.err)

    def test_version_and_doctor_name_what_is_missing(self):
        self.leave_out("io")
        result = self.expect(self.sabath.run("--version"), 70)
        self.assertRegex(result.out, r"MPI +\S+ [^\n]+\n +HDF5 +missing\n +built with libcurl")
        self.assertIn("cannot load libsabath_io.so", result.err)
        checks = {check["name"]: check for check in self.sabath.run("doctor", "--json").record["checks"]}
        for name in ("HDF5", "fetchers"):
            self.assertEqual(checks[name]["state"], "fail")
            self.assertIn("libsabath_io.so", checks[name]["text"])
        self.assertEqual(checks["MPI"]["state"], "ok")


if __name__ == "__main__":
    main()
