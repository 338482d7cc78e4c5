#!/usr/bin/env python3
"""Predicts the parameters of universes with trained weights: a line for each, the mean error at the end."""

import argparse
import pickle
import sys

import torch
from network import Network
from universes import find, read


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="directory with *.hdf5")
    parser.add_argument("--model", required=True, help="weights of train.py")
    parser.add_argument("--universes", type=int, default=64, help="at most so many")
    options = parser.parse_args()
    try:
        network = Network.load(options.model)
    except FileNotFoundError as error:
        sys.exit(f"{error}: give a whole path, as a run has a directory of its own")
    except (OSError, RuntimeError, KeyError, TypeError, pickle.UnpicklingError) as error:
        sys.exit(f"{options.model}: {error}")
    away = []
    with torch.no_grad():
        for path in find(options.data, options.universes):
            cubes, units = read(path, network.shape["side"])
            predicted = network(cubes).mean(dim=0)
            away.append((predicted - units[0]).abs())
            print(f"{path.name}: unitPar " + " ".join(f"{value:+.3f}" for value in predicted.tolist()), flush=True)
    print(f"epoch=0 mae={torch.stack(away).mean().item():.6f}")


if __name__ == "__main__":
    main()
