#!/usr/bin/python3
"""`env lock`: requirements resolved by the real uv and pip from a loopback index, without running code of a package; conda by a
stand-in; the lock is the same at two places, and pip and uv install from it."""

import json
import os
import shutil
import subprocess
import sys
import tomllib

from support import clients
from support.case import Case, main
from support.wheels import Index, digest

UV = next((str(one) for one in (clients.PYTHON.parent / "uv", shutil.which("uv")) if one and os.access(one, os.X_OK)), None)
PIP = "/usr/bin/pip"
TARGET = ("--python", "3.11", "--platform", "x86_64", "--glibc", "2.28")


class EnvLock(Case):
    def setUp(self):
        super().setUp()
        self.index = Index(self.home)
        self.addCleanup(self.index.stop)
        self.mark = self.home / "ran"
        self.bin = self.home / "bin"
        self.bin.mkdir()
        self.variables = {"PATH": f"{self.bin}:/usr/bin:/bin", "UV_CACHE_DIR": str(self.home / "uv"), "PIP_NO_CACHE_DIR": "1"}

    def resolvers(self):
        found = []
        if UV:
            (self.bin / "uv").symlink_to(UV)
            found.append("uv")
        if os.access(PIP, os.X_OK):
            found.append("pip")
        if not found:
            self.skipTest("neither uv nor pip is here: scripts/setup clients, or python3-pip")
        return found

    def lock(self, text, *arguments, code=0, name="requirements.txt", index=True, target=TARGET, **variables):
        (self.home / name).write_text(text)
        named = ("--index", self.index.url) if index else ()
        return self.expect(self.sabath.run("env", "lock", "--json", name, *target, *named, *arguments, **{**self.variables, **variables}), code)

    def refused(self, kind, said, *arguments, **options):
        exits = {"invalid": 12, "not_found": 3, "command": 11, "usage": 2, "offline": 9, "content": 7}
        error = self.lock(*arguments, code=exits[kind], **options).record["error"]
        self.assertEqual(error["kind"], kind)
        for text in [said] if isinstance(said, str) else said:
            self.assertIn(text, error["message"])
        self.assertFalse(self.mark.exists(), "code of a package ran")
        self.assertFalse((self.home / "pylock.toml").exists())
        return error


