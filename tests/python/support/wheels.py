"""A package index on a loopback port, with wheels and sdists that are made here: for tests of resolvers."""

import functools
import hashlib
import http.server
import io
import pathlib
import tarfile
import threading
import zipfile


def make_wheel(directory, name, version, requires=(), tag="py3-none-any", extras=()):
    """A wheel that holds one module; its file."""
    file = pathlib.Path(directory) / f"{name}-{version}-{tag}.whl"
    file.parent.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *(f"Provides-Extra: {one}" for one in extras),
                *(f"Requires-Dist: {one}" for one in requires)]  # fmt: skip
    files = {
        f"{name}/__init__.py": f"version = {version!r}\n",
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))
    return file


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
