#!/usr/bin/env python3
"""Trains on cubes of simulated universes; prints a line of name=value for each epoch.

Universes are dealt to training and validation whole, so that no cube is judged by its neighbours.
"""

import argparse
import time

import torch
from network import Network
from universes import find, read_all


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="directory with *.hdf5")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cube", type=int, default=32, help="cells a side, a power of two from 8")
    parser.add_argument("--filters", type=int, default=8, help="of the first convolution")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--validation", type=float, default=0.25, help="share of the universes")
    parser.add_argument("--universes", type=int, default=64, help="at most so many")
    parser.add_argument("--model", help="file for the weights")
    options = parser.parse_args()
    if options.cube < 8 or options.cube & (options.cube - 1) or options.batch_size < 1 or options.filters < 1:
        parser.error("--cube is a power of two from 8, --batch-size and --filters are at least 1")
    return options


@torch.no_grad()
def errors(network, cubes, units, batch):
    """Mean squared and mean absolute error."""
    network.eval()
    away = torch.cat([network(part) for part in cubes.split(batch)]) - units
    return away.square().mean().item(), away.abs().mean().item()


def train_epoch(network, optimizer, cubes, units, batch):
    network.train()
    for chosen in torch.randperm(len(cubes)).split(batch):
        optimizer.zero_grad()
        (network(cubes[chosen]) - units[chosen]).square().mean().backward()
        optimizer.step()


def main():
    options = parse()
    torch.manual_seed(options.seed)
    paths = find(options.data, options.universes)
    paths = [paths[i] for i in torch.randperm(len(paths))]
    held_out = min(max(1, round(len(paths) * options.validation)), len(paths) - 1)
    cubes, units = read_all(paths[held_out:], options.cube)
    judged, judged_units = read_all(paths[:held_out], options.cube)
    network = Network(options.cube, cubes.shape[1], units.shape[1], options.filters, options.dropout)
    network.measure(cubes)
    weights = sum(parameter.numel() for parameter in network.parameters())
    print(f"{len(cubes)} cubes to learn from, {len(judged)} to judge by, {weights} weights", flush=True)
    optimizer = torch.optim.Adam(network.parameters(), lr=options.lr)
    for epoch in range(1, options.epochs + 1):
        begin = time.monotonic()
        train_epoch(network, optimizer, cubes, units, options.batch_size)
        loss, mae = errors(network, cubes, units, options.batch_size)
        val_loss, val_mae = errors(network, judged, judged_units, options.batch_size)
        seconds = time.monotonic() - begin
        print(f"epoch={epoch} loss={loss:.6f} mae={mae:.6f} val_loss={val_loss:.6f} val_mae={val_mae:.6f} "
              f"epoch_time={seconds:.3f}", flush=True)  # fmt: skip
    if options.model:
        network.save(options.model)


if __name__ == "__main__":
    main()