class Resolved(EnvLock):
    def test_by_the_users_programs(self):
        self.index.wheel("top", "1.0", "lower>=1", "extra-lower; extra == 'more'", "other; sys_platform == 'win32'", extras=["more"])
        self.index.wheel("top", "2.0", "lower<2", "extra-lower; extra == 'more'", tag="cp311-cp311-manylinux_2_28_x86_64")
        self.index.wheel("top", "2.0", "lower<2", "extra-lower; extra == 'more'", tag="cp311-cp311-manylinux_2_34_x86_64")
        lower = self.index.wheel("lower", "1.5")
        self.index.wheel("lower", "2.0")
        self.index.wheel("extra_lower", "1.0")
        self.index.write()
        for resolver in self.resolvers():
            with self.subTest(resolver):
                record = self.lock("top[more]  # a comment\nabsent ; python_version < '3'\n", "--resolver", resolver).record
                found = {one["name"]: one for one in record["packages"]}
                self.assertEqual({name: one["version"] for name, one in found.items()}, {"top": "2.0", "lower": "1.5", "extra-lower": "1.0"})
                self.assertEqual(found["top"]["file"], "top-2.0-cp311-cp311-manylinux_2_28_x86_64.whl")
                self.assertEqual(found["lower"]["sha256"], f"sha256:{digest(lower)}")
                self.assertEqual((record["resolver"], record["form"], record["changed"]), (resolver, "pylock", True))
                written = tomllib.loads((self.home / "pylock.toml").read_text())
                self.assertEqual([one["name"] for one in written["packages"]], ["extra-lower", "lower", "top"])
                again = self.lock("top[more]", "--resolver", resolver).record
                self.assertFalse(again["changed"])
                (self.home / "pylock.toml").unlink()

    def test_no_code_runs(self):
        self.index.sdist("hostile", "1.0", self.mark)
        self.index.wheel("leads", "1.0", f"hostile @ {self.index.url}/hostile/hostile-1.0.tar.gz")
        self.index.wheel("needs", "1.0", "hostile")
        self.index.write()
        wheel = f"{self.index.url}/leads/leads-1.0-py3-none-any.whl"
        for resolver in self.resolvers():
            with self.subTest(resolver):
                option = ("--resolver", resolver)
                self.refused("command" if resolver == "uv" else "invalid", ["leads", "hostile"], "leads", *option)
                self.refused("command" if resolver == "uv" else "invalid", "hostile", f"leads @ {wheel}", *option)
                self.refused("not_found", ["hostile", "only an sdist"], "hostile", *option)
                self.refused("not_found", ["hostile", "only an sdist"], "needs", *option)
                self.refused("invalid", "hostile-1.0.tar.gz is no wheel", f"hostile @ {self.index.url}/hostile/hostile-1.0.tar.gz", *option)

    def test_digests_are_kept(self):
        one, other = (self.index.wheel("x", "1.0", tag=tag) for tag in ("py3-none-any", "py2.py3-none-any"))
        self.index.wheel("y", "1.0")
        self.index.write()
        for resolver in self.resolvers():
            with self.subTest(resolver):
                option = ("--resolver", resolver)
                record = self.lock(f"x==1.0 --hash=sha256:{digest(one)} \\\n  --hash=sha256:{digest(other)}\n", *option).record
                self.assertEqual([package["name"] for package in record["packages"]], ["x"])
                self.assertIn(record["packages"][0]["sha256"], [f"sha256:{digest(file)}" for file in (one, other)])
                (self.home / "pylock.toml").unlink()
                self.refused("content", "no wheel of x 1.0 on the index has one of the 1 digests", f"x==1.0 --hash=sha256:{'a' * 64}", *option)
                self.refused("invalid", "y has no digest", f"x==1.0 --hash=sha256:{digest(one)}\ny==1.0", *option)

    def test_only_indexes_of_the_user(self):
        self.index.wheel("x", "1.0")
        self.index.write()
        self.resolvers_there = self.resolvers()
        resolver = ("--resolver", self.resolvers_there[0])
        text = f"--index-url {self.index.url}/\nx"
        self.refused("invalid", ["requirements.txt:1", "an index that your own configuration does not name"], text, *resolver, index=False)
        self.assertEqual(self.lock(text, *resolver, index=False, PIP_INDEX_URL=self.index.url).record["packages"][0]["version"], "1.0")
        (self.home / ".config/pip").mkdir(parents=True)
        (self.home / ".config/pip/pip.conf").write_text(f"[global]\nindex-url = {self.index.url}\n")
        self.assertFalse(self.lock(text, *resolver, index=False).record["changed"])
        (self.home / ".config/pip/pip.conf").unlink()
        self.only_variables_name_it()
        self.refused_lines()

    def only_variables_name_it(self):
        """Else pip and uv would ask the public index for packages that are the site's own."""
        named = self.index.url.replace("//", "//user:secret@")
        for resolver in self.resolvers_there:
            found = self.lock("x", "--resolver", resolver, index=False, PIP_INDEX_URL=named, UV_DEFAULT_INDEX=named).record["packages"]
            self.assertEqual([one["url"] for one in found], [f"{self.index.url}/x/x-1.0-py3-none-any.whl"])

    def refused_lines(self):
        (self.home / "pylock.toml").unlink()
        text = "x\n-e .\ngit+https://h.example/x\n--trusted-host h.example\n./local\n--find-links /tmp\n"
        self.refused("invalid", [f"requirements.txt:{number}: " for number in range(2, 7)], text)

    def test_programs_of_others_do_not_run(self):
        for name in ("uv", "pip"):
            program = self.bin / name
            program.write_text(f"#!/bin/sh\n: >{self.mark}\n")
            program.chmod(0o755)
        self.bin.chmod(0o777)
        self.refused("command", "others may write", "x", PATH=str(self.bin))
        self.refused("command", "is not on PATH", "x", PATH=str(self.home / "none"))
        self.refused("offline", "is not locked", "x", "--offline")

    def test_time_is_bounded(self):
        (self.bin / "uv").write_text("#!/bin/sh\nsleep 600\n")
        (self.bin / "uv").chmod(0o755)
        self.refused("command", "did not end within 1 s", "x", "--patience", "1")


