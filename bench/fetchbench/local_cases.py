"""The cases without a network: what reading, hashing and unpacking cost, on one core and on all."""
import json
import os
import random
import subprocess
import tarfile

from support.ground import MIB, sha256_of
from .loopback_cases import on_cores
from support.ours import FAR_TOO_LONG_S
from support.trial import Tool, Trial

MEMBER_BYTES, PER_DIRECTORY = 4 * MIB, 100  # 1,000 small files and more would be packed
VERIFY, ADOPT, UNPACK = "sabath verify", "sabath adopt", "sabath fetch of a tar"


def cores_of(bench, case):
    """One and all, unless --cores says otherwise."""
    every = len(os.sched_getaffinity(0))
    return on_cores(bench, case, sorted({1, every}))


def printed(bench):
    """The record that the last run printed; {} if there is none."""
    try:
        return json.loads((bench.ground.scratch / "stdout").read_text(encoding="utf-8"))
    except ValueError:
        return {}


def nothing(_):
    return []


def trials(bench, case, size, tools):
    for named, enter in cores_of(bench, case):
        yield Trial(named, size, bench.chosen(tools), nothing, enter=enter, describe=words)


def words(row):
    used = row.median("user_s") + row.median("system_s")
    return f"{used:.2f} s of processor time, {used / row.wall_s:.1f} cores"


def sums(path):
    """What people do today to know that a file is still what it was."""
    return Tool("sha256sum", ["sha256sum", path], lambda _: True, verifies=True)


def verify(bench):
    """A store with one file, which is read again."""
    one, store = bench.one(bench.sizes.local), bench.ground.room / "kept"
    name = "kept"
    if not store.exists():
        fragment = {"type": "file", "path": "f", "urls": [f"file://{one.path}"], "size": one.size}
        bench.sabath.write_recipe(name, fragment)
        subprocess.run(bench.sabath.fetch(name, store), check=True, stdout=subprocess.DEVNULL, timeout=FAR_TOO_LONG_S)
    argv = bench.sabath.command("verify", name, "--store", store, "--json", "-q")

    def right(_):
        return [asset.get("bytes_read") for asset in printed(bench).get("assets", [])] == [one.size]
    yield from trials(bench, "local-verify", one.size, [Tool(VERIFY, argv, right, verifies=True), sums(one.path)])


def adopt(bench):
    one = bench.one(bench.sizes.local)
    argv = bench.sabath.command("adopt", one.path.parent, "--store", bench.ground.results / "store", "--json", "-q")

    def right(_):
        record = printed(bench)
        return (record.get("bytes"), record.get("manifest")) == (one.size, one.root)
    yield from trials(bench, "local-adopt", one.size, [Tool(ADOPT, argv, right, verifies=True), sums(one.path)])


class Archive:
    """archive/t.tar of the files in archive/tree, of 4 MiB each."""

    def __init__(self, room, size):
        self.tree, self.path = room / "archive" / "tree", room / "archive" / "t.tar"
        generator = random.Random(size)
        for index in range(max(1, size // MEMBER_BYTES)):
            file = self.tree / f"d{index // PER_DIRECTORY:03d}" / f"f{index:05d}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(generator.randbytes(MEMBER_BYTES))
        with tarfile.open(self.path, "w") as tar:
            for directory in sorted(self.tree.iterdir()):
                tar.add(directory, directory.name)
        self.size, self.sha256 = self.path.stat().st_size, sha256_of(self.path)

    def same(self, directory):
        return bool(directory) and subprocess.run(["diff", "-rq", self.tree, f"{directory}/"], check=False,
                                                  stdout=subprocess.DEVNULL).returncode == 0


def unpack(bench):
    archive = bench.make_once("archive", lambda: Archive(bench.ground.room, bench.sizes.local))
    store, out = bench.ground.results / "store", bench.ground.results / "many"
    fragment = {"type": "archive", "urls": [f"file://{archive.path}"], "size": archive.size}
    bench.sabath.write_recipe("archive", fragment | {"checksum": {"sha256": archive.sha256}})
    tools = [Tool(UNPACK, bench.sabath.fetch("archive", store), lambda record: archive.same(record.get("path")),
                  verifies=True),
             Tool("tar", ["tar", "-xf", archive.path, "-C", out], lambda _: archive.same(out))]
    yield from trials(bench, "local-unpack", archive.size, tools)


CASES = {"local-verify": verify, "local-adopt": adopt, "local-unpack": unpack}
