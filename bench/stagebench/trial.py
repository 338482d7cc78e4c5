"""One comparison: tools that bring the same asset to the same nodes, run in turn, and what was counted meanwhile."""
import dataclasses
import os
import statistics
import subprocess
import sys
import time
import typing

from support import measure, trial

from .tools import OURS, PEER, read_record

CONTENT = ("/store/objects/", "/store/packs/", "/source/")  # of the shared directory; the rest is manifests, names, notes


@dataclasses.dataclass
class Trial(trial.Trial):
    asset: typing.Any = None
    shared_rate: float = 0  # bytes a second, all nodes together
    right: typing.Callable = None  # of (cluster, path on each node)
    prepare: typing.Callable = None  # of (run, tool): not timed, on empty disks; run(tool) runs it


@dataclasses.dataclass
class Run(trial.Run):
    shared: dict = None  # the shared filesystem's counters
    content_bytes: int = 0  # of them, read from files with content
    received: dict = None  # by node: what its link brought

    @property
    def link_bytes(self):
        return sum(self.received.values())


class Outcome(trial.Outcome):
    def median(self, row, figure):
        return statistics.median(figure(run) for run in row.runs)


def environment(bench):
    rig = {key: value for key, value in bench.cluster.environment.items() if key.startswith("RIG_")}
    return measure.clean_environment(bench.ground.scratch / "home") | rig


def execute(bench, tool, timeout_s):
    scratch = bench.ground.scratch
    return measure.run(tool.argv, environment=environment(bench), out=scratch / "stdout", err=scratch / "stderr",
                       timeout_s=timeout_s)


def launch_seconds(bench):
    """What MPI alone takes: a program on all nodes that calls MPI_Init and MPI_Finalize."""
    directory, start = bench.cluster.directory, time.monotonic()
    done = subprocess.run([directory / "mpi", directory / "bin/idle"], env=environment(bench), check=False, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return None if done.returncode else time.monotonic() - start


def run_once(bench, asked, tool):
    cluster, scratch = bench.cluster, bench.ground.scratch
    cluster.wipe()
    cluster.export(asked.asset.shared, asked.shared_rate)
    if asked.prepare:
        asked.prepare(lambda before: execute(bench, before, asked.timeout_s), tool)
        cluster.export(asked.asset.shared, asked.shared_rate)
    before = cluster.received()
    usage = execute(bench, tool, asked.timeout_s)
    load = os.getloadavg()[0]
    received = {name: now - before[name] for name, now in cluster.received().items()}
    shared, files = cluster.read_counters(), cluster.read_files()
    content = sum(count for path, count in files.items() if path.startswith(CONTENT))
    record = read_record(scratch / "stdout") if tool.is_ours else {}
    where = OURS / asked.asset.name if tool.is_ours else PEER
    right = usage.exit == 0 and bool(record or not tool.is_ours) and bool(asked.right(cluster, where))
    if not right:
        sys.stderr.write((scratch / "stderr").read_text(encoding="utf-8", errors="replace")[-2000:])
    return Run(usage, right, record, load=load, shared=shared, content_bytes=content, received=received)


def run(bench, asked, rounds):
    """Every round runs every tool once; each begins with another one."""
    outcome = Outcome(asked)
    for turn in range(rounds):
        first = turn % len(asked.tools)
        for tool in asked.tools[first:] + asked.tools[:first]:
            done = run_once(bench, asked, tool)
            outcome.rows[tool.name].runs.append(done)
            print(f"  {asked.case} {turn + 1}/{rounds} {tool.name}: {done.usage.wall_s:.2f} s, load {done.load:.1f}, "
                  f"{'right' if done.right else 'WRONG'}", file=sys.stderr, flush=True)
        if (seconds := launch_seconds(bench)) is not None:
            outcome.references.append(seconds)
    bench.cluster.wipe()  # memory for the next case
    outcome.bars = asked.bars(outcome)
    return outcome
