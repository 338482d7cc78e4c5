"""Packages and prefixes of conda, made by hand: what a channel would give, and what conda would make of it."""

import hashlib
import io
import json
import os
import pathlib
import re
import tarfile
import zipfile

PLACEHOLDER = "/opt/build_env_placehold" + "_placehold" * 6
PLATFORM = "linux-aarch64" if os.uname().machine == "aarch64" else "linux-64"


def zstd_frame(data):
    """The data as they are, in a frame of zstd (RFC 8878)."""
    blocks = [data[at : at + (1 << 17)] for at in range(0, len(data), 1 << 17)] or [b""]
    frame = b"\x28\xb5\x2f\xfd\xe0" + len(data).to_bytes(8, "little")
    for number, block in enumerate(blocks):
        frame += (len(block) << 3 | (number == len(blocks) - 1)).to_bytes(3, "little") + block
    return frame


def tar_of(entries, mode="w"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for entry, data in entries:
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def file_entry(path, runs=False, **members):
    entry = tarfile.TarInfo(path)
    entry.mode = 0o755 if runs else 0o644
    for name, value in members.items():
        setattr(entry, name, value)
    return entry


def put_binary(data, old, new):
    """As conda does it: a string with the place keeps its length, with NULs behind it."""

    def put(match):
        text = match.group().replace(old, new)
        return text + bytes(len(match.group()) - len(text))

    return re.sub(re.escape(old) + b"[^\\0]*\\0", put, data)


class Package:
    """`files`: path -> bytes. `places`: path -> "text" or "binary", files that hold the placeholder. `links`: path -> target.
    `change(package, entries, info)`: last changes of the archive's entries and of the notes."""

    def __init__(self, name, version="1.2", build="h0_0", *, files=None, places=(), links=None, noarch=None, points=(), form=".conda",
                 placeholder=PLACEHOLDER, change=None, subdir=None):  # fmt: skip
        self.name, self.version, self.build, self.noarch, self.points, self.form = name, version, build, noarch, points, form
        self.files, self.links, self.places = files or {}, links or {}, dict(places)
        self.placeholder, self.change = placeholder, change
        self.subdir = subdir or ("noarch" if noarch else PLATFORM)

    @property
    def stem(self):
        return f"{self.name}-{self.version}-{self.build}"

    def paths(self):
        rows = []
        for path, data in self.files.items():
            row = {"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(data).hexdigest(), "size_in_bytes": len(data)}
            if path in self.places:
                row |= {"prefix_placeholder": self.placeholder, "file_mode": self.places[path]}
            rows.append(row)
        rows += [{"_path": path, "path_type": "softlink"} for path in self.links]
        return {"paths": rows, "paths_version": 1}

    def notes(self):
        index = {"name": self.name, "version": self.version, "build": self.build, "build_number": 0, "depends": [], "subdir": self.subdir}
        if self.noarch:
            index["noarch"] = self.noarch
        notes = {"index.json": index, "paths.json": self.paths()}
        if self.points:
            notes["link.json"] = {"noarch": {"type": "python", "entry_points": list(self.points)}, "package_metadata_version": 1}
        return notes

    def entries(self):
        entries = [(file_entry(path, runs=path.startswith(("bin/", "python-scripts/"))), data) for path, data in self.files.items()]
        return entries + [(file_entry(path, type=tarfile.SYMTYPE, linkname=target), b"") for path, target in self.links.items()]

    def write(self, shelf):
        """The package's file below shelf/SUBDIR."""
        entries, notes, more = self.entries(), self.notes(), {}
        if self.change:
            self.change(self, entries, notes, more)
        info = [(file_entry(f"info/{name}"), json.dumps(note).encode()) for name, note in notes.items()]
        file = pathlib.Path(shelf) / self.subdir / f"{self.stem}{self.form}"
        file.parent.mkdir(parents=True, exist_ok=True)
        if self.form == ".tar.bz2":
            file.write_bytes(tar_of(info + entries, "w:bz2"))
            return file
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("metadata.json", '{"conda_pkg_format_version": 2}')
            archive.writestr(f"pkg-{self.stem}.tar.zst", zstd_frame(tar_of(entries)))
            archive.writestr(f"info-{self.stem}.tar.zst", zstd_frame(tar_of(info)))
            for name, data in more.items():
                archive.writestr(name, data)
        return file

    def install(self, prefix, place=None, channel="https://conda.anaconda.org/t/tk-secret/conda-forge/linux-64"):
        """Its files in a prefix, and conda's record of it."""
        prefix, old = pathlib.Path(prefix), self.placeholder.encode()
        new = os.fsencode(place or prefix)
        for path, data in self.files.items():
            mode = self.places.get(path)
            data = put_binary(data, old, new) if mode == "binary" else data.replace(old, new) if mode else data
            file = prefix / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            file.chmod(0o755 if path.startswith("bin/") else 0o644)
        for path, target in self.links.items():
            (prefix / path).parent.mkdir(parents=True, exist_ok=True)
            (prefix / path).symlink_to(target)
        record = self.notes()["index.json"] | {"channel": channel, "fn": f"{self.stem}.conda", "paths_data": self.paths(), "size": 12, "md5": "0" * 32,
                  "files": [*self.files, *self.links], "link": {"source": f"/home/me/pkgs/{self.stem}", "type": 1}}  # fmt: skip
        (prefix / "conda-meta").mkdir(exist_ok=True)
        (prefix / "conda-meta" / f"{self.stem}.json").write_text(json.dumps(record))


def python_package(interpreter, **how):
    """A package named python, of an interpreter's prefix; its notes of where it was built hold the placeholder."""
    files, links, places = {}, {}, {}
    origin = None
    for file in sorted(pathlib.Path(interpreter).rglob("*")):
        path = str(file.relative_to(interpreter))
        if file.is_symlink():
            links[path] = os.readlink(file)
        elif file.is_file():
            files[path] = file.read_bytes()
    for path, data in files.items():
        if "_sysconfigdata_" in path and path.endswith(".py"):
            origin = re.search(rb"'prefix': '([^']+)'", data).group(1)
            files[path], places[path] = data.replace(origin, PLACEHOLDER.encode()), "text"
    version = pathlib.Path(next(path for path in files if path.endswith("/os.py"))).parent.name.removeprefix("python") + ".7"
    links.setdefault("bin/python", "python3")
    return Package("python", version, "h1_cpython", files=files, links=links, places=places, **how)


def explicit_lock(url, files, digest="sha256"):
    lines = ["@EXPLICIT"]
    for file in files:
        hashed = hashlib.new(digest, file.read_bytes()).hexdigest()
        lines.append(f"{url}/{file.parent.name}/{file.name}#{'sha256:' if digest == 'sha256' else ''}{hashed}")
    return "\n".join(lines) + "\n"


def conda_lock(url, files, wheels=()):
    rows = []
    for file in files:
        name, version, _ = re.sub(r"\.(conda|tar\.bz2)$", "", file.name).rsplit("-", 2)
        rows.append({"name": name, "version": version, "manager": "conda", "platform": PLATFORM, "dependencies": {},
                     "url": f"{url}/{file.parent.name}/{file.name}", "hash": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()},
                     "category": "main", "optional": False})  # fmt: skip
    for wheel, at in wheels:
        name, version = wheel.name.split("-")[:2]
        rows.append({"name": name, "version": version, "manager": "pip", "platform": PLATFORM, "dependencies": {}, "url": at,
                     "hash": {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}, "category": "main", "optional": False})  # fmt: skip
    virtual = {"name": "__glibc", "version": "2.28", "manager": "conda", "platform": PLATFORM, "dependencies": {},
               "url": "file:///tmp/virtual/linux-64/__glibc-2.28-0.conda", "hash": {"md5": "0" * 32}}  # fmt: skip
    head = {"channels": [{"url": "conda-forge"}], "platforms": [PLATFORM]}
    return f"version: 1\nmetadata: {json.dumps(head)}\npackage:\n" + "".join(f"- {json.dumps(row)}\n" for row in [virtual, *rows])
