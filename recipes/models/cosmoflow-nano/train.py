#!/usr/bin/env python3
"""Trains on small cubes of simulated universes; prints epochs as Keras does.

Universes are dealt to training and validation whole, so that no cube is judged by its neighbours.
"""

import argparse
import sys
import time

import numpy
from network import Adam, Network
from ranks import join
from universes import BadData, find, read_all


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="directory with *.hdf5")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.003, help="learning rate")
    parser.add_argument("--batch-size", type=int, default=4, help="cubes, of each rank")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cube", type=int, default=32, help="cells a side, a multiple of 8")
    parser.add_argument("--validation", type=float, default=0.25, help="share of the universes")
    parser.add_argument("--universes", type=int, default=64, help="at most so many")
    parser.add_argument("--model", help="file for the weights")
    options = parser.parse_args()
    if options.cube < 8 or options.cube % 8 or options.batch_size < 1 or options.epochs < 0:
        parser.error("--cube is a positive multiple of 8, --batch-size at least 1, --epochs at least 0")
    return options


def errors(network, ranks, cubes, units):
    """Mean squared and mean absolute error over all ranks."""
    away = network.predict(cubes) - units if len(cubes) else numpy.zeros((0, 1))
    squares, absolute, count = ranks.sum([float((away**2).sum()), float(numpy.abs(away).sum()), away.size])
    return squares / max(count, 1), absolute / max(count, 1)


def train_epoch(network, optimizer, ranks, random, options, cubes, units, batches):
    order = random.permutation(len(cubes))
    for batch in range(batches):
        chosen = order[numpy.arange(batch * options.batch_size, (batch + 1) * options.batch_size) % len(order)]
        predicted, tape = network.forward(cubes[chosen])
        slope = 2 * (predicted - units[chosen]) / numpy.float32(units[chosen].size)
        optimizer.update(ranks.mean(network.backward(slope, tape), len(chosen)))


def run(options, ranks):
    paths = find(options.data, options.universes)
    held_out = max(1, round(len(paths) * options.validation))
    random = numpy.random.default_rng(options.seed)
    paths = [paths[i] for i in random.permutation(len(paths))]
    learning, judging = paths[held_out:], paths[:held_out]
    if len(learning) < ranks.size:
        raise BadData(f"{len(learning)} universes to learn from are too few for {ranks.size} ranks")
    cubes, units = read_all(learning[ranks.rank :: ranks.size], options.cube)
    mine = judging[ranks.rank :: ranks.size]
    judged, judged_units = read_all(mine, options.cube) if mine else (cubes[:0], units[:0])

    total, squares, count = ranks.sum([float(cubes.sum()), float((cubes**2).sum()), cubes.size])
    spread = max(squares / count - (total / count) ** 2, 1e-6) ** 0.5
    network = Network(cubes.shape[-1], units.shape[-1], total / count, spread, options.seed)
    network.parameters = ranks.same(network.parameters)
    optimizer = Adam(network.parameters, options.lr)
    (all_cubes,) = ranks.sum([len(cubes)])
    batches = max(1, round(all_cubes / ranks.size / options.batch_size))  # the same number on every rank
    own_random = numpy.random.default_rng([options.seed, ranks.rank])
    say = print if ranks.rank == 0 else lambda *_, **__: None
    say(f"{len(learning)} universes to learn from, {len(judging)} to judge by, {ranks.size} ranks", flush=True)
    for epoch in range(1, options.epochs + 1):
        begin = time.monotonic()
        say(f"Epoch {epoch}/{options.epochs}", flush=True)
        train_epoch(network, optimizer, ranks, own_random, options, cubes, units, batches)
        loss, mae = errors(network, ranks, cubes, units)
        val_loss, val_mae = errors(network, ranks, judged, judged_units)
        seconds = time.monotonic() - begin
        say(
            f"{batches}/{batches} - {seconds:.0f}s - loss: {loss:.6f} - mae: {mae:.6f} - val_loss: {val_loss:.6f} - "
            f"val_mae: {val_mae:.6f} - {1000 * seconds:.0f}ms/epoch - {1000 * seconds / batches:.0f}ms/step",
            flush=True,
        )
    if options.model and ranks.rank == 0:
        network.save(options.model)


def main():
    options = parse()
    ranks = join()
    try:
        run(options, ranks)
    except BadData as error:
        print(f"rank {ranks.rank}: {error}", file=sys.stderr, flush=True)
        ranks.abort()


if __name__ == "__main__":
    main()
