"""The cases without a rig: nodes are ranks of this machine, their disks are memory, and no rate is limited. What is asked
is what SABATH itself costs: beside copies that verify nothing, and beside what MPI carries between two ranks.
"""
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import time
import typing

from support import measure, trial
from support.ground import MIB, same_file
from support.measure import Skip
from support.trial import Bar, Tool

from . import assets, tools

ONE_FILE, TREE = "wire", "wire-tree"
BYTES = {ONE_FILE: 2048 * MIB, TREE: 2048 * MIB}
QUICK_BYTES, RAW_S = 32 * MIB, 0.4
# What mpirun is told: nothing, that is shared memory with single copies; two copies, as in many containers; loopback's TCP.
TRANSPORTS = {"cma": (), "copies": ("--mca", "btl_vader_single_copy_mechanism", "none"),
              "tcp": ("--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo")}
TWO_NODES = {"cma": 2.2, "copies": 3, "tcp": 3}  # x the time of one node, at most
CP, LINK, MANY_NODES, MANY_CORES = 1.5, 0.6, 4, 16
LOCAL = ("--oversubscribe", "--bind-to", "none", "--mca", "plm_rsh_agent", "sh")  # mpirun does not start without an agent
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")


@dataclasses.dataclass
class Trial(trial.Trial):
    nodes: dict = None  # by tool's name
    transport: dict = None  # by tool's name; peers without MPI have none
    single: dict = None  # by tool's name: that of the same tool on one node
    raw: dict = None  # by transport: what `rate` said in each round
    copies: typing.Callable = None  # name of cp's row, of a number of nodes


def why_not():
    """Why nothing can be staged here; None if it can."""
    missing = [program for program in ("mpirun", "cp", "diff") if not shutil.which(program)]
    return f"not installed: {' '.join(missing)}" if missing else None


def counted(nodes):
    return f"{nodes} node{'s' * (nodes > 1)}"


class Ranks:
    """As many nodes as there are ranks. tools.on_each sees each as a node that needs no entering."""

    def __init__(self, bench, asset):
        self.bench, self.asset = bench, asset
        self.disks = bench.ground.results / "nodes"
        self.nodes = range(max(bench.options.nodes))
        self.programs = pathlib.Path(bench.options.programs)

    def enter(self, _):
        return ()

    def mpirun(self, nodes, transport, *command):
        return ["env", *AS_ROOT, f"SABATH_RECIPES={self.bench.sabath.recipes}", "mpirun", "-n", str(nodes), *LOCAL,
                *TRANSPORTS[transport], *map(str, command)]

    def has(self, program):
        return os.access(self.programs / program, os.X_OK)

    def same(self, nodes):
        """Whether each node has the source's bytes."""
        places = [f"{self.disks}/{node}/{self.asset.name}/" for node in range(nodes)]
        if self.asset.files() == ["f"]:
            return all(os.path.isdir(place) and os.listdir(place) == ["f"] and
                       same_file(self.asset.source / "f", place + "f") for place in places)
        compared = [subprocess.Popen(["diff", "-rq", self.asset.source, place], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL) for place in places]
        return not any([process.wait() for process in compared])

    def stage(self, name, nodes, transport):
        command = self.mpirun(nodes, transport, self.bench.sabath.program, "stage", self.asset.name, "--emulate-nodes",
                              nodes, "--store", self.asset.store, "--to", f"{self.disks}/{{node}}", "--no-fetch",
                              "--json", "-q")
        return Tool(name, command, lambda record: bool(record) and self.same(nodes), verifies=True)

    def broadcast(self, name, nodes, transport):
        command = self.mpirun(nodes, transport, self.programs / "bcast_copy", self.asset.source,
                              f"{self.disks}/{{rank}}/{self.asset.name}")
        return Tool(name, command, lambda _: self.same(nodes))

    def copy(self, name, nodes, command):
        """By a process for each node, all at once."""
        there = f"{self.disks}/NODE"
        tool = tools.on_each(self, name, f"mkdir -p {there} && {command} {there}/{self.asset.name}", range(nodes))
        return dataclasses.replace(tool, right=lambda _: self.same(nodes))

    def run(self, command):
        return subprocess.run(command, env=measure.clean_environment(self.bench.ground.scratch / "home"), check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)

    def launch_seconds(self):
        """What an MPI program that does nothing takes, on as many nodes as there are at most."""
        start = time.monotonic()
        done = self.run(self.mpirun(len(self.nodes), "cma", self.programs / "rate", "idle"))
        return None if done.returncode else time.monotonic() - start

    def raw(self, transport):
        """What MPI carries between two ranks; {} if it does not."""
        done = self.run(self.mpirun(2, transport, self.programs / "rate", RAW_S))
        return json.loads(done.stdout) if done.returncode == 0 else {}


