#!/usr/bin/python3
"""No two types of the program have one name, and no alias has a type's: their inline functions, and what templates make
of them, would be one, the one that the linker meets first, and no compiler says so.
Usage: check_names.py [TREE]; check_names.py --self-test.

What stands in an unnamed namespace is its file's own.
"""

import collections
import pathlib
import re
import tempfile

import house_rule

OPEN = re.compile(r"(?:inline )?namespace\s*([\w:]*)\s*\{$")
CLOSE = re.compile(r"\}  // namespace")
TYPE = re.compile(r"(?:class|struct|union|enum(?: class)?)\s+(\w+(?:::\w+)*)(?:\s+final)?(?:\s*:\s[^;{]*)?\s*\{|using (\w+) = ")


def types_in(text):
    """(qualified name, line) of each type that is defined at namespace level, as clang-format sets it out."""
    names = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := OPEN.match(line):
            names.append(match.group(1))
        elif CLOSE.match(line) and names:
            names.pop()
        elif (match := TYPE.match(line)) and "" not in names:
            yield "::".join([*names, match.group(1) or match.group(2)]), number


def check(tree):
    places = collections.defaultdict(list)
    for top in ("include", "src", "fetchers"):
        for file in sorted((pathlib.Path(tree) / top).rglob("*")):
            if file.suffix in (".h", ".cc"):
                for name, number in types_in(file.read_text(encoding="utf-8")):
                    places[name].append(f"{file.relative_to(tree)}:{number}")
    return [f"{there[1]}: {name} is also at {there[0]}: rename one" for name, there in places.items() if len(there) > 1]


def self_test():
    begin, end = "namespace sabath {\n", "}  // namespace sabath\n"
    samples = (
        ({"src/a/x.h": f"{begin}struct One {{\n}};\n{end}", "src/b/x.cc": f"{begin}class One final : public X {{\n}};\n{end}"}, 1),
        ({"src/a/x.h": f"{begin}struct One {{}};\nstruct One::Two {{}};\n{end}", "src/b/x.h": f"{begin}class One;\n{end}"}, 0),
        ({"src/a/x.cc": f"namespace {{\nstruct One {{}};\n}}  // namespace\n", "src/b/x.cc": "struct One {};\n"}, 0),
        ({"src/a/x.h": f"{begin}struct One {{\n}};\n{end}", "src/b/x.h": f"{begin}using One = int;\n{end}"}, 1),
        ({"src/a/x.h": f"{begin}enum class One {{ a }};\n{end}", "src/b/x.h": "namespace sabath::b {\nstruct One {};\n"}, 0),
    )  # fmt: skip
    failures = 0
    for files, expected in samples:
        with tempfile.TemporaryDirectory() as tree:
            for name, text in files.items():
                file = pathlib.Path(tree, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            found = check(tree)
        if len(found) != expected:
            failures += 1
            print(f"{files}: expected {expected}, found {found}")
    print(f"self-test: {len(samples)} samples, {failures} failures")
    return failures


if __name__ == "__main__":
    house_rule.run("check_names", check, self_test)