class Written(EnvLock):
    def pylock(self, version="1.0", tag="py3-none-any"):
        file = self.index.wheel("x", version, tag=tag)
        self.index.write()
        url = f"{self.index.url}/x/{file.name}"
        return (f"lock-version = '1.0'\ncreated-by = 't'\n[[packages]]\nname = 'x'\nversion = '{version}'\n"
                f"wheels = [{{ url = '{url}', hashes = {{ sha256 = '{digest(file)}' }} }}]\n")  # fmt: skip

    def test_the_same_at_two_places(self):
        text = self.pylock()
        self.lock(text, "-o", "pylock.one.toml", name="pylock.in.toml")
        (self.home / "deep").mkdir()
        (self.home / "deep/pylock.other.toml").write_text(text)
        self.expect(self.sabath.run("env", "lock", "deep/pylock.other.toml", *TARGET, "-o", "deep/pylock.two.toml", LC_ALL="C", TZ="Asia/Tokyo"))
        one = (self.home / "pylock.one.toml").read_bytes()
        self.assertEqual(one, (self.home / "deep/pylock.two.toml").read_bytes())
        self.assertEqual(self.lock(one.decode(), "-o", "pylock.three.toml", name="pylock.three.toml").record["changed"], False)

    def test_what_people_see(self):
        (self.home / "pylock.a.toml").write_text(self.pylock())
        said = self.expect(self.sabath.run("env", "lock", "pylock.a.toml", *TARGET)).out
        self.assertRegex(said, r"x +1\.0 +x-1\.0-py3-none-any\.whl\n")
        self.assertIn("of 1: the first fetch learns it", said)
        for absent in ("http:", "sha256", " B\n"):
            self.assertNotIn(absent, said)

    def test_files_of_others_stay(self):
        text = self.pylock()
        result = self.lock(text, "-o", "pylock.toml", code=2, name="pylock.toml")
        self.assertIn("another program wrote it", result.record["error"]["message"])
        self.assertEqual((self.home / "pylock.toml").read_text(), text)
        self.assertIn("read no lock by the name", self.lock(text, "-o", "my.lock", code=2, name="pylock.a.toml").record["error"]["message"])
        (self.home / "pylock.link.toml").symlink_to(self.home / "nothing")
        self.lock(text, "-o", "pylock.link.toml", code=2, name="pylock.a.toml")

    def test_wheels_are_chosen_for_the_target(self):
        text = self.pylock(tag="cp311-cp311-manylinux_2_34_x86_64")
        self.assertIn("x 1.0 needs glibc 2.34 or newer, the target has 2.28", self.lock(text, code=3, name="pylock.a.toml").record["error"]["message"])
        newer = ("--python", "3.11", "--platform", "x86_64", "--glibc", "2.34")
        self.assertEqual(self.lock(text, "-o", "pylock.b.toml", name="pylock.a.toml", target=newer).record["libc"], "glibc 2.34")
        foreign = ("--python", "3.12", "--platform", "x86_64", "--glibc", "2.34")
        self.assertIn("for Python 3.12", self.lock(text, code=3, name="pylock.a.toml", target=foreign).record["error"]["message"])

    def test_the_target_is_this_machines(self):
        record = self.lock(self.pylock(), "-o", "pylock.b.toml", name="pylock.a.toml", target=("--python", sys.executable)).record
        self.assertEqual(record["python"], f"{sys.version_info[0]}.{sys.version_info[1]}")
        (self.home / "prefix/bin").mkdir(parents=True)
        (self.home / "prefix/bin/python3").symlink_to(sys.executable)
        named = self.lock(self.pylock(), "-o", "pylock.b.toml", name="pylock.a.toml", target=("--python", "./prefix")).record
        self.assertEqual(named["python"], record["python"])
        self.assertEqual(record["platform"], os.uname().machine)
        self.assertEqual(record["libc"], os.confstr("CS_GNU_LIBC_VERSION"))

    def test_pip_and_uv_install_from_it(self):
        self.lock(self.pylock(), "-o", "pylock.b.toml", name="pylock.a.toml", target=("--python", sys.executable))
        if "uv" not in (self.resolvers() if UV else ()):
            self.skipTest("no uv is here: scripts/setup clients")
        python = self.home / "venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.home / "venv"], check=True)
        subprocess.run([UV, "pip", "sync", "-q", "-p", python, self.home / "pylock.b.toml"], check=True,
                       env={**os.environ, **self.variables, "UV_PYTHON_DOWNLOADS": "never"})  # fmt: skip
        told = subprocess.run([python, "-c", "import x; print(x.version)"], check=True, capture_output=True, text=True)
        self.assertEqual(told.stdout.strip(), "1.0")

    def test_files_beside_it(self):
        (self.home / "outside.txt").write_text("x")
        (self.home / "in").mkdir()
        (self.home / "in/link.txt").symlink_to(self.home / "outside.txt")
        self.assertIn("leads out of", self.lock("-r link.txt", name="in/r.txt", code=12).record["error"]["message"])
        self.assertIn("outside of the directory", self.lock("-r ../outside.txt", name="in/r.txt", code=12).record["error"]["message"])
        self.assertIn("there is no file", self.lock("-r absent.txt", name="in/r.txt", code=3).record["error"]["message"])
        self.lock("[project]", name="pyproject.toml", code=12)
        self.expect(self.sabath.run("env", "lock", self.home), 2)
        self.expect(self.sabath.run("env", "lock", "absent.txt"), 3)


