"""The published shard plan of `sabath stage --mode shard` (docs/staging.md), for programs: which rank has which files,
and which samples it reads in an epoch.

A plan deals files; each has one sample or several. In every epoch each sample is read by one rank, all ranks read equally
many batches, and the order differs by epoch and seed. It needs neither torch nor numpy.
"""

from __future__ import annotations

import bisect
import json
import random
from typing import Any, Dict, Iterator, List, Optional, Sequence

from . import errors
from .library import Library

STATE_VERSION = 1


class Plan:
    """Which of `ranks` ranks has which of `paths`. With an `overlap` of K, K ranks in a row have each file. Any thread."""

    def __init__(self, paths: Sequence[str], ranks: int, seed: int = 0, overlap: int = 1):
        """Deals the files as `stage` does, which needs libsabath. Raises UsageError."""
        if not 0 < ranks < 1 << 32 or overlap < 1 or not 0 <= seed < 1 << 64:
            raise errors.UsageError("a plan has at least one rank, an overlap of at least 1, and a seed of 64 bits")
        self.paths, self.ranks, self.seed, self.overlap = paths, ranks, seed, min(overlap, ranks)
        owners = Library.opened().deal(paths, seed, ranks)
        self._owned: List[List[int]] = [[] for _ in range(ranks)]
        for index, owner in enumerate(owners):
            self._owned[owner].append(index)

    @classmethod
    def read(cls, file: Any) -> Plan:
        """A plan that `stage` wrote, DIR/NAME.plan.json. Raises Invalid if it is not that of its files and its seed."""
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        try:
            told = json.loads(text)
            dealt: List[List[str]] = told["files"]
            paths = sorted({path for share in dealt for path in share}, key=_manifest_order)
            plan = cls(paths, len(dealt), told["seed"], told["overlap"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise errors.Invalid(f"{file} is no shard plan: {error!r}", "`sabath stage --mode shard` writes one") from error
        if [plan.files(rank) for rank in range(plan.ranks)] != dealt:
            raise errors.Invalid(f"{file} does not deal its files by its seed", "stage again")
        return plan

    def only(self, paths: Sequence[str]) -> Plan:
        """The plan of some of its files, each where it was dealt to. Raises UsageError for a path that is none of its."""
        owner = {self.paths[index]: rank for rank, owned in enumerate(self._owned) for index in owned}
        part = Plan((), self.ranks, self.seed, self.overlap)
        part.paths = paths
        for index, path in enumerate(paths):
            if path not in owner:
                raise errors.UsageError(f"{path} is not in the plan of {len(owner)} files")
            part._owned[owner[path]].append(index)
        return part

    def owned(self, rank: int) -> Sequence[int]:
        """The files that were dealt to a rank, without an overlap: numbers in `paths`."""
        return self._owned[rank]

    def held(self, rank: int) -> List[int]:
        """The files that a rank has: numbers in `paths`, ascending."""
        return sorted(index for back in range(self.overlap) for index in self._owned[(rank - back) % self.ranks])

    def files(self, rank: int) -> List[str]:
        """The paths that a rank has, as the plan file lists them."""
        return [self.paths[index] for index in self.held(rank)]

    def read_by(self, rank: int, epoch: int) -> Sequence[int]:
        """The files that a rank reads in an epoch: all ranks together read each once. With an overlap a rank reads, epoch
        by epoch, all that it has."""
        return self._owned[(rank - epoch % self.overlap) % self.ranks]


def _manifest_order(path: str) -> List[bytes]:
    return [part.encode("utf-8", "surrogateescape") for part in path.split("/")]


class RankSampler:
    """The samples that one rank reads, epoch by epoch: numbers of samples, for a DataLoader's `sampler` or a loop.

    `lengths`: the number of samples of each of the plan's files, None: one each. Samples are numbered file by file. A rank
    that has fewer than others repeats some of its own, so that all ranks read `len(sampler)` samples, whole batches of
    `batch_size`. With `short="drop"` all ranks leave out what is more than the shortest has in whole batches instead.
    """

    def __init__(self, plan: Plan, rank: int, batch_size: int = 1, *, lengths: Optional[Sequence[int]] = None,
                 shuffle: bool = True, seed: Optional[int] = None, short: str = "repeat"):  # fmt: skip
        """Raises UsageError."""
        if not 0 <= rank < plan.ranks or batch_size < 1 or short not in ("repeat", "drop"):
            raise errors.UsageError(f"a rank of 0 to {plan.ranks - 1}, a batch_size of at least 1, short repeat or drop")
        if lengths is not None and len(lengths) != len(plan.paths):
            raise errors.UsageError(f"{len(lengths)} lengths for {len(plan.paths)} files")
        self.plan, self.rank, self.batch_size, self.lengths = plan, rank, batch_size, lengths
        self.shuffle, self.short, self.seed = shuffle, short, plan.seed if seed is None else seed
        self._starts = _sums(lengths) if lengths is not None else None
        counts = [self._count(share) for share in range(plan.ranks)]
        # The same in all epochs: a rank's files change with an overlap, those of all shares do not.
        self.batches = -(-max(counts) // batch_size) if short == "repeat" else min(counts) // batch_size
        if short == "repeat" and min(counts) == 0 and max(counts) > 0:
            few = f"{sum(counts)} samples in {len(plan.paths)} files are too few for {plan.ranks} ranks: one has none"
            raise errors.UsageError(few, 'use fewer ranks, or short="drop"')
        self.epoch, self.position = 0, 0

    def __len__(self) -> int:
        """Samples of an epoch, on every rank."""
        return self.batches * self.batch_size

    def __iter__(self) -> Iterator[int]:
        """From `position` on; afterwards the next epoch begins at 0 by itself."""
        samples = self.samples(self.epoch)
        while self.position < len(samples):
            self.position += 1
            yield samples[self.position - 1]
        self.set_epoch(self.epoch + 1)

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch, self.position = epoch, 0

    def samples(self, epoch: int) -> List[int]:
        """The rank's samples of an epoch, in their order: a function of plan, rank, seed and epoch alone."""
        files = self.plan.read_by(self.rank, epoch)
        if self._starts is None:
            samples = list(files)
        else:
            samples = [each for file in files for each in range(self._starts[file], self._starts[file + 1])]
        if self.shuffle:
            random.Random(f"{self.seed}/{epoch}/{self.rank}").shuffle(samples)
        wanted = len(self)
        while 0 < len(samples) < wanted:
            samples += samples[: wanted - len(samples)]
        return samples[:wanted]

    def place(self, sample: int) -> Any:
        """The file of a sample, and its number in it: (number in the plan's `paths`, number)."""
        if self._starts is None:
            return sample, 0
        file = bisect.bisect_right(self._starts, sample) - 1
        return file, sample - self._starts[file]

    def state_dict(self, consumed: Optional[int] = None) -> Dict[str, Any]:
        """Its place, to go on in the middle of an epoch. `consumed`: the samples of this epoch that training has used;
        None: all that were handed out, which with the workers of a DataLoader are some more."""
        return {"version": STATE_VERSION, "epoch": self.epoch, "position": self.position if consumed is None else consumed,
                **self._identity()}  # fmt: skip

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Raises UsageError if the state is that of other samples, ranks or batches."""
        different = [key for key, value in self._identity().items() if state.get(key) != value]
        if state.get("version") != STATE_VERSION or different:
            raise errors.UsageError(f"the state is not of this sampler: other {', '.join(different) or 'version'}")
        if not 0 <= state["position"] <= len(self):
            raise errors.UsageError(f"the state's position {state['position']} is not in an epoch of {len(self)} samples")
        self.epoch, self.position = state["epoch"], state["position"]

    def _identity(self) -> Dict[str, Any]:
        return {"ranks": self.plan.ranks, "plan_seed": self.plan.seed, "overlap": self.plan.overlap, "seed": self.seed,
                "files": len(self.plan.paths), "samples": self._total(), "batch_size": self.batch_size,
                "shuffle": self.shuffle, "short": self.short}  # fmt: skip

    def _count(self, share: int) -> int:
        owned = self.plan.owned(share)
        return len(owned) if self.lengths is None else sum(self.lengths[file] for file in owned)

    def _total(self) -> int:
        return len(self.plan.paths) if self._starts is None else self._starts[-1]


def _sums(lengths: Sequence[int]) -> List[int]:
    sums = [0]
    for length in lengths:
        sums.append(sums[-1] + length)
    return sums
