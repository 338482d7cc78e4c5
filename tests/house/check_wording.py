#!/usr/bin/python3
"""The library knows no command line: below src/front/cli and src/front/demo no text names an option or a line of `sabath`; base/wording.h has
the names that remedies may use, and each of them is a key of a request (docs/requests-and-records.md) or of sabath_open (sabath.h).
Usage: check_wording.py [TREE]; check_wording.py --self-test. Each finding is one line, FILE:LINE: what is wrong.
"""

import pathlib
import re
import tempfile

import house_rule

# What other programs are given, or what people are told to give them: the option, and the files that may name it.
# A file without options starts a program: whole arguments of it are no texts.
PROGRAMS = {
    "src/core/base/companion.cc", "src/front/companion/act.cc",  # sabath, as a companion of the library
    "src/transfer/fetch/git/git.cc", "src/runs/run/source_copy.cc",  # git
    "src/runs/report/png_export.cc",  # rsvg-convert
    "src/site/machine/accelerators.cc", "src/site/machine/machine.cc",  # nvidia-smi, rocm-smi, mpirun
    "src/runs/run/conda.cc", "src/runs/run/environment.cc", "src/runs/run/node_samples.cc", "src/runs/run/python.cc",  # conda, bash, ours, pip
    "src/launch/jobs/job_scheduler.cc", "src/front/verbs/runs/job_making.cc",  # sbatch and its like; sabath, in the script of a job
    "src/launch/hosts/login.cc",  # ssh, and sabath on the other side
    "src/site/software/module_systems.cc", "src/site/software/devices.cc", "src/site/software/scheduler.cc",  # modulecmd, nvidia-smi, sinfo
    "src/runs/checks/mpi_checks.cc",  # ompi_info, mpirun, how an MPI was configured
    "src/front/verbs/doctor/doctor_machine.cc",  # anything that has a version
    "src/derived/environments/requirements_file.cc", "src/derived/environments/user_indexes.cc",  # what pip's files may have
    "src/derived/environments/resolve_python.cc", "src/derived/environments/resolve_pip.cc", "src/derived/environments/resolve_conda.cc",  # uv, pip, conda
    "src/derived/packing/mend_libraries.cc",  # patchelf
}  # fmt: skip
TOLD = {
    "bagit.py --sha512", "aws s3 cp --request-payer", "aws configure export-credentials --format",
    "srun --mpi=pmix", "ssh {} {} --version", "clone it with --recurse-submodules",
}  # fmt: skip
# Lines that are content and no remedy: a recipe and a crate for people at any machine, what is hashed, what is refused, a lock.
LINES = {
    "src/front/verbs/care/adopt.cc": "sabath adopt", "src/runs/report/ro_crate.cc": "sabath cite",
    "src/runs/report/mlflow_store.cc": "sabath run", "src/front/verbs/doctor/doctor_store.cc": "sabath doctor",
    "src/derived/environments/lock_text.cc": "sabath env lock", "src/front/verbs/environments/env_pack.cc": "sabath env pack",
    "src/front/verbs/environments/env_image.cc": "sabath env image",
}  # fmt: skip
KEYS = "docs/requests-and-records.md"
STARTED = "src/front/companion/act.cc"  # where the program itself speaks, before there is a host or a line

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'', re.S
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SHORT = re.compile(r"(?:^|with |NAME )-[a-z](?= [A-Z]|$| or )")  # -o FILE; not `ulimit -f`
HELP = re.compile(r'\.(?:help|summary|examples|details) =\s*(?:"(?:\\.|[^"\\\n])*"\s*)+')  # of a table: `sabath help` shows it as it is
NAMES = r"constexpr std::array<std::string_view, \d+> {}\{{([^}}]*)\}}"


def texts_of(code):
    """(line, text) of each literal; neighbours are one text, as the compiler has them."""
    found, end = [], None
    for token in TOKEN.finditer(code):
        text = token["raw"] if token["raw"] is not None else token["text"]
        if text is None:
            continue
        if found and end is not None and not code[end : token.start()].strip():
            found[-1] = (found[-1][0], found[-1][1] + text)
        else:
            found.append((code.count("\n", 0, token.start()) + 1, text))
        end = token.end()
    return found


def faults_of(path, text, verbs):
    for told in TOLD:
        text = text.replace(told, "")
    if path in PROGRAMS and not re.search(r"\s", text) or path == STARTED:
        return
    if path in LINES and LINES[path] in text or "var(--" in text or text.startswith(":root") or "{--" in text:
        return  # content; names of CSS
    for match in [*OPTION.finditer(text), *(SHORT.finditer(text) if " " in text else ())]:
        yield f"{match.group(0).strip()} is an option: option_text() of base/wording.h"
    for match in re.finditer(r"\bsabath (" + "|".join(verbs) + r")\b", text):
        yield f"`{match.group(0)}` is a line: verb_text() of base/wording.h"


