"""The command line of a bench, and a run from its first line to its exit code."""
import argparse
import contextlib
import os
import pathlib
import re
import sys

from . import report, results
from .measure import Skip

BUILT = pathlib.Path(__file__).resolve().parents[2] / "build/release"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_of(text):
    match = re.fullmatch(r"(\d+)([KMG]?)(?:i?B)?", text)
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError(f"{text} is not a size such as 256M or 2G")
    return int(match[1]) * UNITS[match[2]]


def numbers(text):
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", text):
        raise argparse.ArgumentTypeError(f"{text} is not a list such as 1,2,4")
    return [int(word) for word in text.split(",")]


def parser_of(name, description, cases, rounds, quick):
    """With the options of every bench; `quick` says what --quick runs."""
    parser = argparse.ArgumentParser(prog=f"bench/{name}", description=description, epilog="Cases: " + " ".join(cases),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="which to run (default: all)")
    parser.add_argument("-n", dest="rounds", type=int, help=f"rounds; each runs every tool once ({rounds}; quick: 1)")
    parser.add_argument("--quick", action="store_true", help=f"{quick}, small: a smoke test, bars not judged")
    parser.add_argument("--tools", default="", metavar="REGEX", help="only peers whose names match; '^$' for none")
    parser.add_argument("--sabath", default=os.environ.get("SABATH_BINARY", BUILT / "bin/sabath"),
                        help="the program (SABATH_BINARY; build/release/bin/sabath)")
    parser.add_argument("--rig", default=os.environ.get("SABATH_RIG"), metavar="DIR", help="the rig (SABATH_RIG)")
    parser.add_argument("--warm", action="store_true",
                        help="break free memory up first: for virtual machines that hand free pages to their host")
    parser.add_argument("--json", metavar="FILE", help="write all runs there")
    parser.add_argument("--results", metavar="FILE", help="append the tables there, in Markdown")
    return parser


def parse(parser, arguments, cases, rounds):
    options = parser.parse_args(arguments)
    if unknown := [case for case in options.cases if case not in cases]:
        parser.error(f"no case {unknown[0]}; there are {' '.join(cases)}")
    if options.rounds is None:
        options.rounds = 1 if options.quick else rounds
    if options.rounds < 1:
        parser.error("-n: at least one round")
    if not os.access(options.sabath, os.X_OK):
        parser.error(f"{options.sabath} is not there: scripts/test builds it, --sabath names another")
    return options


def run(name, options, make, chosen, blocks, write_json, note=""):
    """`make(stack)` gives the bench. What was measured is kept, however the run ends. Returns the exit code."""
    before = report.machine()
    try:
        with contextlib.ExitStack() as stack:
            bench = make(stack)
            print(f"{bench.sabath.version()}; {before['cpu']}, {before['cores']} cores, load {before['load'][0]:.2f}; "
                  f"median of {options.rounds}{note}\n")
            try:
                bench.run(chosen)
            finally:
                if options.json:
                    write_json(options.json, bench, before)
                if options.results:
                    results.append(options.results, bench, before, blocks(bench.outcomes, not options.quick))
    except Skip as reason:
        print(f"SKIP: {reason}")
        return 77
    wrong = [outcome.trial.case for outcome in bench.outcomes if any(not row.counts for row in outcome.ours())]
    if wrong:
        print(f"bench/{name}: SABATH failed or gave wrong bytes: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0 if bench.outcomes else 77
