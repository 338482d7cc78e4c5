#!/usr/bin/python3
"""Packed environments are listed, shown, compared, staged and put into jobs; no network and no home is needed later."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest
import zipfile

from support import python_prefix
from support.case import main, place, use_memory
from support.content import fragment
from support.ranks import Ranks

CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9",
         "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "socks5://127.0.0.1:9"}  # fmt: skip
REED = ('#include <Python.h>\nstatic struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "reed", 0, -1, 0};\n'
        "PyMODINIT_FUNC PyInit_reed(void) { return PyModule_Create(&m); }\n")  # fmt: skip


def setUpModule():
    use_memory()
    if python_prefix.found() is None:
        raise unittest.SkipTest("no interpreter with a prefix of its own: SABATH_TEST_PYTHON_PREFIX may name one")
    if not shutil.which("patchelf"):
        raise unittest.SkipTest("patchelf is not here")


def without_network():
    """The start of a command that has no network; empty where namespaces cannot be made."""
    for way in (["unshare", "-n"], ["unshare", "-Urn"]):
        if shutil.which("unshare") and subprocess.run([*way, "true"], capture_output=True).returncode == 0:
            return way
    return []


class Use(Ranks):
    def setUp(self):
        super().setUp()
        self.base = python_prefix.interpreter(self.home / "interpreter")
        self.mine = python_prefix.install(python_prefix.venv(self.base, self.home / "mine"))

    def pack(self, name="horn"):
        return python_prefix.with_view(self.sabath, json.loads(self.expect(self.sabath.run("env", "pack", name, self.mine, "--json")).out), name)

    def env(self, *arguments, code=0):
        result = self.expect(self.sabath.run("env", *arguments, "--json"), code)
        return result.record if code in (0, 7) else result

    def bundled_pip(self):
        """pip of the interpreter's own bundle; False: it has none."""
        wheel = next(python_prefix.found().glob("lib/python3.*/ensurepip/_bundled/pip-*.whl"), None)
        if wheel is None:
            return False
        zipfile.ZipFile(wheel).extractall(python_prefix.site(self.mine))
        whole = next(python_prefix.found().glob("lib/python3.*/os.py")).parent
        for module in ("xmlrpc", "distutils", "asyncio", "concurrent"):
            if (whole / module).exists():
                target = python_prefix.site(self.base).parent / module
                shutil.copytree(whole / module, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        return True

    def test_listed_shown_and_compared(self):
        self.assertEqual(self.env("list"), {"schema": 1, "environments": [], "exit": 0})
        first = self.pack()
        place(self.home / "plain/environment.json", b"{}")
        self.expect(self.sabath.run("adopt", self.home / "plain", "--name", "plain"))
        listed = self.expect(self.sabath.run("env", "list", "--json"))
        (one,) = listed.record["environments"]
        self.assertIn("plain", listed.err)
        self.assertEqual({key: one[key] for key in ("name", "manifest", "python", "packages", "files", "bytes", "path")},
                         {"name": "horn", "manifest": first["manifest"], "python": first["python"], "packages": 1, "files": first["files"], "bytes": first["bytes"], "path": one["path"]})  # fmt: skip
        self.assertIn("horn", self.sabath.run("env", "list").out)
        shown = self.env("show", "horn")
        for key in ("manifest", "made_of", "python", "abi", "platform", "machine", "files", "bytes", "packages", "system_libraries", "node_libraries"):
            self.assertEqual(shown[key], first[key], key)
        self.assertEqual((shown["against"], shown["activate"]), ([], f". {shown['path']}/bin/activate"))
        if os.confstr("CS_GNU_LIBC_VERSION"):
            self.assertRegex(shown["glibc"], r"^2\.\d+")
        self.assertEqual(self.env("show", first["manifest"])["packages"], shown["packages"])
        self.assertEqual(self.env("show", f"{shown['path']}/")["packages"], shown["packages"])
        self.assertIn("no packed environment", self.env("show", f"{self.home}/mine/", code=3).err)
        self.env("show", "plain", code=12)
        self.env("show", "nothing", code=3)
        self.differences(first)

    def differences(self, first):
        python_prefix.install(self.mine, name="drum", version="2", script=False)
        record = python_prefix.site(self.mine) / "flute/note.py"
        record.write_text("def main():\n    print('another note')\n")
        second = self.pack("horn2")
        told = self.env("diff", "horn", "horn2")
        self.assertEqual((told["before"], told["after"]), (first["manifest"], second["manifest"]))
        packages = [(each["name"], each["before"], each["after"]) for each in told["differences"] if each["what"] == "package"]
        self.assertEqual(packages, [("drum", None, "2")])
        files = {pathlib.Path(each["path"]).name: each["name"] for each in told["differences"] if each["what"] == "file"}
        self.assertEqual(files.pop("note.py", None), "flute", told)
        self.assertTrue(set(files) <= {"RECORD"}, told)  # it says the hash of note.py
        self.assertEqual(self.env("diff", "horn2", "horn")["differences"][0]["before"], "2")
        self.assertEqual(self.env("diff", "horn", f"{second['path']}/")["after"], second["manifest"])
        self.env("diff", "horn", "horn2", "--exit-code", code=7)
        self.assertEqual(self.env("diff", "horn", "horn", "--exit-code")["differences"], [])
        shutil.rmtree(python_prefix.site(self.mine) / "drum-2.dist-info")
        python_prefix.install(self.mine, name="drum", version="3", script=False)
        self.pack("horn3")
        told = self.env("diff", "horn2", "horn3")["differences"]
        self.assertEqual([(each["what"], each["name"], each["before"], each["after"]) for each in told], [("package", "drum", "2", "3")])

    def test_one_file_that_can_be_mounted(self):
        if not (shutil.which("mksquashfs") and shutil.which("unsquashfs")):
            self.skipTest("squashfs-tools is not here")
        first = self.pack()
        one = self.env("image", "horn", "--compression", "none")
        umask = os.umask(0o077)
        try:
            two = self.env("image", "horn", "--compression", "none", "--name", "other")
        finally:
            os.umask(umask)
        self.assertEqual((one["name"], one["manifest"], one["environment"]), ("horn-image", two["manifest"], first["manifest"]))
        self.assertEqual(os.listdir(one["path"]), ["horn.squashfs"])
        subprocess.run(["unsquashfs", "-q", "-n", "-d", self.home / "out", f"{one['path']}/horn.squashfs"], check=True, capture_output=True)
        self.assertEqual(self.env("diff", "horn", f"{self.home}/out")["differences"], [])
        self.assertLess(self.env("image", "horn", "--name", "small")["bytes"], one["bytes"])
        self.assertIn("horn-image", self.expect(self.sabath.run("env", "image", "horn-image", "--name", "x"), 3).err)
        self.env("image", "horn", "--name", "../x", code=2)

    def test_removed_and_collected(self):
        first = self.pack()
        plan = self.expect(self.sabath.run("gc", "--older-than", "0s", "--dry-run", "--json")).record
        self.assertEqual(plan["collected"], [], plan)  # no source brings it back
        plan = self.expect(self.sabath.run("gc", "--older-than", "0s", "--force-local", "--dry-run", "--json")).record
        self.assertEqual([(each["name"], each["manifest"]) for each in plan["collected"]], [("horn", first["manifest"])])
        self.expect(self.sabath.run("rm", "--forget", "horn"))
        self.assertEqual(self.env("list")["environments"], [])
        self.env("show", first["manifest"], code=9)

    def test_staged_by_ranks_several_side_by_side(self):
        first = self.pack()
        python_prefix.install(self.mine, name="drum", version="2")
        self.pack("band")
        place(self.home / "f.bin", b"abc" * 1000)
        self.sabath.add("data", [fragment(f"file://{self.home}/f.bin", b"abc" * 1000)])
        out = self.run_ranks(3, "stage", "data", "--env", "horn", "--env", "band", "--emulate-nodes", "3", "--to", f"{self.home}/disk/{{node}}")
        self.assertEqual(out.splitlines()[-2:], [f". {self.home}/disk/0/{name}/bin/activate" for name in ("horn", "band")])
        out = self.run_ranks(3, "stage", "--env", "horn", "--emulate-nodes", "3", "--to", f"{self.home}/other/{{node}}", "--json")
        (asset,) = json.loads(out)["assets"]
        self.assertEqual((asset["activate"], asset["verified_by"]), (f". {self.home}/other/0/horn/bin/activate", "sha256"))
        self.assertLessEqual(asset["bytes_from_shared"], first["bytes"])
        for node in range(3):
            for name in ("horn", "band"):
                done = subprocess.run([f"{self.home}/disk/{node}/{name}/bin/flute"], capture_output=True, text=True, env=CLEAN)
                self.assertEqual(done.stdout, "a note\n", done.stderr)
        for more in (["--mode", "shard"], ["--layout", "hf"], ["--select", "x[:]"]):
            self.expect(self.sabath.run("stage", "--env", "horn", "--to", self.home / "no", *more), 2)
        self.expect(self.sabath.run("stage", "--env", "data", "--to", self.home / "no"), 3)
        self.expect(self.sabath.run("stage", "--to", self.home / "no"), 2)
        self.assertFalse((self.home / "no").exists())

    def test_where_others_may_write_no_line_activates_it(self):
        self.pack()
        node = self.home / "node"
        node.mkdir()
        node.chmod(0o777)
        done = self.expect(self.sabath.run("stage", "--env", "horn", "--to", node))
        self.assertIn("horn is not to be activated", done.err)
        self.assertEqual(done.out.splitlines(), [f"{node}/horn"])
        node.chmod(0o755)
        done = self.expect(self.sabath.run("stage", "--env", "horn", "--to", node))
        self.assertEqual(done.out.splitlines(), [f". {node}/horn/bin/activate"])

    def test_a_job_stages_it_and_runs_in_it(self):
        self.pack()
        place(self.home / "f.bin", b"abc")
        self.sabath.add("data", [fragment(f"file://{self.home}/f.bin", b"abc")])
        place(self.sabath.recipes / "models/net/train.py", b"")
        steps = {"data": [{"argv": ["python3", "{source}/train.py"]}]}
        self.sabath.add("net", kind="model", source="net", run=steps)
        script = self.expect(self.sabath.run("job", "net", "--scheduler", "slurm", "--env", "horn", "--stage-to", "/local/me")).out
        self.assertIn("stage data --env horn --to /local/me", script)
        self.assertRegex(script, r"run net --again .*--env horn.* --at /local/me")
        self.sabath.add("net", kind="model", source="net", run=steps, requirements={"environment": "horn"})
        script = self.expect(self.sabath.run("job", "net", "--scheduler", "slurm", "--stage-to", "/local/me")).out
        self.assertIn("stage data --env horn --to /local/me", script)
        self.assertNotIn("--env horn --at", script.replace("stage data --env horn", ""))  # the recipe says it
        script = self.expect(self.sabath.run("job", "net", "--scheduler", "slurm", "--stage-to", "/local/me", "--env", "none")).out
        self.assertNotIn("horn", script)
        self.expect(self.sabath.run("job", "net", "--scheduler", "slurm", "--env", "nothing"), 3)

    def test_nothing_asks_the_network_later(self):
        has_pip = self.bundled_pip()
        first = self.pack()
        self.expect(self.sabath.run("stage", "--env", "horn", "--to", self.home / "node"))
        tree = self.home / "node/horn"
        alone = without_network()
        if not alone:
            print("network namespaces cannot be made here: dead proxies alone")
        for gone in ("mine", "interpreter"):
            shutil.rmtree(self.home / gone)
        started = [*alone, str(tree / "bin/python3")]

        def python(*arguments):
            done = subprocess.run([*started, *map(str, arguments)], capture_output=True, text=True, env=CLEAN, cwd="/")
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        python("-c", "import flute.note, json, zlib")
        if has_pip:
            self.assertIn("No broken requirements", python("-m", "pip", "check"))
        if shutil.which("gcc"):
            include, suffix = python("-c", "import sysconfig; print(sysconfig.get_path('include')); print(sysconfig.get_config_var('EXT_SUFFIX'))").split()
            (self.home / "reed.c").write_text(REED)
            module = self.home / f"reed{suffix}"
            subprocess.run([*alone, "gcc", "-shared", "-fPIC", f"-I{include}", self.home / "reed.c", "-o", module], check=True, env=CLEAN)
            python("-c", f"import sys; sys.path.insert(0, {str(self.home)!r}); import reed; print(reed.__name__)")
        if shutil.which("strace"):
            self.no_path_outside(alone, tree)
        else:
            print("strace is not here: paths were not looked at")
        self.expect(self.sabath.run("manifest", "verify", first["manifest"], tree.resolve()))

    def no_path_outside(self, alone, tree):
        seen = self.home / "seen"
        done = subprocess.run([*alone, "strace", "-f", "-qq", "-e", "trace=%file", "-o", seen, tree / "bin/python3", "-c", "import flute.note, json"],
                              capture_output=True, text=True, env=CLEAN | {"PYTHONNOUSERSITE": "1"}, cwd="/")  # fmt: skip
        if done.returncode and "ptrace" in done.stderr:
            print("no process may be traced here: paths were not looked at")
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        allowed = (str(tree), str(tree.resolve()), "/etc/", "/lib", "/usr/lib", "/usr/share", "/proc/", "/sys/", "/dev/", "/pyvenv.cfg")
        for line in seen.read_text().splitlines():
            path = line.partition('"')[2].partition('"')[0]
            if path.startswith("/") and not str(tree.resolve()).startswith(path.rstrip("/")) and not str(tree).startswith(path.rstrip("/")):
                self.assertTrue(path.startswith(allowed), line)


if __name__ == "__main__":
    main()
