#!/usr/bin/python3
"""Other programs that a run uses, the real ones where they are installed: module systems, pip, conda."""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import zipfile

from runs import Runs, main, place

LMOD = "/usr/share/lmod/lmod/init/bash"
MODULES = os.environ.get("SABATH_TEST_MODULES", "/usr/share/modules/init/bash")  # environment-modules' own
SHOW = ["python3", "-c", "import json, os; print(json.dumps(dict(os.environ)))"]

# Micromamba's part as far as it matters here: a prefix with conda-meta and a Python. The real ones want a channel.
CONDA = """#!/bin/sh
echo "$@" >> "$CONDA_LOG"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/conda-meta" "$2/bin" && ln -s {python} "$2/bin/python" && : > "$2/conda-meta/tinynet-1.7.1-py_0.json"
printf '#!/bin/sh\\necho tinynet' > "$2/bin/tinynet" && chmod +x "$2/bin/tinynet"
case $* in *broken*) echo "nothing provides broken" >&2; exit 1 ;; esac
"""


def make_wheel(directory, name, version, code):
    """A wheel with one module, by the wheel format's own rules."""
    info, rows = f"{name}-{version}.dist-info", []
    files = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    directory.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(directory / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(text)}\n")
        wheel.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")


def why_no_venv():
    done = subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "this Python makes no virtual environments (Debian: python3-venv)"


class Outside(Runs):
    def profile(self, **parts):
        file = self.home / "here.json"
        place(file, json.dumps({"schema": 1, "name": "here", **parts}).encode())
        return file

    def check_modules(self, script):
        """A module of the recipe's need, by the site's name; one that is not there; two that exclude each other."""
        for name, value in (("toolkit/12.2", "twelve"), ("toolkit/11.8", "eleven")):
            place(self.home / "modulefiles" / name, f"#%Module1.0\nsetenv TOOLKIT {value}\nprepend-path PATH /x/{value}\n".encode())
        self.sabath.environment["MODULEPATH"] = str(self.home / "modulefiles")
        site = self.profile(module_script=script, modules={"toolkit>=12": ["toolkit/12.2"], "cmake": []})
        self.model(SHOW, requirements={"system_modules": ["toolkit>=12", "cmake"]})
        self.launch("model", "--site", site, "--env", "check")
        environment = json.loads(self.output())
        self.assertEqual((environment["TOOLKIT"], environment["PATH"].split(":")[0]), ("twelve", "/x/twelve"))
        self.assertEqual(self.record()["environment"]["modules"], ["toolkit/12.2"])
        self.assertIn("toolkit/12.2", self.record()["environment"]["variables"]["LOADEDMODULES"])
        self.model(SHOW, requirements={"system_modules": ["toolkit/99"]})
        self.run_directory = self.home / "refused"
        self.assertIn("toolkit/99", self.launch("model", "--site", site, code=11).err)
        self.assertFalse(self.run_directory.exists())
        self.model(SHOW, requirements={"system_modules": ["toolkit/11.8; touch pwned", "$(touch pwned)"]})
        self.launch("model", "--site", site, code=11)
        self.assertEqual(list(self.home.rglob("pwned")), [])

    @unittest.skipUnless(os.path.exists(LMOD), "Lmod is not installed (Debian: lmod)")
    def test_lmod(self):
        self.check_modules(LMOD)

    @unittest.skipUnless(os.path.exists(MODULES), f"environment-modules is not installed: no {MODULES}")
    def test_environment_modules(self):
        self.check_modules(MODULES)

    @unittest.skipIf(why_no_venv(), why_no_venv())
    def test_pip_installs_what_is_missing_and_once(self):
        """From a directory of wheels, which pip's own configuration names: no index is asked."""
        make_wheel(self.home / "wheels", "tinynet", "3.1", "WORD = 'tiny'\n")
        self.sabath.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.home / "wheels"))
        self.model(["python3", "-c", "import sys, tinynet; print(tinynet.WORD, sys.prefix)"],
                   requirements={"python": ">=3.8", "pip": ["tinynet>=3"]})  # fmt: skip
        self.launch("model", "--env", "check", code=11)
        self.launch("model", "--env", "create")
        word, prefix = self.output().split()
        self.assertEqual((word, pathlib.Path(prefix).parent), ("tiny", self.home / ".cache/sabath-environments"))
        self.assertEqual(self.record()["environment"]["packages"]["tinynet"], "3.1")
        shutil.rmtree(self.home / "wheels")
        self.run_directory = self.home / "second"
        self.launch("model", "--env", "create")
        self.model(["true"], requirements={"pip": ["tinynet>=4"]})
        self.run_directory = self.home / "third"
        self.assertIn("tinynet>=4", self.launch("model", "--env", "create", code=11).err)
        self.model(["true"], requirements={"pip": ["--index-url=http://127.0.0.1:9/"]})
        self.launch("model", "--env", "create", code=12)  # a name, never an option

    def test_conda(self):
        """With a stand-in for micromamba: no channel can be reached by a test."""
        place(self.home / "bin/micromamba", CONDA.format(python=sys.executable).encode())
        (self.home / "bin/micromamba").chmod(0o755)
        log = self.home / "log"
        self.model(["tinynet"], ["python3", "-c", "import os, sys; print(os.environ['CONDA_PREFIX'])"],
                   requirements={"conda": ["tinynet=1.7"]})  # fmt: skip
        self.assertIn("tinynet=1.7", self.launch("model", "--env", "check", code=11).err)
        self.launch("model", "--env", "create", code=3)  # no program makes it
        self.sabath.environment.update(PATH=f"{self.home}/bin:{os.environ['PATH']}", CONDA_LOG=str(log))
        self.launch("model", "--env", "create")
        word, prefix = self.output().split()
        self.assertEqual((word, pathlib.Path(prefix).parent), ("tinynet", self.home / ".cache/sabath-environments"))
        self.assertEqual(self.record()["environment"]["variables"]["CONDA_PREFIX"], prefix)
        self.run_directory = self.home / "second"
        self.launch("model", "--env", "create")
        self.assertEqual(log.read_text().splitlines(), [f"create --yes --quiet --prefix {prefix} tinynet=1.7"])
        for number, (needs, code) in enumerate(((["tinynet=1.7.1"], 0), (["TinyNet>=1"], 0), (["tinynet=1.70"], 11),
                                                (["tinynet=1"], 0), (["tinynet==1.7=py_0"], 0), (["other"], 11))):  # fmt: skip
            with self.subTest(needs):
                self.run_directory = self.home / f"check-{number}"
                self.model(["true"], requirements={"conda": needs})
                self.launch("model", "--env", "check", code=code, CONDA_PREFIX=prefix)
        self.model(["true"], requirements={"conda": ["broken"]})
        self.run_directory = self.home / "broken"
        self.assertIn("nothing provides broken", self.launch("model", "--env", "create", code=11).err)
        self.model(["true"], requirements={"conda": ["--file=/etc/passwd"]})
        self.launch("model", "--env", "create", code=12)


if __name__ == "__main__":
    main()