def tools_of(ranks, options, asked):
    """Each on every number of nodes; what MPI carries also by every transport. Names and what they are go to `asked`."""
    source, found = ranks.asset.source, []
    peers = {"cp -r": f"cp -r {source}"}
    if shutil.which("rsync"):
        peers["rsync -a"] = f"rsync -a --whole-file --inplace {source}/"

    def add(family, make, nodes, transport=None):
        name = f"{family}, {counted(nodes)}" + (f", {transport}" if transport and nodes > 1 else "")
        asked.nodes[name], asked.transport[name] = nodes, transport
        asked.single[name] = f"{family}, {counted(1)}"
        found.append(make(name, nodes))
    for nodes in options.nodes:
        for transport in options.transports if nodes > 1 else ("cma",):
            add("sabath", lambda name, n, by=transport: ranks.stage(name, n, by), nodes, transport)
            if ranks.has("bcast_copy"):
                add("MPI_Bcast", lambda name, n, by=transport: ranks.broadcast(name, n, by), nodes, transport)
        for family, command in peers.items():
            add(family, lambda name, n, words=command: ranks.copy(name, n, words), nodes)
    return found


def launch_of(outcome):
    return outcome.reference() or 0


def received(outcome, row):
    """Bytes that the node which received most has from the others: one that did not read a part itself, if there is one."""
    nodes, record = outcome.trial.nodes[row.tool.name], row.runs[-1].record
    if not record:
        return outcome.trial.size
    return record["bytes_from_peers"] / (nodes if record["readers"] >= nodes else nodes - 1)


def link_of(outcome, row):
    """Bytes a second of that, while the program ran: mpirun's own start is not a part. None where nothing was received."""
    transport, nodes = outcome.trial.transport[row.tool.name], outcome.trial.nodes[row.tool.name]
    seconds = row.wall_s - launch_of(outcome)
    return received(outcome, row) / seconds if transport and nodes > 1 and seconds > 0 and row.counts else None


def raw_of(outcome, transport):
    """Bytes a second: the better of the two sizes of message, the median of all rounds."""
    said = sorted(max(one["1_MiB_GB_s"], one["4_MiB_GB_s"]) for one in outcome.trial.raw.get(transport, ()) if one)
    return said[len(said) // 2] * 1e9 if said else None


def times(row, other):
    return row.wall_s / other.wall_s if row.counts and other and other.counts else None


def bars_of(outcome):
    asked, bars = outcome.trial, []
    for row in outcome.ours():
        name = row.tool.name
        nodes, transport = asked.nodes[name], asked.transport[name]
        read = [run.record["bytes_from_shared"] for run in row.runs if run.record]
        bars.append(Bar(f"{name}: shared bytes read / the size", max(read) / asked.size if read else None, 1.0, "x"))
        if nodes == 2 and asked.single[name] in outcome.rows:
            bars.append(Bar(f"{name}: x one node", times(row, outcome.rows[asked.single[name]]), TWO_NODES[transport], "x"))
        if nodes == MANY_NODES and os.cpu_count() >= MANY_CORES:
            if transport == "cma":
                bars.append(Bar(f"{name}: x cp -r to all nodes at once", times(row, outcome.rows.get(asked.copies(nodes))),
                                CP, "x"))
            link, raw = link_of(outcome, row), raw_of(outcome, transport)
            bars.append(Bar(f"{name}: a link / what MPI carries between two ranks", link / raw if link and raw else None,
                            LINK, "x", at_least=True))
    return bars


def make_trial(bench, case, asset):
    ranks, options = Ranks(bench, asset), bench.options
    asked = Trial(case, asset.size, [], bars_of, nodes={}, transport={}, single={}, raw={}, timeout_s=options.timeout,
                  read=tools.read_record, copies=lambda nodes: f"cp -r, {counted(nodes)}")
    asked.tools = bench.chosen(tools_of(ranks, options, asked))

    def reference(_):
        if not ranks.has("rate"):
            return None
        for transport in options.transports if len(ranks.nodes) > 1 else ():
            asked.raw.setdefault(transport, []).append(ranks.raw(transport))
        return ranks.launch_seconds()
    asked.reference = reference
    return asked


def check():
    if reason := why_not():
        raise Skip(reason)


def one_file(bench):
    check()
    yield make_trial(bench, ONE_FILE, bench.asset(ONE_FILE, bench.sizes.of(ONE_FILE), assets.one_file))


def tree(bench):
    check()
    yield make_trial(bench, TREE, bench.asset(TREE, bench.sizes.of(TREE),
                                              lambda size: assets.many_files(size, assets.TREE_BYTES)))


CASES = {ONE_FILE: one_file, TREE: tree}
