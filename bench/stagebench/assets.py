"""What is staged: source files and, in the directory that the nodes will share, a store with the same content."""
import functools
import json
import random
import shutil
import subprocess

from support.ground import MIB, write_random

TREE_BYTES, SMALL_BYTES, PER_DIRECTORY, UNIVERSES = MIB, 16 << 10, 100, 8
REDSHIFTS = 4
ARCHIVE = "all.tar.zst"
FAR_TOO_LONG_S = 600


class Asset:
    """shared/source/NAME and shared/store with the same content, made before anything is slow."""

    def __init__(self, room, sabath, name, make):
        """`make` fills the source and the store, and gives SABATH's record of the asset."""
        self.name, self.shared = name, room / "shared"
        self.source = self.shared / "source" / name
        self.store = self.shared / "store"
        self.source.mkdir(parents=True)
        record = make(self, sabath)
        self.size = sum(file.lstat().st_size for file in self.source.rglob("*") if file.is_file() and not file.is_symlink())
        assert record["bytes"] == self.size, f"the store has {record['bytes']} of {self.size} bytes"

    def discard(self):
        shutil.rmtree(self.shared)

    def files(self):
        return sorted(str(file.relative_to(self.source)) for file in self.source.rglob("*") if file.is_file())


def record_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FAR_TOO_LONG_S)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def fetched(write):
    """`write` makes files in a directory, and gives a recipe's fragments."""
    def make(asset, sabath):
        sabath.write_dataset(asset.name, write(asset.source))
        return record_of(sabath.fetch(asset.name, asset.store))["assets"][0]
    return make


def environment(prefix):
    """`sabath env pack` of a Python prefix; and one archive of the same files, as sites broadcast it."""
    def make(asset, sabath):
        record = record_of(sabath.command("env", "pack", asset.name, prefix, "--store", asset.store, "--json", "-q"))
        run = functools.partial(subprocess.run, check=True, timeout=FAR_TOO_LONG_S)
        asset.source.rmdir()
        run(sabath.command("view", asset.name, "--store", asset.store, "--to", asset.source), stdout=subprocess.DEVNULL)
        (asset.shared / "archives").mkdir()
        run(["tar", "-C", asset.source, "-I", "zstd -3", "-cf", asset.shared / "archives" / ARCHIVE, "."])
        return record
    return make


def one_file(size):
    def write(source):
        write_random(source / "f", size, seed=size)
        return [{"id": "f", "type": "file", "path": "f", "urls": [f"file://{source}/f"]}]
    return fetched(write)


def many_files(size, each):
    """A tree of equal files, a hundred in a directory. Their list is a part of the asset."""
    def write(source):
        generator = random.Random(size)
        names = [f"d{i // PER_DIRECTORY:03d}/f{i:05d}" for i in range(max(1, size // each))]
        for name in names:
            (source / name).parent.mkdir(exist_ok=True)
            (source / name).write_bytes(generator.randbytes(each))
        (source / "list.txt").write_text("".join(f"{name}\n" for name in names), encoding="ascii")
        return [{"id": "all", "type": "file_list", "urls": [f"file://{source}/list.txt"]}]
    return fetched(write)


def universes(size):
    """Files built like CosmoUniverse's: counts by place and redshift, redshift last, not chunked."""
    def write(source):
        import h5py
        import numpy
        edge = max(16, round((size / UNIVERSES / REDSHIFTS / 2) ** (1 / 3)) // 16 * 16)
        generator = numpy.random.default_rng(size)
        names = [f"universe{i}.hdf5" for i in range(UNIVERSES)]
        for i, name in enumerate(names):
            with h5py.File(source / name, "w") as file:
                file["full"] = generator.integers(0, 500, (edge, edge, edge, REDSHIFTS), "i2")
                file["physPar"] = numpy.arange(4, dtype="f4") + i
        return [{"id": name, "type": "file", "path": name, "urls": [f"file://{source}/{name}"]} for name in names]
    return fetched(write)


def same_cubes(source, staged):
    """Whether each staged file has redshift 0 of its universe, as h5py reads both, and nothing else."""
    import h5py
    names = sorted(file.name for file in source.iterdir())
    if not staged.is_dir() or sorted(file.name for file in staged.iterdir()) != names:
        return False
    for name in names:
        with h5py.File(source / name) as whole, h5py.File(staged / name) as part:
            expected = whole["full"][...][:, :, :, 0]
            if list(part) != ["full"] or part["full"].shape != expected.shape or part["full"].dtype != expected.dtype \
                    or not (part["full"][...] == expected).all():
                return False
    return True
