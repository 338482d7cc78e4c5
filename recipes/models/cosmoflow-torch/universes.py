"""Cubes and parameters out of HDF5 files of CosmoUniverse's shape: `full` (n, n, n, redshifts), `unitPar` (4)."""

import pathlib
import sys

import h5py
import numpy
import torch

CUBES_MAX = 64  # of one universe


def find(directory, most):
    paths = sorted(path for path in pathlib.Path(directory).rglob("*.hdf5") if path.is_file())
    if len(paths) < 2:
        sys.exit(f"{directory} holds {len(paths)} universes (*.hdf5); at least 2 are needed")
    return paths[:most]


def read(path, side):
    """Tensors: cubes (k, redshifts, side, side, side) of counts, and the parameters of each (k, 4)."""
    try:
        with h5py.File(path, "r") as file:
            full, unit = file["full"], torch.from_numpy(numpy.asarray(file["unitPar"][:], numpy.float32))
            if full.ndim != 4 or min(full.shape[:3]) < side or unit.ndim != 1:
                sys.exit(f"{path}: full has the shape {full.shape}, too small for cubes of {side}")
            steps = [range(0, n - side + 1, side) for n in full.shape[:3]]
            corners = [(x, y, z) for x in steps[0] for y in steps[1] for z in steps[2]][:CUBES_MAX]
            cubes = numpy.stack([full[x : x + side, y : y + side, z : z + side] for x, y, z in corners])
    except (OSError, KeyError) as error:
        sys.exit(f"{path}: {error}")
    if cubes.min() < 0:
        sys.exit(f"{path}: counts below zero are no particles")
    cubes = torch.from_numpy(cubes.astype(numpy.float32)).permute(0, 4, 1, 2, 3).contiguous()
    return cubes, unit.expand(len(cubes), -1)


def read_all(paths, side):
    cubes, units = zip(*(read(path, side) for path in paths))
    return torch.cat(cubes), torch.cat(units)
