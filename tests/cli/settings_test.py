#!/usr/bin/python3
"""The sources of settings, and their display by `config` and `doctor`."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time

from support import program
from support.case import Case, main, place, remove
from support.content import fragment, seeded
from support.metered import Metered


class Settings(Case):
    def setting(self, key, *arguments, **variables):
        settings = self.expect(self.sabath.run("config", "--json", *arguments, **variables)).record["settings"]
        return settings[key]["value"], settings[key]["origin"]

    def write(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return str(file)

    def test_precedence_of_the_store(self):
        del self.sabath.environment["SABATH_CACHE"]
        self.assertEqual(self.setting("store"), (f"{self.home}/.cache/sabath", "default"))
        self.assertEqual(self.setting("store", SCRATCH="/s")[0], "/s/.sabath")
        user = self.write(self.home / ".config/sabath/config.json", '{"store": "~/mine"}')
        self.assertEqual(self.setting("store", SCRATCH="/s"), (f"{self.home}/mine", user))
        self.assertEqual(self.setting("store", SABATH_CACHE="/e"), ("/e", "SABATH_CACHE"))
        self.assertEqual(self.setting("store", "--cache", "/f", SABATH_CACHE="/e"), ("/f", "--store"))
        other = self.write(self.home / "other.json", '{"store": "here"}')
        self.assertEqual(self.setting("store", "--config", other), (f"{self.home}/here", other))
        self.assertEqual(self.setting("store", SABATH_CONFIG=other), (f"{self.home}/here", other))

    def test_two_names_of_the_store(self):
        place = str(self.home / "by another name")
        del self.sabath.environment["SABATH_CACHE"]
        shown = self.expect(self.sabath.run("config", SABATH_STORE=place)).out
        self.assertRegex(shown, rf"(?m)^store +{place} +SABATH_STORE$")
        self.expect(self.sabath.run("config", SABATH_STORE=place, SABATH_CACHE=place))
        said = self.expect(self.sabath.run("list", SABATH_STORE=place, SABATH_CACHE="/other"), 2).err
        self.assertIn(f"SABATH_STORE is {place}, SABATH_CACHE is /other, and both name the store", said)
        self.assertIn("hint: unset one of them", said)
        self.expect(self.sabath.run("list", "--store", place, SABATH_STORE=place, SABATH_CACHE="/other"))  # the option says

    def test_a_variable_that_nothing_reads_is_warned_of_at_a_terminal(self):
        variables = {"SABATH_STROE": "/x", "SABATH_RECIPE": "/y"}
        self.assertNotIn("SABATH_STROE", self.expect(self.sabath.run("list", **variables)).err)
        master, terminal = pty.openpty()
        done = subprocess.run([program.BINARY, "list"], env={**self.sabath.environment, **variables}, stdout=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, stderr=terminal, timeout=60, check=True)  # fmt: skip
        os.close(terminal)
        said = os.read(master, 65536).decode()
        os.close(master)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(said.count("warning: SABATH reads no variable"), 1, said)
        self.assertIn("SABATH_RECIPE (did you mean SABATH_RECIPES?), SABATH_STROE (did you mean SABATH_STORE?)", said)
        self.assertIn("`sabath help variables` shows all", said)

    def test_a_wrong_file_is_named_with_its_line(self):
        file = self.write(self.home / "c.json", '{\n "lanes": 4,\n "stroe": "/x"\n}')
        result = self.expect(self.sabath.run("list", "--config", file), 12)
        self.assertIn(f"{file}:3:", result.err)
        self.assertIn('"store"', result.err)
        self.expect(self.sabath.run("list", "--config", self.home / "none.json"), 2)

    def test_a_working_directory_that_has_been_deleted(self):
        lost = {"prefix": ("sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"')}
        result = self.expect(self.sabath.run("list", "--store", "here", **lost), 2)
        self.assertIn("cannot tell where here is: the working directory cannot be read", result.err)
        self.assertIn("absolute paths", result.err)
        self.expect(self.sabath.run("list", **lost))

    def test_offline(self):
        self.assertEqual(self.setting("offline"), ("false", "default"))
        self.assertEqual(self.setting("offline", SABATH_OFFLINE="yes"), ("true", "SABATH_OFFLINE"))
        self.assertEqual(self.setting("offline", "--offline"), ("true", "--offline"))
        self.expect(self.sabath.run("list", SABATH_OFFLINE="maybe"), 2)

    def test_hash_kernel(self):
        self.assertEqual(self.setting("hash_kernel"), ("auto", "default"))
        file = self.write(self.home / "kernel.json", '{"hash_kernel": "openssl"}')
        self.assertEqual(self.setting("hash_kernel", "--config", file), ("openssl", file))
        self.assertEqual(self.setting("hash_kernel", SABATH_HASH_KERNEL="openssl"), ("openssl", "SABATH_HASH_KERNEL"))
        result = self.expect(self.sabath.run("list", SABATH_HASH_KERNEL="abacus"), 2)
        self.assertIn("openssl", result.err)

    def test_the_original_tree_is_found(self):
        folder = self.home / "root/var/sabath/assets/sabath/datasets/o"
        folder.mkdir(parents=True)
        (folder / "old.json").write_text(json.dumps(
            {"name": "old", "fragments": [{"id": "main", "url": "http://a.example/f", "type": "file"}]}))  # fmt: skip
        for arguments, variables in ((["--root", self.home / "root"], {}), ([], {"SABATH_ROOT": str(self.home / "root")})):
            result = self.expect(self.sabath.run("list", "--names", *arguments, **variables))
            self.assertIn("old", result.lines)


class Witness(Metered):
    """Notes which jobs the stores' leases and reservations name while it is asked."""

    def __init__(self, home, files):
        self.home, self.jobs = home, {}
        super().__init__(files, hold=0.02)

    def answer(self, handler):
        for file in [*self.home.rglob("leases/*"), *self.home.rglob("reservations/*")]:
            try:
                self.jobs[file.name] = json.loads(file.read_text())["job"]
            except (FileNotFoundError, ValueError):  # it ended, or is being written
                continue
        super().answer(handler)


