"""A package index on a loopback port, with wheels and sdists that are made here: for tests of resolvers."""

import base64
import functools
import hashlib
import http.server
import io
import pathlib
import tarfile
import threading
import warnings
import zipfile


def record_hash(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def record_of(files, info):
    rows = [f"{path},{record_hash(data)},{len(data)}\n" for path, data in files.items()]
    return "".join(rows) + f"{info}/RECORD,,\n"


def make_wheel(directory, name, version, requires=(), tag="py3-none-any", extras=(), files=None, entry_points="", record=record_of,
               change=None, named=None):  # fmt: skip
    """A wheel that holds one module, or `files`; its file. `record(files, info)`: its RECORD, None: it has none.
    `change(files, info)`: last changes of what is written, by name: bytes, or pairs of a ZipInfo and bytes."""
    file = pathlib.Path(directory) / (named or f"{name}-{version}-{tag}.whl")
    file.parent.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *(f"Provides-Extra: {one}" for one in extras),
                *(f"Requires-Dist: {one}" for one in requires)]  # fmt: skip
    files = dict(files or {f"{name}/__init__.py": f"version = {version!r}\n".encode()})
    files[f"{info}/METADATA"] = ("\n".join(metadata) + "\n").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n".encode()
    if entry_points:
        files[f"{info}/entry_points.txt"] = entry_points.encode()
    if record:
        files[f"{info}/RECORD"] = record(files, info).encode()
    if change:
        change(files, info)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for path, data in files.items():
            entries = data if isinstance(data, list) else [(zipfile.ZipInfo(path), data)]
            for entry, content in entries:
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)
    return file


def make_lock(url, wheels, requires_python=None, sizes=True):
    """pylock.toml of these wheels, which lie at url/FILE; its text."""
    lines = ['lock-version = "1.0"', 'created-by = "test"']
    if requires_python:
        lines.append(f'requires-python = "{requires_python}"')
    for wheel in wheels:
        name, version = wheel.name.split("-")[:2]
        lines += ["", "[[packages]]", f'name = "{name.lower().replace("_", "-")}"', f'version = "{version}"', "", "[[packages.wheels]]",
                  f'name = "{wheel.name}"', f'url = "{url}/{wheel.name}"', f"size = {wheel.stat().st_size}" * sizes, "",
                  "[packages.wheels.hashes]", f'sha256 = "{digest(wheel)}"']  # fmt: skip
    return "\n".join(lines) + "\n"


def make_sdist(directory, name, version, mark):
    """An sdist whose setup.py leaves the file `mark`."""
    file = pathlib.Path(directory) / f"{name}-{version}.tar.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    setup = f"open({str(mark)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name={name!r}, version={version!r})\n"
    files = {"setup.py": setup, "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"}
    with tarfile.open(file, "w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return file


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Index:
    """`root`/NAME/FILE is at `url`/NAME/FILE; `write` makes the pages (PEP 503)."""

    def __init__(self, home):
        self.root = pathlib.Path(home) / "index/simple"
        self.root.mkdir(parents=True)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(self.root.parent)))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/simple"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wheel(self, name, version, *requires, **options):
        return make_wheel(self.root / name.replace("_", "-"), name, version, requires, **options)

    def sdist(self, name, version, mark):
        return make_sdist(self.root / name, name, version, mark)

    def write(self):
        for directory in self.root.iterdir():
            files = sorted(file for file in directory.iterdir() if file.name != "index.html")
            links = (f'<a href="{file.name}#sha256={digest(file)}">{file.name}</a>' for file in files)
            (directory / "index.html").write_text(f"<html><body>{''.join(links)}</body></html>")

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def digest(file):
    return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()
