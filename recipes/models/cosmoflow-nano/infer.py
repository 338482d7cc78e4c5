#!/usr/bin/env python3
"""Predicts the parameters of universes with weights that train.py saved: one line a universe, the mean error at the end."""

import argparse
import sys

import numpy
from network import Network
from universes import BadData, find, read


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="directory with *.hdf5")
    parser.add_argument("--model", required=True, help="weights of train.py")
    parser.add_argument("--universes", type=int, default=64, help="at most so many")
    parser.add_argument("--cube", type=int, default=32)
    options = parser.parse_args()
    try:
        network = Network.load(options.model)
        errors = []
        for path in find(options.data, options.universes):
            cubes, units = read(path, options.cube)
            predicted = network.predict(cubes).mean(axis=0)
            errors.append(numpy.abs(predicted - units[0]))
            values = " ".join(f"{value:+.3f}" for value in predicted)
            print(f"{path.name}: unitPar {values}", flush=True)
    except FileNotFoundError as error:
        sys.exit(f"{error}: give a whole path, as a run has a directory of its own")
    except (BadData, OSError, KeyError, ValueError) as error:
        sys.exit(str(error))
    print(f"Epoch: 0, mae: {numpy.mean(errors):.6f}")


if __name__ == "__main__":
    main()