class EveryVerb(Case):
    """What the configuration and the batch system say holds for every verb that moves bytes."""

    def setUp(self):
        super().setUp()
        self.files = {f"f{i}": seeded(50_000 + i, i) for i in range(16)}
        self.server = Witness(self.home, self.files)
        self.addCleanup(self.server.stop)
        parts = [fragment(self.server.url(n), data, name=n, path=n) for n, data in self.files.items()]
        self.sabath.add("set", parts)
        source = self.home / "served"
        for name, data in self.files.items():
            place(source / name, data)
        pin = self.home / "set.manifest"
        made = self.expect(self.sabath.run("manifest", "create", "--json", source, "-o", pin)).record
        self.sabath.add("pinned", parts, manifest={"digest": made["manifest"], "urls": [f"file://{pin}"]})
        place(self.sabath.recipes / "models/model/step.py", b"")
        self.sabath.add("model", kind="model", source="model", run={"set": [{"argv": ["true"]}]})
        self.sabath.environment["SABATH_PYTHON"] = sys.executable
        self.config = self.home / "config.json"
        to = ["--to", self.home / "node"]
        self.verbs = {
            "fetch": ["fetch", "set"],
            "stage": ["stage", "set", *to],
            "past the store": ["stage", "set", "--bypass-shared", *to],
            "past the store, in parts": ["stage", "pinned", "--bypass-shared", *to],
            "run": ["run", "model", "--run-dir", self.home / "record"],
            "repair": ["verify", "--repair"],
        }

    def run_anew(self, verb, code=0, **variables):
        """With no store, or with one whose objects are lost."""
        for directory in ("node", "store", "record"):
            shutil.rmtree(self.home / directory, ignore_errors=True)
        if verb == "repair":
            self.expect(self.sabath.run("fetch", "set"))
            shutil.rmtree(self.sabath.store / "objects")
        self.server.most, self.server.jobs, self.server.answers = 0, {}, []
        begin = time.monotonic()
        result = self.expect(self.sabath.run(*self.verbs[verb], "--config", self.config, **variables), code)
        return result, time.monotonic() - begin

    def test_lanes(self):
        self.config.write_text('{"lanes": 1}')
        for verb in self.verbs:
            with self.subTest(verb):
                self.run_anew(verb)
                self.assertEqual(self.server.most, 1)

    def test_limit_rate(self):
        self.config.write_text('{"limit_rate": "1M"}')
        for verb in self.verbs:
            with self.subTest(verb):
                self.assertGreater(self.run_anew(verb)[1], 0.6)  # of 0.8 s; a tenth of one may be saved up

    def test_the_job(self):
        self.config.write_text("{}")
        for verb in self.verbs:
            with self.subTest(verb):
                self.run_anew(verb, SLURM_JOB_ID="4711")
                self.assertEqual(set(self.server.jobs.values()), {"slurm 4711"})

    def test_the_deadline(self):
        self.config.write_text("{}")
        for verb in self.verbs:
            if verb == "past the store, in parts" or verb == "repair":
                continue
            with self.subTest(verb):
                result, _ = self.run_anew(verb, 5, SLURM_JOB_ID="4711", SLURM_JOB_END_TIME="1000000000")
                self.assertIn("SLURM_JOB_END_TIME", result.err)
                self.assertEqual(self.server.answers, [])


