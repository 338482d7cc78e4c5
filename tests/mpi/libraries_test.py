#!/usr/bin/python3
"""The program is linked with no MPI: it takes the launcher's, by a plug-in, and a launcher without one is told what to do."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

from support import program
from support.case import main
from support.content import fragment, seeded
from support.ranks import MPIRUN, Ranks

BUILD = pathlib.Path(__file__).parents[2] / "scripts/build-mpi-plugin"
DATA = seeded(100_000, 7)


class Libraries(Ranks):
    def setUp(self):
        super().setUp()
        self.sabath.add("one", [fragment(self.serve({"f": DATA}).url("f"), DATA, path="f")])

    def doctor(self, code=0, **variables):
        record = self.expect(self.sabath.run("doctor", "--json", **variables), code).record
        (check,) = [check for check in record["checks"] if check["name"] == "MPI"]
        return check

    def move(self):
        """From here on the program is a copy without plug-ins for MPI."""
        self.addCleanup(setattr, program, "BINARY", program.BINARY)
        original = pathlib.Path(program.BINARY)
        copy = self.home / "moved"
        (copy / "bin").mkdir(parents=True)
        program.BINARY = shutil.copy(original, copy / "bin")
        for plugin in original.parents[1].glob("lib*/sabath/libsabath_*.so"):
            place = copy / plugin.relative_to(original.parents[1])
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(plugin, place)
        return copy

    def test_no_mpi_is_linked(self):
        needed = subprocess.run(["ldd", program.BINARY], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertNotIn("libmpi", needed)
        self.assertIn("libc.so", needed)  # so ldd tells what there is

    def test_a_launcher_without_a_usable_mpi(self):
        for library, why in (("/nowhere/libmpi.so", "/nowhere/libmpi.so: not there"), ("x.so", "not an absolute path")):
            self.finish(self.start(2, "fetch", "one", SABATH_LIBMPI=library))
            for rank in range(2):
                self.assertEqual(self.text("code", rank).strip(), "10", self.said())
                self.assertIn("no MPI can be used: ", self.text("err", rank))
                self.assertIn(why, self.text("err", rank))
                self.assertIn("module load", self.text("err", rank))
        alone = self.sabath.run("fetch", "one", SABATH_LIBMPI="/nowhere/libmpi.so")
        self.expect(alone)  # no launcher, no MPI

    def test_a_plugin_is_built_where_it_is_needed(self):
        compiler = shutil.which("mpicc.mpich" if "mpich" in MPIRUN[0] else "mpicc")
        if compiler is None:
            self.skipTest("there is no mpicc")
        self.move()
        self.finish(self.start(2, "fetch", "one"))
        self.assertEqual([self.text("code", rank).strip() for rank in range(2)], ["10", "10"], self.said())
        self.assertIn("no plug-in for ", self.text("err", 1))
        self.assertIn("build-mpi-plugin", self.text("err", 1))

        data = self.home / "data"
        built = subprocess.run([BUILD, compiler], env={**self.sabath.environment, "XDG_DATA_HOME": str(data)},
                               stdout=subprocess.PIPE, text=True, check=True).stdout
        plugin = pathlib.Path(re.search(r"built (\S+\.so) with ", built)[1])
        self.assertEqual(plugin.parent, data / "sabath/mpi")
        self.assertNotIn("libmpi", subprocess.run(["ldd", plugin], stdout=subprocess.PIPE, text=True, check=True).stdout)
        shown = subprocess.run(["nm", "-D", "--defined-only", plugin], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual([line.split()[2] for line in shown.splitlines()], ["sabath_mpi_table"])
        asset = self.fetch_by(2, "one", XDG_DATA_HOME=str(data))
        self.expect_tree(asset["path"], {"f": DATA})

        plugin.chmod(0o666)
        self.finish(self.start(2, "fetch", "one", XDG_DATA_HOME=str(data)))
        self.assertIn("others may write it (mode 666)", self.text("err", 0))

    @unittest.skipUnless(shutil.which("mpiexec.mpich") and shutil.which("mpirun.openmpi"), "needs both of Debian's MPIs")
    def test_doctor_tells_of_each(self):
        mine = self.doctor()
        self.assertRegex(mine["text"], r"^Open MPI v\S+: /\S+/libmpi\.so\.40, ABI `openmpi`, by /\S+-openmpi\.so; not used: ")
        self.assertRegex(mine["text"], r"/libmpich\.so\.12: MPICH Version: \S+, but the launcher is of Open MPI")
        other = self.doctor(PMI_RANK="0", PMI_SIZE="2")
        self.assertRegex(other["text"], r"^MPICH Version: \S+: /\S+/libmpich\.so\.12, ABI `mpich`, by /\S+-mpich\.so; ")
        self.assertRegex(other["text"], r"/libmpi\.so\S*: Open MPI v\S+, but the launcher is of MPICH")

    def test_doctor_speaks_once(self):
        """And of another node only what fails there."""
        process = self.launch(3, [program.BINARY, "doctor", "--json"])
        (record,) = self.finish(process).splitlines()
        self.assertEqual((json.loads(record)["exit"], process.returncode), (0, 0))
        (self.home / "file").write_text("x")
        first_of_node = ["OMPI_COMM_WORLD_LOCAL_RANK=0", "MPI_LOCALRANKID=0"]
        other = ["env", *first_of_node, f"SABATH_CACHE={self.home / 'file'}", program.BINARY, "doctor"]
        process = self.launch(1, [program.BINARY, "doctor", ":", "-n", "1", *other])
        out, err = process.communicate(timeout=300)
        self.assertEqual((out.count("hash kernel"), out.count("fail ")), (1, 0), out)
        self.assertRegex(err, r": store fails: ")


if __name__ == "__main__":
    main()
