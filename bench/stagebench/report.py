"""The table for people and the JSON for programs."""
import dataclasses
import sys

from support import report as table
from support.ground import MIB
from support.report import ratio

from . import wire, wire_report

HEAD = ("case", "tool", "median s", "min-max", "x bound", "x best", "shared MiB", "x size", "meta ops", "links MiB",
        "load", "right")
WIDTHS = (18, 22, 9, 13, 8, 7, 11, 7, 9, 10, 6, 0)
TEXT = (0, 1, 11)


def cells_of(outcome):
    best, cells = outcome.best_peer(), []
    for row in table.by_time(outcome):
        shared = outcome.median(row, lambda run: run.shared["read_bytes"])
        cells.append((outcome.trial.case, row.tool.name, *table.times_of(row),
                      ratio(row.wall_s, outcome.trial.ideal_s), ratio(row.wall_s, best.wall_s if best else 0),
                      f"{shared / MIB:.1f}", ratio(shared, outcome.trial.size),
                      f"{outcome.median(row, lambda run: run.shared['meta_ops']):.0f}",
                      f"{outcome.median(row, lambda run: run.link_bytes) / MIB:.1f}",
                      f"{max(run.load for run in row.runs):.1f}", table.right_of(row)))
    return cells


def notes_of(outcome, judge=True):
    idle = f"{outcome.reference():.2f} s" if outcome.references else "?"
    return [f"{row.tool.name}: {describe_counts(row.runs[-1])}" for row in outcome.ours()] + \
        [f"{outcome.trial.size} bytes, bound {outcome.trial.ideal_s:.2f} s; "
         f"mpirun of a program that does nothing: {idle}"] + table.bars_of(outcome, judge)


def table_of(outcome):
    """The module that has the table of a case: without a rig other things are counted."""
    return wire_report if isinstance(outcome.trial, wire.Trial) else sys.modules[__name__]


def print_outcome(outcome, judge, head):
    kind = table_of(outcome)
    if head:
        table.print_head(kind.HEAD, kind.WIDTHS, kind.TEXT)
    table.print_cells(outcome, kind.cells_of(outcome), kind.notes_of(outcome, judge), kind.WIDTHS, kind.TEXT)


def blocks(outcomes, judge):
    """For results.append."""
    kinds = (wire_report, sys.modules[__name__])
    return [(kind.HEAD, [(kind.cells_of(outcome), kind.notes_of(outcome, judge)) for outcome in outcomes
                         if table_of(outcome) is kind]) for kind in kinds]


def describe_counts(run):
    """What the last run's record says, beside what the filesystem and the links say."""
    record = run.record
    if not record:
        return "no record"
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in record["phases"].items())
    return (f"bytes_from_shared {record['bytes_from_shared']}, counted {run.content_bytes} of content and "
            f"{run.shared['read_bytes'] - run.content_bytes} beside; bytes_from_peers {record['bytes_from_peers']}, "
            f"over the links {run.link_bytes}; {record['readers']} readers; {record['seconds']:.2f} s: {phases}")


def describe_run(run):
    return run.usage.told() | {
        "right": run.right, "load": run.load, "shared": run.shared, "shared_content_bytes": run.content_bytes,
        "link_bytes": run.received, "record": run.record or None}


def describe_outcome(outcome):
    best, trial = outcome.best_peer(), outcome.trial
    return {
        "case": trial.case, "bytes": trial.size, "bound_s": trial.ideal_s, "launch_s": outcome.references,
        "bars": [dataclasses.asdict(bar) | {"met": bar.met} for bar in outcome.bars],
        "tools": [{
            "tool": row.tool.name, "argv": row.tool.argv, "median_wall_s": row.wall_s,
            "ratio_to_bound": row.wall_s / trial.ideal_s, "ratio_to_best_peer": row.wall_s / best.wall_s if best else
            None, "right": row.right, "runs": [describe_run(run) for run in row.runs],
        } for row in outcome.rows.values()],
    }


def write_json(path, bench, machine_before):
    table.write_json(path, bench, machine_before, lambda outcome: table_of(outcome).describe_outcome(outcome))
