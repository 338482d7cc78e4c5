"""Cubes and parameters out of HDF5 files of CosmoUniverse's shape: `full` (n, n, n, redshifts) int16, `unitPar`."""

import pathlib

import h5py
import numpy

MEAN_COUNT_MAX = 1e4  # more particles a cell than any release has: the file is something else


class BadData(Exception):
    """A file that is no universe, or none at all."""


def find(directory, most):
    """The first `most` universes below a directory, in the order of their names."""
    paths = sorted(path for path in pathlib.Path(directory).rglob("*.hdf5") if path.is_file())
    if len(paths) < 2:
        raise BadData(f"{directory} holds {len(paths)} universes (*.hdf5); at least 2 are needed")
    return paths[:most]


def read(path, side, most_cubes=64):
    """Cubes (k, side, side, side, redshifts) of log(1 + count), float32, and the parameters of each (k, 4)."""
    try:
        with h5py.File(path, "r") as file:
            full, unit = file["full"], numpy.asarray(file["unitPar"][:], numpy.float32)
            if full.ndim != 4 or len(set(full.shape[:3])) != 1 or full.shape[0] < side or unit.ndim != 1:
                raise BadData(f"{path}: full has the shape {full.shape}, too small for cubes of {side}")
            steps = range(0, full.shape[0] - side + 1, side)
            corners = [(x, y, z) for x in steps for y in steps for z in steps][:most_cubes]
            cubes = numpy.stack([full[x : x + side, y : y + side, z : z + side] for x, y, z in corners])
    except (OSError, KeyError) as error:
        raise BadData(f"{path}: {error}") from error
    if not 0 <= cubes.mean() <= MEAN_COUNT_MAX:
        raise BadData(f"{path}: its counts cannot be particles, their mean is {cubes.mean()}")
    return numpy.log1p(cubes.astype(numpy.float32)), numpy.tile(unit, (len(cubes), 1))


def read_all(paths, side):
    parts = [read(path, side) for path in paths]
    return numpy.concatenate([cubes for cubes, _ in parts]), numpy.concatenate([units for _, units in parts])
