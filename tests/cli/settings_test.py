#!/usr/bin/python3
"""Where settings come from, and what `config` and `doctor` say of them."""

import json
import shutil

from support.case import Case, main
from support.content import fragment


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

    def test_a_wrong_file_is_named_with_its_line(self):
        file = self.write(self.home / "c.json", '{\n "lanes": 4,\n "stroe": "/x"\n}')
        result = self.expect(self.sabath.run("list", "--config", file), 12)
        self.assertIn(f"{file}:3:", result.err)
        self.assertIn('"store"', result.err)
        self.expect(self.sabath.run("list", "--config", self.home / "none.json"), 2)

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

    def test_a_store_that_cannot_be(self):
        (self.home / "file").write_text("x")
        result = self.sabath.run("doctor", "--store", self.home / "file")
        self.assertNotEqual(result.exit, 0)
        self.assertIn("fail", result.out)

    def test_the_launcher(self):
        if shutil.which("mpirun") is None:
            self.skipTest("there is no mpirun")
        mpi = self.check("MPI")[0]["text"]
        if "Open MPI" not in mpi:
            self.skipTest(f"built with {mpi}")
        self.assertEqual(self.check("launcher")[0]["state"], "ok")
        (check,) = self.check("launcher", PMI_RANK="0", code=2)
        self.assertEqual(check["state"], "fail")


if __name__ == "__main__":
    main()
