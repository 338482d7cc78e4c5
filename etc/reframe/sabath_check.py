"""A ReFrame check: `sabath run` of a recipe on each partition of your ReFrame configuration.

    SABATH_CHECK_RECIPES='cosmoflow hello' reframe -c share/sabath/reframe/sabath_check.py -r
    reframe ... -S options='--site,juwels,--nodes,2' -S sabath=/opt/sabath/bin/sabath

It passes if the run finished, and its figures are those of the record: seconds, epochs, and the last value of each metric.
What a recipe runs must be trusted before (`sabath trust`), and its data fetched, if the nodes have no network.
"""

import json
import math
import os
import re
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, run_before, sanity_function, variable
from reframe.core.exceptions import SanityError
from reframe.utility import typecheck as typ

RECIPES = re.split(r"[\s,]+", os.environ.get("SABATH_CHECK_RECIPES", "").strip())
RECORD_MAX, METRICS_MAX, NAMES_MAX = 64 << 20, 256 << 20, 256
RECORD = "record"  # the run's directory, in the stage directory of the check


def beginning_of(path, size_max):
    with open(path, "rb") as file:
        return file.read(size_max).decode("utf-8", "replace")


def number(value):
    """A number of the record; None: it is none, or of no use to compare."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # a whole number that no float holds
        return None


def shown(text):
    """For a terminal: what would move it, or hide in it, by its number."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in str(text))


def read_metrics(path):
    """Of metrics.jsonl: the last value of each metric of the lowest rank, and the number of epochs."""
    last, epochs = {}, set()
    for line in beginning_of(path, METRICS_MAX).split("\n")[:-1]:  # what has no newline was torn
        try:
            one = json.loads(line)
            name, rank, value = one["name"], one.get("rank") or 0, number(one["value"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if not isinstance(name, str) or not isinstance(rank, int) or value is None:
            continue
        if number(one.get("epoch")) is not None:
            epochs.add(one["epoch"])
        if name in last or len(last) < NAMES_MAX:
            if name not in last or rank <= last[name][0]:
                last[name] = (rank, value)
    return {name: value for name, (_, value) in last.items()}, len(epochs)


@rfm.simple_test
class SabathRun(rfm.RunOnlyRegressionTest):
    recipe = parameter([name for name in RECIPES if name])
    descr = "sabath run of a recipe"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sabath = variable(str, value="sabath")
    options = variable(typ.List[str], value=[])  # of `sabath run`, behind the recipe
    metrics = variable(typ.List[str], value=[])  # whose last values count; none: all
    sourcesdir = None

    @run_before("run")
    def set_command(self):
        self.executable = shlex.quote(self.sabath)
        if self.recipe.startswith("-"):
            raise SanityError(f"{self.recipe} is an option, and no recipe")
        words = ["run", self.recipe, "--run-dir", RECORD, *self.options]
        self.executable_opts = [shlex.quote(word) for word in words]
        self.keep_files = [f"{RECORD}/run.json", f"{RECORD}/metrics.jsonl"]
        self.job.launcher = getlauncher("local")()  # `sabath run` starts the ranks itself

    def record(self):
        try:
            record = json.loads(beginning_of(os.path.join(self.stagedir, RECORD, "run.json"), RECORD_MAX))
        except (OSError, ValueError, RecursionError) as error:
            raise SanityError(f"no record of a run: {shown(error)}") from None
        if not isinstance(record, dict):
            raise SanityError("run.json is no record of a run")
        return record

    @sanity_function
    def it_finished(self):
        ended = self.job.exitcode  # None: this scheduler does not say
        said = shown(sn.evaluate(sn.extractsingle(r"(?s)(.*)", self.stderr, 1)).strip()[-1000:])
        if ended not in (0, None):
            raise SanityError(f"sabath ended with {ended}: {said}")
        record = self.record()
        return sn.all(
            [
                sn.assert_eq(shown(record.get("state")), "finished", f"the state of the run is {{0}}: {said}"),
                sn.assert_eq(number(record.get("exit")), 0, "the program ended with {0}"),
            ]
        )

    @run_before("performance")
    def set_figures(self):
        record = self.record()
        times = record.get("times") if isinstance(record.get("times"), dict) else {}
        figures = {f"{name}_seconds": (number(value), "s") for name, value in times.items()}
        started, finished = number(record.get("started")), number(record.get("finished"))
        if started is not None and finished is not None:
            figures["seconds"] = (finished - started, "s")
        path = os.path.join(self.stagedir, RECORD, "metrics.jsonl")
        if os.path.isfile(path):
            metrics, epochs = read_metrics(path)
            figures["epochs"] = (epochs, "1")
            for name, value in metrics.items():
                if not self.metrics or name in self.metrics:
                    figures[re.sub(r"\W", "_", name)] = (value, "1")
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), unit) for name, (value, unit) in figures.items() if value is not None
        }
