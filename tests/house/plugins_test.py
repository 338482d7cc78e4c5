#!/usr/bin/python3
"""The program and its plugins are one program: each function and static of namespace sabath is defined once, and what a
plugin calls of the others is there. Usage: plugins_test.py PROGRAM PLUGIN...; plugins_test.py --self-test.

Inline ones may be in several, if all show them to the loader, which then takes the first for all. The program's doors
have names of the plugins' functions, and are seen by the program only.
"""

import pathlib
import re
import subprocess
import sys

OURS = re.compile(r"_Z(T[A-Z]|T[vh]n?\d+_|Z|GV|GVZ)?NK?6sabath(?!.*_GLOBAL__N_)[^.]*")
INLINE = set("WVu")  # nm's letters for what several may define


def symbols(file, *options):
    """{name: nm's letter} of namespace sabath."""
    lines = subprocess.run(["nm", "-P", *options, file], check=True, capture_output=True, text=True).stdout.splitlines()
    named = (line.split()[:2] for line in lines)
    return {name: letter for name, letter in named if OURS.fullmatch(name)}


def findings(shown, all_defined, missing):
    """Of {file: symbols}: what the loader sees, all that are defined, and what is not; the first file is the program."""
    program, *plugins = shown
    lines = []
    for name in set().union(*all_defined.values()):
        files = [file for file in all_defined if name in all_defined[file]]
        if program in files and all_defined[program][name].islower() and all_defined[program][name] != "u":
            files.remove(program)  # a door
        hidden = [file for file in files if shown[file].get(name) not in INLINE]
        if len(files) > 1 and hidden:
            lines.append(f"{name} is defined in {' and '.join(files)}, not inline or not shown by {' and '.join(hidden)}")
    for plugin in plugins:
        for name in missing[plugin]:
            if not any(name in shown[file] for file in shown):
                lines.append(f"{name}, which {plugin} needs, is shown by no file")
    return sorted(lines)


def check(files):
    names = [pathlib.Path(file).name for file in files]
    by_name = dict(zip(names, files))
    shown = {name: symbols(file, "-D", "--defined-only") for name, file in by_name.items()}
    defined = {name: symbols(file, "--defined-only") for name, file in by_name.items()}
    missing = {name: symbols(file, "-D", "--undefined-only") for name, file in by_name.items()}
    if not shown[names[0]]:
        return [f"{names[0]} shows no name of namespace sabath"]
    return findings(shown, defined, missing)


SAMPLES = (  # shown and defined by the program, by the plugin, and what the plugin misses; findings
    ({"a": "T"}, {"a": "T"}, {"b": "T"}, {"b": "T"}, {"a": "U"}, 0),
    ({"a": "W"}, {"a": "W"}, {"a": "W"}, {"a": "W"}, {}, 0),
    ({"a": "u"}, {"a": "u"}, {"a": "u"}, {"a": "u"}, {}, 0),
    ({}, {"door": "t"}, {"door": "T"}, {"door": "T"}, {}, 0),
    ({"a": "T"}, {"a": "T"}, {"a": "T"}, {"a": "T"}, {}, 1),  # linked with both
    ({"a": "T"}, {"a": "T"}, {}, {"a": "t"}, {}, 1),  # and kept from the loader
    ({"a": "u"}, {"a": "u"}, {}, {"a": "r"}, {}, 1),
    ({}, {"a": "T"}, {}, {}, {"a": "U"}, 1),
)


def self_test():
    failures = 0
    for program, program_all, plugin, plugin_all, missing, expected in SAMPLES:
        found = findings({"p": program, "q": plugin}, {"p": program_all, "q": plugin_all}, {"p": {}, "q": missing})
        if len(found) != expected:
            failures += 1
            print(f"expected {expected}, found {found}")
    print(f"self-test: {len(SAMPLES)} samples, {failures} failures")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    found = check(sys.argv[1:])
    print("\n".join(found) if found else "plugins_test: no findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
