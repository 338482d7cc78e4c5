"""The tables of the cases without a rig."""
from support import report as table
from support.report import rate_of, ratio

from . import wire

HEAD = ("case", "tool", "median s", "min-max", "GB/s", "link GB/s", "x raw", "x 1 node", "x cp", "user s", "system s",
        "right")
WIDTHS = (10, 28, 9, 13, 6, 10, 6, 9, 6, 7, 9, 0)
TEXT = (0, 1, 11)


def wall_of(outcome, name):
    row = outcome.rows.get(name)
    return row.wall_s if row else 0


def cells_of(outcome):
    asked, cells = outcome.trial, []
    for row in table.by_time(outcome):
        name = row.tool.name
        link, raw = wire.link_of(outcome, row), wire.raw_of(outcome, asked.transport[name])
        cells.append((asked.case, name, *table.times_of(row), rate_of(asked.size, row.wall_s),
                      f"{link / 1e9:.2f}" if link else "-", ratio(link, raw) if link else "-",
                      ratio(row.wall_s, wall_of(outcome, asked.single[name])),
                      ratio(row.wall_s, wall_of(outcome, asked.copies(asked.nodes[name]))),
                      f"{row.median('user_s'):.2f}", f"{row.median('system_s'):.2f}", table.right_of(row)))
    return cells


def notes_of(outcome, judge=True):
    asked = outcome.trial
    notes = [f"{row.tool.name}: {describe_record(row.runs[-1].record)}" for row in outcome.ours()]
    launch = f"{outcome.reference():.2f} s" if outcome.references else "not measured: bench/mpi was not built"
    ranks = max(asked.nodes.values())
    notes.append(f"{asked.size} bytes; mpirun of a program that does nothing, {ranks} ranks: {launch}; "
                 "a link: bytes that a node received from the others at most / (median - that)")
    notes += [f"raw MPI by {transport}: {describe_raw(said)}" for transport, said in asked.raw.items()]
    return notes + table.bars_of(outcome, judge)


def describe_record(record):
    if not record:
        return "no record"
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in record["phases"].items())
    return (f"bytes_from_shared {record['bytes_from_shared']}, bytes_from_peers {record['bytes_from_peers']}; "
            f"{record['readers']} readers; {record['seconds']:.2f} s: {phases}")


def describe_raw(said):
    """All rounds, and whether a process may read another's memory."""
    if not all(said):
        return "failed"
    rates = "; ".join(f"{size} MiB: " + ", ".join(f"{one[f'{size}_MiB_GB_s']:.2f}" for one in said) + " GB/s"
                      for size in (1, 4))
    return rates + ("" if said[-1]["single_copy"] else "; no process may read another's memory: nothing is copied once")


def describe_outcome(outcome):
    told, asked = table.describe_outcome(outcome), outcome.trial
    for tool in told["tools"]:
        row = outcome.rows[tool["tool"]]
        tool |= {"nodes": asked.nodes[tool["tool"]], "transport": asked.transport[tool["tool"]],
                 "link_bytes_per_second": wire.link_of(outcome, row)}
        for run, done in zip(tool["runs"], row.runs):
            run["record"] = done.record or None
    return told | {"launch_s": outcome.references, "raw_mpi": asked.raw}