class Doctor(Case):
    def checks(self, *arguments, code=0, **variables):
        record = self.expect(self.sabath.run("doctor", "--json", *arguments, **variables), code).record
        for check in record["checks"]:
            self.assertEqual(set(check), {"name", "state", "text", "remedy"})
            self.assertIn(check["state"], ("ok", "warn", "fail"))
            self.assertEqual(check["state"] == "ok", check["remedy"] is None, check)
        return record["checks"]

    def check(self, name, *arguments, **options):
        return [check for check in self.checks(*arguments, **options) if check["name"] == name]

    def test_a_broken_recipe_is_named(self):
        self.sabath.add("good", [fragment("http://a.example/f")])
        broken = self.sabath.recipes / "datasets/broken.json"
        broken.write_text('{"schema": 1,\n "kind": "dataset",\n "name": 5}')
        (check,) = [check for check in self.check("recipes", code=12) if check["state"] == "fail"]
        self.assertIn(f"{broken}:3", check["text"])
        self.assertIn(str(broken), check["remedy"])
        result = self.expect(self.sabath.run("list"))
        self.assertIn("good", result.out)
        self.assertIn(f"warning: left out: {broken}:3", result.err)
        self.assertIn(str(broken), self.sabath.run("doctor").out)

    def test_a_place_without_recipes_is_named(self):
        checks = self.check("recipes", SABATH_RECIPES=f"{self.home}/nowhere")
        self.assertTrue(any(f"{self.home}/nowhere" in check["text"] and check["state"] == "warn" for check in checks))

    def test_a_proxys_password_is_not_shown(self):
        (check,) = self.check("proxies", https_proxy="http://me:secret@proxy.example:3128")
        self.assertIn("***@proxy.example:3128", check["text"])
        self.assertNotIn("secret", check["text"])

    def test_the_stores_place(self):
        (check,) = self.check("store")
        self.assertIn(str(self.sabath.store), check["text"])
        for name in ("filesystem", "traits", "space", "inodes"):
            self.assertEqual(len(self.check(name)), 1, name)
        self.assertEqual(self.check("home")[0]["state"], "warn")  # the store of these tests is below HOME

    def test_a_store_in_the_home_directory_is_said_once(self):
        """Not of a store that a setting names."""
        server = self.serve({"f": b"1"})
        self.sabath.add("one", [fragment(server.url("f"))])
        said = "in your home directory, and counts against its quota: --store DIR or SABATH_STORE names another place"
        chosen = self.sabath.environment.pop("SABATH_CACHE")
        for variables, told in (({"SABATH_CACHE": chosen}, False), ({"XDG_CACHE_HOME": f"{self.home}-elsewhere"}, False),
                                ({}, True), ({}, False)):  # fmt: skip
            result = self.expect(self.sabath.run("fetch", "one", **variables))
            self.assertEqual(said in result.err, told, result)
        remove(f"{self.home}-elsewhere")

    def test_a_store_that_cannot_be(self):
        (self.home / "file").write_text("x")
        result = self.sabath.run("doctor", "--store", self.home / "file")
        self.assertNotEqual(result.exit, 0)
        self.assertIn("fail", result.out)

    def test_the_launcher(self):
        if shutil.which("mpirun") is None:
            self.skipTest("there is no mpirun")
        (mpi,) = self.check("MPI")
        if "Open MPI" not in mpi["text"]:
            self.skipTest(f"this MPI is {mpi['text']}")
        self.assertEqual(self.check("launcher")[0]["state"], "ok")
        self.assertRegex(mpi["text"], r"^Open MPI v\S+: /\S+/libmpi\.so\S*, ABI `openmpi`, by /\S+/libsabath-mpi-openmpi\.so")
        asked = {"SABATH_LIBMPI": re.search(r"/\S+/libmpi\.so[.\d]*", mpi["text"])[0]}
        self.assertEqual(self.check("MPI", **asked)[0]["text"], mpi["text"].partition("; not used")[0])
        for variables, why in (
            ({"SABATH_LIBMPI": "libmpi.so.40"}, "SABATH_LIBMPI=libmpi.so.40: not an absolute path"),
            ({"SABATH_LIBMPI": "/nowhere/libmpi.so"}, "/nowhere/libmpi.so: not there"),
            ({"SABATH_LIBMPI": str(self.home)}, f"{self.home}: cannot read file data: Is a directory"),
        ):
            (check,) = self.check("MPI", code=10, **variables)
            self.assertEqual((check["state"], "none can be used" in check["text"]), ("fail", True))
            self.assertIn(why, check["text"])
            self.assertIn("module load", check["remedy"])


if __name__ == "__main__":
    main()
