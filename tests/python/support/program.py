"""The program under test, run as a user would: with an environment, a store and recipes of its own."""

import json
import os
import pathlib
import signal
import subprocess
import time
from dataclasses import dataclass

BINARY = os.environ.get("SABATH_BINARY", "")
INSTRUMENTED = bool(os.environ.get("SABATH_INSTRUMENTED"))  # with sanitizers: slower, and needing descriptors of their own
WITHOUT_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}  # of a process under MPI: tests/house/lsan.supp
RUN_SECONDS_MAX = 600


@dataclass
class Result:
    exit: int
    out: str
    err: str
    seconds: float = 0

    def __str__(self):
        return f"exit {self.exit}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"

    @property
    def record(self):
        return json.loads(self.out)

    @property
    def asset(self):
        (asset,) = self.record["assets"]
        return asset

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def failures(self):
        """(kind, message) of everything that failed, in all places of the record."""
        record = self.record
        if "error" in record:
            return [(record["error"]["kind"], record["error"]["message"])]
        return [(f["kind"], f["message"]) for asset in record["assets"] for f in asset["failures"]]

    def sources(self):
        return {s["url"]: s for asset in self.record["assets"] for s in asset["sources"]}


class Sabath:
    """One store, one set of recipes. Nothing of the caller's own configuration is seen."""

    def __init__(self, home):
        self.home = pathlib.Path(home)
        self.store = self.home / "store"
        self.recipes = self.home / "recipes"
        (self.recipes / "datasets").mkdir(parents=True, exist_ok=True)
        (self.recipes / "models").mkdir(exist_ok=True)
        self.environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.home),
            "SABATH_CACHE": str(self.store),
            "SABATH_RECIPES": str(self.recipes),
        }
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def add(self, name, fragments=(), kind="dataset", **more):
        """Writes a recipe of schema 1; returns its file."""
        recipe = {"schema": 1, "kind": kind, "name": name, "fragments": list(fragments), **more}
        file = self.recipes / f"{kind}s" / f"{name}.json"
        file.write_text(json.dumps(recipe, indent=1))
        return file

    def start(self, *arguments, prefix=(), **variables):
        return subprocess.Popen(
            [*prefix, BINARY, *map(str, arguments)],
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
        )

    def run(self, *arguments, **options):
        begin = time.monotonic()
        return finish(self.start(*arguments, **options), begin)

    def fetch(self, *arguments, **options):
        return self.run("fetch", "--json", *arguments, **options)

    def visible(self):
        """Files under final names in the store: what an unverified byte may never reach."""
        kinds = ("objects", "views", "manifests", "refs", "alias")
        return sorted(str(p.relative_to(self.store)) for k in kinds for p in (self.store / k).rglob("*") if p.is_file())


def finish(process, begin=None):
    begin = time.monotonic() if begin is None else begin
    try:
        out, err = process.communicate(timeout=RUN_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"no end after {RUN_SECONDS_MAX} s: {process.args}\n{out}\n{err}") from None
    return Result(process.returncode, out, err, time.monotonic() - begin)


def interrupt(process, number=signal.SIGINT):
    begin = time.monotonic()
    process.send_signal(number)
    return finish(process, begin)
