"""One comparison: tools that bring the same bytes, run in turn, and what came of it."""
import dataclasses
import os
import re
import statistics
import sys
import typing

from . import measure, ours

PINNED, CHECKED = "sabath pinned", "sabath"  # the manifest's root is pinned; only what the recipe says is known
BESIDE = ", the other build"


@dataclasses.dataclass
class Tool:
    name: str
    argv: list
    right: typing.Callable  # of the record ({} for peers): are the result's bytes the source's?
    verifies: bool = False

    @property
    def is_ours(self):
        return self.name.startswith("sabath")


@dataclasses.dataclass
class Trial:
    case: str
    size: int
    tools: list
    bars: typing.Callable  # of the Outcome: list of Bar
    ideal_s: float = 0  # 0: no link bounds it
    enter: tuple = ()  # before every command
    port: int = 0  # of the servers, to count connections
    before: typing.Callable = lambda: None  # before every run
    event: tuple = ()  # (seconds, function): during every run
    reference: typing.Callable = None  # once a round, of the Outcome: a figure that a bar needs
    server: typing.Any = None  # one with a log of what it sent
    timeout_s: float = 120
    read: typing.Callable = ours.read_record  # of the file with what SABATH printed
    describe: typing.Callable = None  # of a Row of ours: a line below the table, instead of the fetched bytes


@dataclasses.dataclass
class Bar:
    text: str
    value: float  # None: could not be measured
    limit: float
    unit: str = "s"
    at_least: bool = False

    @property
    def met(self):
        if self.value is None or self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclasses.dataclass
class Run:
    usage: measure.Usage
    right: bool
    record: dict
    sent_bytes: int = None  # by the server's log
    load: float = 0  # of the machine, when the run had ended


class Row:
    """All runs of one tool."""

    def __init__(self, tool):
        self.tool, self.runs = tool, []

    def median(self, figure):
        return statistics.median(getattr(run.usage, figure) for run in self.runs)

    @property
    def wall_s(self):
        return self.median("wall_s")

    @property
    def right(self):
        return sum(run.right for run in self.runs)

    @property
    def counts(self):
        """Whether it may be called best: every result was right."""
        return self.right == len(self.runs) > 0

    @property
    def rss_bytes(self):
        return max(run.usage.rss_bytes for run in self.runs)

    @property
    def connections(self):
        return max(run.usage.connections for run in self.runs)

    @property
    def exits(self):
        return sorted({run.usage.exit for run in self.runs} - {0})


def beside(tools, program, other):
    """These tools, and each of ours once more with another build of the program in its place."""
    return tools + [dataclasses.replace(tool, name=tool.name + BESIDE, argv=[other if word == program else word for word in tool.argv])
                    for tool in tools if tool.is_ours]


class Outcome:
    def __init__(self, trial):
        self.trial = trial
        self.rows = {tool.name: Row(tool) for tool in trial.tools}
        self.references = []
        self.bars = []

    def ours(self):
        return [row for row in self.rows.values() if row.tool.is_ours and row.runs]

    def best_peer(self, pattern="", *, verifies=None):
        """The fastest peer whose results were all right, as a row; None if there is none."""
        rows = [row for row in self.rows.values() if not row.tool.is_ours and row.counts and
                re.match(pattern, row.tool.name) and verifies in (None, row.tool.verifies)]
        return min(rows, key=lambda row: row.wall_s, default=None)

    def against_the_other_build(self):
        pairs = [(row, self.rows[name + BESIDE]) for name, row in self.rows.items() if name + BESIDE in self.rows]
        return [Bar(f"{row.tool.name}: <= 1.10 x the other build", row.wall_s / other.wall_s, 1.10, "x") for row, other in pairs]

    def reference(self):
        return statistics.median(self.references) if self.references else None


def run_once(trial, tool, ground):
    ground.clear_results()
    trial.before()
    if trial.server:
        trial.server.forget_sent()
    out, err = ground.scratch / "stdout", ground.scratch / "stderr"
    usage = measure.run([*trial.enter, *tool.argv], environment=measure.clean_environment(ground.scratch / "home"),
                        out=out, err=err, timeout_s=trial.timeout_s, event=trial.event,
                        count_port=trial.port if tool.is_ours else None)
    record = trial.read(out) if tool.is_ours else {}
    right = bool(tool.right(record)) and not (tool.is_ours and usage.exit)
    if tool.is_ours and not right:
        sys.stderr.write(err.read_text(encoding="utf-8", errors="replace")[-2000:])
    return Run(usage, right, record, trial.server.sent_bytes() if trial.server else None, os.getloadavg()[0])


def run(trial, rounds, ground, kept):
    """Every round runs every tool once; each begins with another one, so that no tool has always the same neighbour. The
    outcome goes to `kept`, also what was measured before the run was stopped."""
    outcome = Outcome(trial)
    try:
        run_rounds(outcome, rounds, ground)
        outcome.bars = trial.bars(outcome) + outcome.against_the_other_build()
    finally:
        outcome.rows = {name: row for name, row in outcome.rows.items() if row.runs}
        if outcome.rows:
            kept.append(outcome)
    return outcome


def run_rounds(outcome, rounds, ground):
    trial = outcome.trial
    for turn in range(rounds):
        first = turn % len(trial.tools)
        for tool in trial.tools[first:] + trial.tools[:first]:
            done = run_once(trial, tool, ground)
            outcome.rows[tool.name].runs.append(done)
            print(f"  {trial.case} {turn + 1}/{rounds} {tool.name}: {done.usage.wall_s:.2f} s, "
                  f"{'right' if done.right else 'WRONG'}", file=sys.stderr, flush=True)
        if trial.reference:
            figure = trial.reference(outcome)
            if figure is not None:
                outcome.references.append(figure)
    ground.clear_results()