def verbs_of(tree):
    """Their names, the longest first: each file of a verb ends with `described<...>("NAME"...)`."""
    code = "".join(file.read_text(encoding="utf-8") for file in sorted((tree / "src/front/verbs").rglob("*.cc")))
    return sorted(set(re.findall(r'\b(?:described<[^;]*?>|verb)\(\s*"([\w ]+)"', code)), key=len, reverse=True)


def check(tree):
    tree = pathlib.Path(tree)
    header = (tree / "src/core/base/wording.h").read_text(encoding="utf-8")
    options, verbs = (
        re.findall(r'"([^"]+)"', re.search(NAMES.format(name), header).group(1)) for name in ("option_names", "verb_names")
    )
    all_verbs = verbs_of(tree)
    used, findings = set(), []
    for top in ("src", "fetchers"):
        for file in sorted((tree / top).rglob("*")):
            path = str(file.relative_to(tree))
            if file.suffix not in (".cc", ".h") or path.startswith(("src/front/cli/", "src/front/demo/")):
                continue
            code = HELP.sub(lambda help: "\n" * help.group(0).count("\n"), file.read_text(encoding="utf-8"))
            used |= set(re.findall(r'\b(?:option|verb|record)\w*_(?:text|name)\("([\w ]+)"', code))
            findings += [f"{path}:{line}: {fault}" for line, text in texts_of(code) for fault in faults_of(path, text, all_verbs)]
    document = (tree / KEYS).read_text(encoding="utf-8")
    keys = set(re.findall(r'"(\w+)"', (tree / "include/sabath/sabath.h").read_text(encoding="utf-8")))
    for table in re.findall(r"^Request:\n\n((?:\|.*\n)+)", document, re.M):
        keys |= set(re.findall(r"^\| `(?:[^`]*\.)?(\w+)` \|", table, re.M))
    for name in options:
        if name not in keys and name != "alone":  # the command line's: a session has ranks or none
            findings.append(f"src/core/base/wording.h:1: {name} is no key of {KEYS} or sabath.h")
    findings += [f"src/core/base/wording.h:1: nobody names {name}: remove it" for name in [*options, *verbs] if name not in used]
    return findings


HEADER = """constexpr std::array<std::string_view, 2> option_names{
    "force", "path"};
constexpr std::array<std::string_view, 1> verb_names{"fetch"};
"""
USE = 'auto used = option_text("force") + option_name("path") + verb_text("fetch");\n'
SAMPLES = (  # code in src/transfer/fetch/x.cc, what the finding says; None: a good one
    ("", None),
    ('throw Error(kind, "fetch it with --force");\n', "--force is an option"),
    ('auto hint = "fetch it "\n    "with --"\n    "force";\n', "--force is an option"),
    ('auto hint = R"(say --force)";\n', "--force is an option"),
    ('auto hint = "name one with -d or -m";\n', "-d is an option"),
    ('auto hint = "-o FILE";\n', "-o is an option"),
    ('auto hint = "raise it with ulimit -f, or a-b";  // not --force\n', None),
    ('auto hint = "`srun --mpi=pmix` starts it";\n', None),
    ('auto hint = "`sabath fetch` brings it";\n', "`sabath fetch` is a line"),
    ('auto hint = "the program sabath fetches nothing";\n', None),
    ('SABATH_FIELD(want, .help = "as --have says, "\n "of `sabath fetch`", .value = "LIST")\n', None),
    ("auto c = '\"'; --count; auto d = '\"';\n", None),
)


def self_test():
    failures = 0
    for code, expected in SAMPLES:
        with tempfile.TemporaryDirectory() as tree:
            for name, text in {
                "src/core/base/wording.h": HEADER, "src/front/verbs/fetch.cc": 'call = described<fetch>("fetch");', "src/transfer/fetch/x.cc": USE + code,
                KEYS: "Request:\n\n| key | type |\n| `a[].path` | text |\n", "include/sabath/sabath.h": '/* "force": true */',
            }.items():  # fmt: skip
                file = pathlib.Path(tree, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            found = check(tree)
            pathlib.Path(tree, KEYS).write_text("Record:\n\n| `path` | text |\n", encoding="utf-8")
            pathlib.Path(tree, "src/transfer/fetch/x.cc").write_text(USE.replace("option_name", "f"), encoding="utf-8")
            unknown = check(tree)
        right = len(found) == 1 and expected in found[0] if expected else not found
        if not right or len(unknown) != 2 or "no key" not in unknown[0] or "nobody names path" not in unknown[1]:
            failures += 1
            print(f"{code}: expected {expected or 'no finding'}, found {found} and {unknown}")
    print(f"self-test: {len(SAMPLES)} samples, {failures} failures")
    return failures


if __name__ == "__main__":
    house_rule.run("check_wording", check, self_test)