class Conda(EnvLock):
    ENVIRONMENT = "channels: [conda-forge]\ndependencies: [numpy>=2, python=3.11]\n"

    def stand_in(self, plan, code=0):
        (self.home / "plan.json").write_text(json.dumps(plan))
        program = self.bin / "micromamba"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{self.home}/asked\nenv >{self.home}/variables\ncat {self.home}/plan.json\nexit {code}\n')
        program.chmod(0o755)

    def package(self, name, version, **more):
        return {"name": name, "version": version, "url": f"https://conda.example/conda-forge/linux-64/{name}-{version}-h_0.conda", **more}

    def test_by_a_program_that_plans(self):
        self.stand_in({"actions": {"FETCH": [self.package("numpy", "2.1.0", sha256="a" * 64, md5="b" * 32, size=7)],
                                   "LINK": [{"name": "numpy"}, self.package("python", "3.11.7", md5="c" * 32)]}})  # fmt: skip
        record = self.lock(self.ENVIRONMENT, name="environment.yml", index=False).record
        self.assertEqual([(one["name"], one["size_bytes"]) for one in record["packages"]], [("numpy", 7), ("python", None)])
        self.assertEqual((record["form"], record["without_sha256"], record["without_size"]), ("conda-lock", 1, 1))
        self.assertIn("first fetch learns it", record["remarks"][0])
        asked = (self.home / "asked").read_text().split("\n")
        self.assertEqual([one for one in asked if one in ("--dry-run", "--json", "numpy>=2", "python=3.11", "conda-forge")],
                         ["--dry-run", "--json", "conda-forge", "numpy>=2", "python=3.11"])  # fmt: skip
        self.assertIn("CONDA_OVERRIDE_GLIBC=2.28\n", (self.home / "variables").read_text())
        again = self.expect(self.sabath.run("env", "lock", "--json", "conda-lock.yml", *TARGET, "-o", "other.yml")).record
        self.assertEqual((self.home / "other.yml").read_text().count("manager: conda"), 2)
        self.assertEqual([one["sha256"] for one in again["packages"]], [f"sha256:{'a' * 64}", None])

    def test_what_is_not_taken(self):
        self.stand_in({"message": "nothing provides it"}, code=1)
        self.refused("command", "micromamba did not resolve this", self.ENVIRONMENT, name="environment.yml")
        self.refused("invalid", "channels that you have not allowed: evil", "channels: [evil]\ndependencies: [a]", name="environment.yml")
        self.refused("invalid", "channels that you have not allowed: evil", "dependencies: ['evil::a']", name="environment.yml")
        self.refused("invalid", "has packages of pip", "dependencies:\n- pip:\n  - x\n", name="environment.yml")
        self.stand_in({"actions": {"LINK": [{"name": "numpy"}]}})
        self.refused("invalid", "does not say where numpy comes from", self.ENVIRONMENT, name="environment.yml")
        (self.bin / "micromamba").unlink()
        error = self.refused("command", "is not on PATH", self.ENVIRONMENT, name="environment.yml", PATH=str(self.bin))
        self.assertIn("micromamba", error["hint"])


if __name__ == "__main__":
    main()
