"""Seeded inputs: bytes, trees, archives of them, and the fragments that describe them."""

import hashlib
import io
import os
import pathlib
import random
import subprocess
import tarfile
import zipfile

BLOCK = 1 << 20


def seeded(size, seed=1):
    return random.Random(seed).randbytes(size)


def seeded_bytes(size, seed=1):
    """The body that the fault server sends: tests/support/seeded.cc, whose generator is slow in Python."""
    mask = (1 << 64) - 1
    out = bytearray()
    for index in range((size + 7) // 8):
        x = (seed * 0x9E3779B97F4A7C15 + index + 1) & mask
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        out += (x ^ (x >> 31)).to_bytes(8, "little")
    return bytes(out[:size])


def write_seeded(file, size, seed=1):
    """A large seeded file; returns its sha256."""
    generator = random.Random(seed)
    digest = hashlib.sha256()
    with open(file, "wb") as out:
        for begin in range(0, size, BLOCK):
            block = generator.randbytes(min(BLOCK, size - begin))
            digest.update(block)
            out.write(block)
    return digest.hexdigest()


def flip(file, offset, bit=2):
    """As a disk would: neither size nor mtime nor mode tell of it."""
    before = file.stat()
    file.chmod(0o644)
    with open(file, "r+b") as data:
        data.seek(offset)
        byte = data.read(1)[0]
        data.seek(offset)
        data.write(bytes([byte ^ (1 << bit)]))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    file.chmod(before.st_mode)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def checksums(data):
    return {name: hashlib.new(name, data).hexdigest() for name in ("md5", "sha1", "sha256")}


def sha256_file(file):
    with open(file, "rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def small_tree():
    """Path -> bytes: an empty file, one leaf exactly, one byte more, two chunks and a bit, names that need escaping."""
    return {
        "train/empty": b"",
        "train/leaf": seeded(65536, 2),
        "train/leaf+1": seeded(65537, 3),
        "train/deep/er/two chunks": seeded(8 * BLOCK + 5, 4),
        "validation/ünïcode.bin": seeded(1000, 5),
    }


def tar_bytes(tree, mode="w"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, data in tree.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def zip_bytes(tree):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in tree.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def archive_bytes(kind, tree):
    if kind == "zip":
        return zip_bytes(tree)
    if kind == "tar.zst":
        return subprocess.run(["zstd", "-q", "-c"], input=tar_bytes(tree), stdout=subprocess.PIPE, check=True).stdout
    return tar_bytes(tree, "w:gz" if kind == "tar.gz" else "w")


def fragment(url, data=None, kind="file", name="main", **more):
    """A fragment of one URL or several; with `data` also its size and sha256."""
    entry = {"id": name, "type": kind, "urls": [url] if isinstance(url, str) else list(url), **more}
    if data is not None:
        entry.update(size=len(data), checksum={"sha256": sha256(data)})
    return entry


def read_tree(directory):
    """The files that a reader finds: path -> bytes, or the target of a symlink that stays inside."""
    directory = pathlib.Path(directory)
    return {str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


def snapshot(directory):
    """Everything below, with what a touch would change."""
    directory = pathlib.Path(directory)
    if not directory.exists():
        return None
    facts = {}
    for path in sorted([directory, *directory.rglob("*")]):
        status = path.lstat()
        facts[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return facts
