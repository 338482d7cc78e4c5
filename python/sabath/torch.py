"""Assets for torch: map-style datasets of files and of HDF5 samples, and a sampler that follows the shard plan.

dataset = FileDataset(sabath.fetch("cosmoflow"), "train/*")
sampler = ShardSampler(dataset, rank, ranks, batch_size=8)
loader = torch.utils.data.DataLoader(dataset, batch_size=8, sampler=sampler, num_workers=4)
"""

from __future__ import annotations

import fnmatch
import os
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy
import torch
from torch.utils.data import Dataset, Sampler

from .asset import Asset
from .files import AssetFiles
from .shards import Plan, RankSampler


def paths_matching(asset: Asset, pattern: str) -> List[str]:
    """In the manifest's order. `*` also matches `/`."""
    return [path for path in asset.files if fnmatch.fnmatchcase(path, pattern)]


class FileDataset(Dataset):
    """A sample is a file. `transform(bytes, path)`: what a sample becomes; None: a tensor of its bytes."""

    lengths: Optional[Sequence[int]] = None  # one sample a file

    def __init__(self, asset: Asset, pattern: str = "*", transform: Optional[Callable[[bytes, str], Any]] = None):
        """Raises Offline if the store does not hold the asset."""
        self.asset, self.paths, self.transform = asset, paths_matching(asset, pattern), transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        path = self.paths[index]
        data = self.asset.files.read(path)
        return self.transform(data, path) if self.transform else torch.frombuffer(bytearray(data), dtype=torch.uint8)


class HDF5Dataset(Dataset):
    """A sample is a row of the HDF5 datasets `keys`, along their first axis, in files one after another; a sample of one key
    is a tensor, of several a tuple. Each worker process opens files of its own."""

    FILES_MAX = 16  # open at a time

    def __init__(
        self, asset: Asset, keys: Sequence[str], pattern: str = "*.h*5", transform: Optional[Callable[..., Any]] = None
    ):
        """Reads the length of each file. Raises Offline, KeyError if a file lacks a key, ValueError if keys differ in
        their lengths."""
        self.asset, self.keys, self.transform = asset, list(keys), transform
        self.paths = paths_matching(asset, pattern)
        self._open: Any = {}
        self._pid = os.getpid()
        self.lengths: List[int] = [self._length(path) for path in self.paths]
        self._ends = numpy.cumsum(self.lengths, dtype=numpy.int64)

    def __len__(self) -> int:
        return int(self._ends[-1]) if self.paths else 0

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(index)
        number = int(numpy.searchsorted(self._ends, index, "right"))
        row = index - int(self._ends[number]) + self.lengths[number]
        file = self._file(self.paths[number])
        sample = tuple(torch.from_numpy(numpy.asarray(file[key][row])) for key in self.keys)
        if self.transform:
            return self.transform(*sample)
        return sample[0] if len(sample) == 1 else sample

    def __getstate__(self) -> Any:
        return {**self.__dict__, "_open": {}}

    def _length(self, path: str) -> int:
        lengths = {len(self._file(path)[key]) for key in self.keys}
        if len(lengths) != 1:
            raise ValueError(f"{path}: {', '.join(self.keys)} differ in their lengths: {sorted(lengths)}")
        return lengths.pop()

    def _file(self, path: str) -> Any:
        if self._pid != os.getpid():  # a parent's HDF5 files must not be used here
            self._open, self._pid = {}, os.getpid()
        if path not in self._open:
            if len(self._open) >= self.FILES_MAX:
                self._open.pop(next(iter(self._open))).close()
            self._open[path] = _hdf5(self.asset.files, path)
        return self._open[path]


def _hdf5(files: AssetFiles, path: str) -> Any:
    import h5py

    place = files.place(path)
    if place and place[1] == 0:  # a file of its own, not a pack: HDF5 reads it best by itself
        return h5py.File(place[0], "r", locking=False)
    return h5py.File(files.open(path), "r")


def ranks_of_job() -> Tuple[int, int]:
    """This process's rank and their number, by torch.distributed if it is initialised; else (0, 1)."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


class ShardSampler(RankSampler, Sampler):
    """RankSampler of a dataset of this module: equal batches on all ranks, another order each epoch, resumable.

    `plan`: that which `stage` wrote (Plan.read()), so that a rank reads what its node has; None: the same is dealt here, by
    `seed` and `overlap`. `rank`, `ranks`: None: those of torch.distributed.
    """

    def __init__(self, dataset: Any, rank: Optional[int] = None, ranks: Optional[int] = None, batch_size: int = 1, *,
                 plan: Optional[Plan] = None, seed: int = 0, overlap: int = 1, shuffle: bool = True,
                 short: str = "repeat"):  # fmt: skip
        """Raises UsageError if the plan is not of the dataset's files."""
        here = ranks_of_job()
        plan = plan or Plan(dataset.paths, here[1] if ranks is None else ranks, seed, overlap)
        if list(plan.paths) != list(dataset.paths):
            plan = plan.only(dataset.paths)
        super().__init__(plan, here[0] if rank is None else rank, batch_size, lengths=dataset.lengths, shuffle=shuffle,
                         seed=seed, short=short)  # fmt: skip
