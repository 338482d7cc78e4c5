"""A small interpreter that may be copied, virtual environments of it, and packages made by hand."""

import base64
import functools
import glob
import hashlib
import os
import pathlib
import pwd
import shutil
import subprocess
import sysconfig

LEFT_OUT = ("test", "tests", "idlelib", "turtledemo", "ensurepip", "lib2to3", "tkinter", "pydoc_data", "site-packages",
            "__pycache__", "config-*", "distutils", "asyncio", "xmlrpc", "curses", "dbm", "wsgiref")  # fmt: skip
PIP_START = "#!{}\n"
PIP_LONG_START = "#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\"\n' '''\n"
CODE = b"from flute import note\nimport sys\nif __name__ == '__main__':\n    sys.exit(note.main())\n"


@functools.cache
def found():
    """A prefix with an interpreter of its own, that is not the system's. None: there is none."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    given = os.environ.get("SABATH_TEST_PYTHON_PREFIX")
    own = sysconfig.get_config_var("prefix")
    candidates = [given] if given else [own, *sorted(glob.glob(f"{home}/.pyenv/versions/3.1*"))]
    for prefix in map(pathlib.Path, filter(None, candidates)):
        if str(prefix) in ("/usr", "/usr/local") or not (prefix / "bin/python3").exists():
            continue
        asked = subprocess.run([prefix / "bin/python3", "-I", "-c", "import ssl, venv, zlib, sys; print(sys.prefix)"],
                               capture_output=True, text=True)  # fmt: skip
        if asked.returncode == 0 and os.path.realpath(asked.stdout.strip()) == os.path.realpath(prefix):
            return pathlib.Path(os.path.realpath(prefix))
    return None


def interpreter(to):
    """A copy with the part of the standard library that these tests need: compiling all of it takes a while."""
    prefix = found()
    name = pathlib.Path(os.path.realpath(prefix / "bin/python3")).name
    (to / "bin").mkdir(parents=True)
    shutil.copy2(prefix / "bin" / name, to / "bin" / name)
    (to / "bin/python3").symlink_to(name)
    folder = name if (prefix / "lib" / name / "os.py").exists() else next((prefix / "lib").glob("python3.*/os.py")).parent.name
    shutil.copytree(prefix / "lib" / folder, to / "lib" / folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for library in (prefix / "lib").glob("libpython3*.so*"):
        shutil.copy2(library, to / "lib" / library.name, follow_symlinks=False)
    shutil.copytree(prefix / "include", to / "include")
    return to


def venv(base, to, *flags):
    subprocess.run([base / "bin/python3", "-B", "-m", "venv", "--without-pip", *flags, to], check=True, capture_output=True,
                   env={"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(base / "lib")})  # fmt: skip
    return to


def site(prefix):
    return next(pathlib.Path(prefix).glob("lib/python3.*")) / "site-packages"


def hash_of(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def install(prefix, name="flute", version="1.2", files=None, script=True, notes=None):
    """As pip does it: files, a script that names the interpreter, and a RECORD. `notes`: more files of dist-info."""
    where = site(prefix)
    files = dict(files or {f"{name}/__init__.py": b"", f"{name}/note.py": b"def main():\n    print('a note')\n"})
    info = f"{name}-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    files[f"{info}/INSTALLER"] = b"pip\n"
    files.update({f"{info}/{note}": text for note, text in (notes or {}).items()})
    if script:
        files[f"../../../bin/{name}"] = (PIP_LONG_START if " " in str(prefix) else PIP_START).format(pathlib.Path(prefix) / "bin/python3").encode() + CODE.replace(b"flute", name.encode())
    rows = [f"{path},{hash_of(data)},{len(data)}" for path, data in files.items()]
    rows += [f"{path[:-3]}.cpython-0.pyc,," for path in files if path.endswith(".py")] + [f"{info}/RECORD,,"]
    files[f"{info}/RECORD"] = ("\n".join(rows) + "\n").encode()
    for path, data in files.items():
        file = where / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if "/bin/" in path:
            file.chmod(0o755)
    return prefix


def with_view(sabath, record, name):
    """The record of a pack, with the path of a view: many small files lie in packs, and have one only when it is asked for."""
    if record["path"] is None:
        made = sabath.run("view", name)
        assert made.exit == 0, made.err
        record["path"] = sabath.run("path", name).out.strip()
    return record
