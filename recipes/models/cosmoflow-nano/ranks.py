"""The ranks of an MPI job behind a small face; one rank where there is no launcher or no mpi4py."""

import os
import sys

import numpy


class Alone:
    rank, size = 0, 1

    def mean(self, arrays, weight):
        del weight
        return arrays

    def sum(self, values):
        return values

    def same(self, arrays):
        return arrays

    def abort(self):
        sys.exit(1)


class Job:
    """Float32 arrays by name are averaged in one reduction: small messages are what costs."""

    def __init__(self, mpi):
        self.mpi, self.comm = mpi, mpi.COMM_WORLD
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()

    def mean(self, arrays, weight):
        """The mean over the ranks, each counted `weight` times."""
        flat = numpy.concatenate([array.ravel() * numpy.float32(weight) for array in arrays.values()])
        flat = numpy.append(flat, numpy.float32(weight))
        self.comm.Allreduce(self.mpi.IN_PLACE, flat, op=self.mpi.SUM)
        result, at = {}, 0
        for name, array in arrays.items():
            result[name] = (flat[at : at + array.size] / flat[-1]).reshape(array.shape)
            at += array.size
        return result

    def sum(self, values):
        total = numpy.array(values, numpy.float64)
        self.comm.Allreduce(self.mpi.IN_PLACE, total, op=self.mpi.SUM)
        return total.tolist()

    def same(self, arrays):
        """Rank 0's arrays for all."""
        return self.comm.bcast(arrays, root=0)

    def abort(self):
        self.comm.Abort(1)


def join():
    launched = any(int(os.environ.get(name, "1")) > 1 for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"))
    if not launched:
        return Alone()
    try:
        from mpi4py import MPI
    except ImportError:
        sys.exit("several ranks were launched, and this Python has no mpi4py (Debian: python3-mpi4py)")
    return Job(MPI)
