#!/usr/bin/python3
"""Every value in real logs is read, and nothing else: what `sabath report --format csv` says, counted in another way."""

import csv
import io
import json
import math
import os
import pathlib
import random
import re
import unittest
from collections import Counter

from support.case import Case, main

DATA = pathlib.Path(os.environ.get("SABATH_TEST_DATA", "/nonexistent"))
PLACES = {"file", "lineno", "status", "epoch_num", "epoch", "step_num", "step", "instance", "instance_id"}
MARK = ":::MLLOG"


def number(value):
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        return float(value) if re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", value) else None
    return float(value)


def leaves(name, value):
    """What a JSON value says under this name: lists by index, objects by their own names."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(key, inner)]
    if isinstance(value, list):
        return [leaf for i, inner in enumerate(value) for leaf in leaves(f"{name}[{i}]", inner)]
    value = number(value)
    return [] if value is None else [(name, value)]


def mlperf(lines):
    """(epoch, step, rank, name, value) by Python's own JSON reader, which takes a bare NaN."""
    begun = {}
    for line in lines:
        if MARK not in line:
            continue
        head, text = line.split(MARK, 1)
        event = json.loads(text)
        metadata = event["metadata"]
        epoch = metadata.get("epoch_num", metadata.get("epoch"))
        step = metadata.get("step_num", metadata.get("step"))
        rank = int(head.strip().rstrip(":")) if head.strip() else None
        told = leaves(event["key"], event["value"])
        for name, value in metadata.items():
            if name not in PLACES:
                told += leaves(name, value)
        if event["key"] == "run_stop" and "status" in metadata:
            told.append(("run_success", float(metadata["status"] == "success")))
        key, edge = event["key"].rpartition("_")[::2]
        place = (key, metadata.get("instance", 0))
        if edge == "start":
            begun[place] = (event["time_ms"], epoch)
        elif edge == "stop" and place in begun:
            begin, begin_epoch = begun.pop(place)
            epoch = begin_epoch if epoch is None else epoch
            told.append((key + "_time", (event["time_ms"] - begin) / 1000))
        for name, value in told:
            yield epoch, step, rank, name, value


DURATION = {"s": 1, "ms": 1e-3, "us": 1e-6}


