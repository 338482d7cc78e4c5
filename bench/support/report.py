"""The table for people and the JSON for programs."""
import dataclasses
import json
import os
import platform
import re

from . import ours
from .ground import MIB

HEAD = ("case", "tool", "median s", "min-max", "GB/s", "user s", "system s", "RSS MiB", "x ideal", "x best", "right")
BUSY = 1.5  # a tool and its server keep about one core each busy
WIDTHS = (27, 24, 9, 13, 6, 7, 8, 8, 8, 7, 0)
TEXT = (0, 1, 10)


def line_of(cells, widths, text):
    return " ".join(f"{cell:{'<' if index in text else '>'}{width}}"
                    for index, (cell, width) in enumerate(zip(cells, widths))).rstrip()


def print_head(head=HEAD, widths=WIDTHS, text=TEXT):
    print(line_of(head, widths, text), flush=True)


def ratio(value, base):
    return f"{value / base:.2f}" if base else "-"


def times_of(row):
    """Median, and the shortest and the longest."""
    walls = [run.usage.wall_s for run in row.runs]
    return f"{row.wall_s:.2f}", f"{min(walls):.2f}-{max(walls):.2f}"


def right_of(row):
    return f"{row.right}/{len(row.runs)}" + (f" exit {','.join(map(str, row.exits))}" if row.exits else "")


def rate_of(size, seconds):
    return f"{size / 1e9 / seconds:.2f}" if seconds else "-"


def by_time(outcome):
    return sorted(outcome.rows.values(), key=lambda row: row.wall_s)


def cells_of(outcome):
    best = outcome.best_peer()
    return [(outcome.trial.case, row.tool.name, *times_of(row), rate_of(outcome.trial.size, row.wall_s),
             f"{row.median('user_s'):.2f}", f"{row.median('system_s'):.2f}", f"{row.rss_bytes / MIB:.0f}",
             ratio(row.wall_s, outcome.trial.ideal_s), ratio(row.wall_s, best.wall_s if best else 0), right_of(row))
            for row in by_time(outcome)]


def notes_of(outcome, judge=True):
    describe_row = outcome.trial.describe or (lambda row: describe_bytes(row, outcome.trial.size))
    return [f"{row.tool.name}: {describe_row(row)}" for row in outcome.ours()] + bars_of(outcome, judge)


def bars_of(outcome, judge=True):
    return [f"{verdict(bar, judge):10} {bar.text}: {describe(bar)}" for bar in outcome.bars]


def load_of(outcomes):
    """Nothing, or a line that says that others used the machine meanwhile."""
    load = max((run.load for outcome in outcomes for row in outcome.rows.values() for run in row.runs), default=0)
    cores = os.cpu_count()
    return [] if load <= BUSY * cores else [
        f"the machine was busy (load up to {load:.1f} on {cores} cores): measure again when it is idle"]


def print_cells(outcome, cells, notes, widths=WIDTHS, text=TEXT):
    for row in cells:
        print(line_of(row, widths, text))
    for note in notes + load_of([outcome]):
        print(f"  {note}")
    print(flush=True)


def print_outcome(outcome, judge):
    print_cells(outcome, cells_of(outcome), notes_of(outcome, judge))


def blocks(outcomes, judge=True):
    """For results.append."""
    return [(HEAD, [(cells_of(outcome), notes_of(outcome, judge)) for outcome in outcomes])]


def describe_bytes(row, size):
    """What the record of the last run says, beside what the server says."""
    run = row.runs[-1]
    fetched = run.record.get("fetched_bytes")
    if fetched is None:
        return "no record"
    demoted = [source["url"] for source in run.record["sources"] if source["demoted"]]
    logged = "" if run.sent_bytes is None else f", by the server's log {run.sent_bytes}"
    named = f"; demoted {' '.join(demoted)}" if demoted else ""
    return f"fetched_bytes {fetched} ({fetched / size:.4f} x the size{logged}), {row.connections} connections{named}"


def verdict(bar, judge):
    if bar.met is None:
        return "UNKNOWN"
    if not judge:
        return "not judged"
    return "MET" if bar.met else "MISSED"


def describe(bar):
    if bar.value is None or bar.limit is None:
        return "what it is compared with was not measured"
    return f"{bar.value:.2f} {bar.unit}, bar {bar.limit:.2f} {bar.unit}"


def describe_run(run, is_ours):
    told = run.usage.told() | {"right": run.right, "sent_bytes": run.sent_bytes, "load": run.load}
    if is_ours:
        told["record"] = ours.figures(run.record)
    return told


def describe_outcome(outcome):
    best = outcome.best_peer()
    trial = outcome.trial
    return {
        "case": trial.case, "bytes": trial.size, "ideal_s": trial.ideal_s or None,
        "reference": outcome.reference(), "references": outcome.references,
        "bars": [dataclasses.asdict(bar) | {"met": bar.met} for bar in outcome.bars],
        "tools": [{
            "tool": row.tool.name, "argv": [str(word) for word in row.tool.argv], "verifies": row.tool.verifies,
            "median_wall_s": row.wall_s, "median_cpu_s": row.median("cpu_s"), "peak_rss_bytes": row.rss_bytes,
            "ratio_to_ideal": row.wall_s / trial.ideal_s if trial.ideal_s else None,
            "ratio_to_best_peer": row.wall_s / best.wall_s if best else None, "right": row.right,
            "runs": [describe_run(run, row.tool.is_ours) for run in row.runs],
        } for row in outcome.rows.values()],
    }


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        model = re.search(r"model name\s*:\s*(.*)", text.read())
    return {"cpu": model[1] if model else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "load": os.getloadavg()}


def write_json(path, bench, machine_before, describe=describe_outcome, **more):
    told = {
        "schema": 1, "sabath": bench.sabath.version(), "machine": machine_before,
        "options": {key: value if value is None or isinstance(value, (int, list)) else str(value)
                    for key, value in vars(bench.options).items()},
        **more,
        "cases": [describe(outcome) for outcome in bench.outcomes],
        "skipped": [{"case": case, "reason": str(reason)} for case, reason in bench.skipped],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1)
        file.write("\n")
