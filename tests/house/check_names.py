#!/usr/bin/python3
"""No two types of the program have one name, and no alias has a type's: their inline functions, and what templates make
of them, would be one, the one that the linker meets first, and no compiler says so. A verb is described, and its command
declared, in the file of its name, in one family: `gc` in care/gc.cc and care/cmd_gc.cc, `catalogue rm` in a file that
begins with catalogue.
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
VERB = re.compile(r'described<[^>]*>\("([\w ]+)"')
COMMAND = re.compile(r'^constexpr Verb \w+\{\n    \.name = "([\w ]+)"', re.M)
PARTS = {"supporting": "apply"}  # of another verb


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


def has_name(stem, verb):
    noun = PARTS.get(verb, verb).split()[0]
    return stem in (verb.replace(" ", "_"), noun) or stem.startswith(f"{noun}_") or noun == f"un{stem}"


def misplaced(tree):
    """Verbs and commands that stand in a file or a family of another name."""
    families = {}
    for top, prefix, pattern in (("src/front/verbs", "", VERB), ("src/front/cli/commands", "cmd_", COMMAND)):
        for file in sorted((pathlib.Path(tree) / top).rglob(f"{prefix}*.cc")):
            family = file.parent.relative_to(pathlib.Path(tree) / top).as_posix()
            for verb in pattern.findall(file.read_text(encoding="utf-8")):
                if not has_name(file.stem.removeprefix(prefix), verb):
                    yield f"{file.relative_to(tree)}:1: `{verb}` stands here: name the file after it"
                if families.setdefault(verb, family) != family and {family, families[verb]} != {".", verb}:
                    yield f"{file.relative_to(tree)}:1: `{verb}` is of {families[verb]} in src/front/verbs: move this file"


def check(tree):
    places = collections.defaultdict(list)
    for top in ("include", "src", "fetchers"):
        for file in sorted((pathlib.Path(tree) / top).rglob("*")):
            if file.suffix in (".h", ".cc"):
                for name, number in types_in(file.read_text(encoding="utf-8")):
                    places[name].append(f"{file.relative_to(tree)}:{number}")
    twice = [f"{there[1]}: {name} is also at {there[0]}: rename one" for name, there in places.items() if len(there) > 1]
    return twice + list(misplaced(tree))


def self_test():
    begin, end = "namespace sabath {\n", "}  // namespace sabath\n"
    samples = (
        ({"src/a/x.h": f"{begin}struct One {{\n}};\n{end}", "src/b/x.cc": f"{begin}class One final : public X {{\n}};\n{end}"}, 1),
        ({"src/a/x.h": f"{begin}struct One {{}};\nstruct One::Two {{}};\n{end}", "src/b/x.h": f"{begin}class One;\n{end}"}, 0),
        ({"src/a/x.cc": f"namespace {{\nstruct One {{}};\n}}  // namespace\n", "src/b/x.cc": "struct One {};\n"}, 0),
        ({"src/a/x.h": f"{begin}struct One {{\n}};\n{end}", "src/b/x.h": f"{begin}using One = int;\n{end}"}, 1),
        ({"src/a/x.h": f"{begin}enum class One {{ a }};\n{end}", "src/b/x.h": "namespace sabath::b {\nstruct One {};\n"}, 0),
        ({"src/front/verbs/care/gc.cc": 'described<gc>("gc")', "src/front/cli/commands/care/cmd_gc.cc": 'constexpr Verb gc_verb{\n    .name = "gc",'}, 0),
        ({"src/front/verbs/care/gc.cc": 'described<gc>("gc")', "src/front/cli/commands/runs/cmd_gc.cc": 'constexpr Verb gc_verb{\n    .name = "gc",'}, 1),
        ({"src/front/verbs/care/collection.cc": 'described<gc>("gc")', "src/front/verbs/catalogue_new.cc": 'described<x>("catalogue rm")'}, 1),
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