def keras(text):
    """Bars of TF: the last piece of each line that is not on its way, values by regular expression."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    epoch = None
    for line in text.splitlines():
        if header := re.fullmatch(r"Epoch (\d+)/\d+", line):
            epoch = int(header[1])
        bar = re.match(r"(\d+)/(\d+) \[=+\] - (\d+)s (\d+)(s|ms|us)/(step|sample) - (.*)", line)
        if not bar or bar[1] != bar[2]:
            continue
        pairs = [pair.split(": ") for pair in bar[7].split(" - ")]
        if any(len(pair) != 2 for pair in pairs):
            continue  # cut off
        for name, value in pairs:
            yield epoch, None, None, name, float(value)
        yield epoch, None, None, "epoch_time", float(bar[3])
        yield epoch, None, None, bar[6] + "_time", float(bar[4]) * DURATION[bar[5]]


def lightning(text):
    for bar in re.finditer(r"Epoch (\d+): 100%\|[^|]*\| \d+/\d+ \[(\d+):(\d+)<[^,]*, *([\d.]+)it/s, ([^]]*)\]", text):
        epoch = int(bar[1])
        for pair in bar[5].split(", "):
            name, value = pair.split("=")
            yield epoch, None, None, name, float(value.replace("nan.0", "nan"))
        yield epoch, None, None, "epoch_time", int(bar[2]) * 60.0 + int(bar[3])
        yield epoch, None, None, "iterations_per_second", float(bar[4])


def counted(tuples):
    """As a multiset; numbers as text that is the same for equal ones."""

    def plain(value):
        if value is None:
            return ""
        if isinstance(value, float):
            return "nan" if math.isnan(value) else f"{value:.12g}"
        return f"{float(value):.12g}"

    return Counter((plain(e), plain(s), plain(r), name, plain(value)) for e, s, r, name, value in tuples)


class MadeLogs(Case):
    def report(self, *arguments, code=0):
        return self.expect(self.sabath.run("report", *arguments), code)

    def test_what_is_not_understood_is_told(self):
        (self.home / "commas.log").write_text("Epoch: 0 | Train Loss: 0,5\nEpoch: 1 | Train Loss: 0,25\nepoch=1 acc=0.5\n")
        done = self.report("commas.log", "--json")
        self.assertIn("2 lines look like metrics and are not understood, first line 1: 'Epoch: 0 | Train Loss: 0,5'", done.err)
        self.assertIn("--pattern", done.err)
        self.assertEqual((done.record["runs"][0]["not_understood"], done.record["runs"][0]["values"]), (2, 1))
        self.assertIn("there is no such metric", self.report("commas.log", "--expect", "Train Loss<=0.3", code=3).err)
        self.assertIn("2 lines look", self.expect(self.sabath.run("compare", "commas.log", "commas.log")).err)
        (self.home / "words.log").write_text("it went well\n")
        self.assertIn("words.log has no metric\n", self.report("words.log").err)
        self.assertIn("words.log has no metric", self.report("words.log", "--expect", "loss<1", code=3).err)
        (self.home / "own.log").write_text("after round 5 we have test loss = 0.25\n")
        self.assertIn("own.log has no metric: 1 line looks like metrics and is not understood", self.report("own.log").err)
        done = self.report("own.log", "--pattern", r"round (?P<step>\d+) we have (?P<values>.*)", "--expect", "test loss=0.25")
        self.assertNotIn("not understood", done.err)

    def test_a_log_beyond_every_bound_is_written_out(self):
        names = [f"loss_{i}" for i in range(20_001)]
        (self.home / "many.jsonl").write_text("".join(json.dumps({"epoch": 1, name: 0.5}) + "\n" for name in names))
        refused = self.expect(self.sabath.run("report", "many.jsonl"), 12)
        self.assertIn("sabath report --format csv", refused.err)
        rows = list(csv.DictReader(io.StringIO(self.expect(self.sabath.run("report", "many.jsonl", "--format", "csv")).out)))
        self.assertEqual([row["name"] for row in rows], names)
        record = self.expect(self.sabath.run("report", "many.jsonl", "--format", "csv", "-o", "all.csv", "--json")).record
        self.assertEqual((record["runs"][0]["values"], record["runs"][0]["metrics"]), (len(names), None))

    def test_a_summary_replaces_no_epoch(self):
        """It may count from 0 where the epochs were counted from 1."""
        stamp = "2026-01-02 03:04:05,678 INFO "
        text = "".join(f"Epoch {i}/3\n4/4 - 9s - loss: 0.{9 - i} - val_loss: 0.{8 - i}\n" for i in (1, 2, 3))
        text += f"{stamp}Best result:\n{stamp}  epoch: 2\n{stamp}  loss: 0.125\n{stamp}  val_loss: 0.0625\n"
        (self.home / "best.log").write_text(text)
        (run,) = self.report("best.log", "--json").record["runs"]
        values = {metric["name"]: metric["y"] for metric in run["metrics"]}
        self.assertEqual((values["loss"], values["val_loss"]), ([0.8, 0.7, 0.6], [0.7, 0.6, 0.5]))
        self.assertEqual(run["figures"], {"best epoch": 2, "best loss": 0.125, "best val_loss": 0.0625})
        self.report("best.log", "--expect", "best val_loss=0.0625", "--expect", "val_loss=0.5")


@unittest.skipUnless(DATA.is_dir(), "SABATH_TEST_DATA names no directory with real logs")
class RealLogs(Case):
    def read(self, path, *options):
        text = self.expect(self.sabath.run("report", path, "--format", "csv", *options)).out
        for row in csv.DictReader(io.StringIO(text)):
            yield (
                float(row["epoch"]) if row["epoch"] else None,
                int(row["step"]) if row["step"] else None,
                int(row["rank"]) if row["rank"] else None,
                row["name"],
                float(row["value"]),
            )

    def same(self, path, expected):
        found, wanted = counted(self.read(path)), counted(expected)
        self.assertGreater(sum(wanted.values()), 0)
        self.assertEqual(found - wanted, Counter(), f"{path.name}: told, and not in the log")
        self.assertEqual(wanted - found, Counter(), f"{path.name}: in the log, and not told")
        return sum(wanted.values())

    def test_mlperf(self):
        logs = sorted((DATA / "mlperf_logs").iterdir())
        self.assertGreaterEqual(len(logs), 7)
        total = sum(self.same(log, mlperf(log.read_text().splitlines())) for log in logs)
        print(f"MLPerf: {len(logs)} logs, {total} values")

    def test_keras(self):
        for name in ("miniweatherml_kessler_keras", "nanoconfinement_keras_excluderandom", "ptychonn_keras2.2.4_train_network"):
            log = DATA / "trainlogs" / f"{name}.txt"
            print(f"{name}: {self.same(log, keras(log.read_text()))} values")

    def test_lightning(self):
        log = DATA / "trainlogs" / "ptychonn_lightning_train.txt"
        print(f"Lightning: {self.same(log, lightning(log.read_text()))} values")

    def test_all_at_once_in_any_order(self):
        """Each log is one rank of a job; lines of all of them are shuffled, with garbage between them."""
        seed = int(os.environ.get("SABATH_SEED", random.randrange(1 << 32)))
        print(f"SABATH_SEED={seed}")
        dice = random.Random(seed)
        ranks = []
        expected = []
        for name in ("v1.0_FujitsuRIKEN_fugaku_512_cosmoflow_result_1", "v3.0_HPE-LBNL_perlmutter_128x4_cosmoflow_result_1",
                     "r3.0_HPE-LBNL_perlmutter_512x4_strong_deepcam_result_1"):  # fmt: skip
            text = (DATA / "mlperf_logs" / f"{name}.txt").read_text()
            expected.append(list(mlperf(text.splitlines())))
            ranks.append(text.splitlines())
        for name in ("miniweatherml_kessler_keras", "nanoconfinement_keras_excluderandom", "ptychonn_keras2.2.4_train_network"):
            text = (DATA / "trainlogs" / f"{name}.txt").read_text()
            expected.append(list(keras(text)))
            ranks.append(text.splitlines())
        wanted = [(e, s, rank, n, v) for rank, told in enumerate(expected) for e, s, _, n, v in told]
        for prefix in ("{:>3}: ", "[1,{}]<stdout>:", "[rank{}]: "):
            queue = [rank for rank, lines in enumerate(ranks) for _ in lines]
            dice.shuffle(queue)
            streams = [iter(lines) for lines in ranks]
            log = self.home / "merged.log"
            with open(log, "wb") as file:
                for rank in queue:
                    if dice.random() < 0.2:
                        file.write(dice.randbytes(dice.randrange(80)).replace(b":::", b"..") + b"\n")
                    file.write(prefix.format(rank).encode() + next(streams[rank]).encode() + b"\n")
            self.same(log, wanted)


if __name__ == "__main__":
    main()
