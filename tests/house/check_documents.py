#!/usr/bin/python3
"""The documents stay short, true and plain: DESIGN.md and the CHANGELOG within their bounds, dates only beside what was
measured, each path that a document names in the tree, and no word that hides the subject of a sentence.
Usage: check_documents.py TREE; check_documents.py --self-test. Each finding is one line, FILE:LINE: what is wrong.
"""

import pathlib
import re
import sys
import tempfile

DESIGN_LINES_MAX, DESIGN_COLUMNS_MAX, CHANGELOG_WORDS_MAX = 256, 110, 900
README_LINES_MAX, COLUMNS_MAX = 120, 120  # but tables and code may be wider
# Spelt so that a search for them does not find this file.
WORDS = re.compile(r"\b(who[e]ver|what[e]ver|so\s+m[a]ny|so\s+m[u]ch|in\s+pl[a]ce\s+of|what\s+is\s+h[a]d)\b", re.I)
DATE = re.compile(r"(?<![\w/])20\d\d-\d\d-\d\d(?!\.md)")
TOPS = "src|include|fetchers|python|tests|docs|bench|scripts|cmake|etc/slurm|etc/sites|etc/completions"
PATH = re.compile(rf"(?<![\w./~$}}-])((?:{TOPS})/[\w./*+-]*[\w*/])")
FILE = re.compile(r"`([\w*-]+\.(?:cc|h|py|cmake))`")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
COUNTED = re.compile(r"^\| \w+ \| `([^`]+)` \| ([\d,]+) \|", re.M)  # of docs/testing.md: files, at least
START = re.compile(r"^# Start reading here:[^\n]*(?:\n# [^\n]*)*", re.M)
PLACEHOLDERS = re.compile("NAME|NOUN|ROOM|LABEL|DATE-CPU")


def documents(tree):
    found = [tree / name for name in ("README.md", "DESIGN.md", "HACKING.md", "CHANGELOG.md")]
    for folder, pattern in (("docs", "*.md"), ("fetchers", "*.md"), ("bench", "*.md"), ("etc", "*")):
        found += sorted((tree / folder).rglob(pattern))
    return [file for file in found if file.is_file() and "man" not in file.relative_to(tree).parts]


def blank(match):
    """As many lines and columns, and no long one."""
    return re.sub(r"[^\n]", lambda _: "\0", match[0]).replace("\0" * (COLUMNS_MAX + 1), " " * (COLUMNS_MAX + 1))


class Documents:
    def __init__(self, tree):
        self.tree = pathlib.Path(tree)
        self.names = {file.name for top in TOPS.split("|") for file in (self.tree / top).rglob("*")}
        self.findings = []

    def check(self):
        for file in documents(self.tree):
            self.check_one(file.relative_to(self.tree), file.read_text(encoding="utf-8"))
        for head in sorted((self.tree / "src").rglob("CMakeLists.txt")):
            start = START.search(head.read_text(encoding="utf-8"))
            for name in re.findall(r"(?<![\w./<])[\w./]+\.(?:h|cc)\b", start[0] if start else ""):
                if not any((base / name).exists() for base in (head.parent, *head.parents[1:4], self.tree, self.tree / "src/core")):
                    self.findings.append(f"{head.relative_to(self.tree)}:1: a reader cannot start with {name}: it is not there")
        for index in (self.tree / "docs").rglob("README.md"):
            named = set(LINK.findall(index.read_text(encoding="utf-8")))
            pages = {file.name for file in index.parent.glob("*.md")} | {
                str(file.relative_to(index.parent)) for file in index.parent.glob("*/README.md")
            }
            path = index.relative_to(self.tree)
            self.findings += [f"{path}:1: it has no link to {page}" for page in sorted(pages - named - {index.name})]
        return self.findings

    def check_one(self, path, text):
        def find(at, message):
            self.findings.append(f"{path}:{text.count(chr(10), 0, at) + 1}: {message}")

        lines = text.splitlines()
        if path.name == "DESIGN.md":
            if len(lines) > DESIGN_LINES_MAX:
                find(0, f"{len(lines)} lines, at most {DESIGN_LINES_MAX}: reasons go to docs/decisions")
            for match in re.finditer(rf"^.{{{DESIGN_COLUMNS_MAX + 1},}}$", text, re.M):
                find(match.start(), f"{len(match[0])} columns, at most {DESIGN_COLUMNS_MAX}")
        if str(path) == "README.md" and len(lines) > README_LINES_MAX:
            find(0, f"{len(lines)} lines, at most {README_LINES_MAX}: the rest goes to docs")
        if str(path) == "README.md" or path.parts[0] == "docs":
            for match in re.finditer(rf"^(?! *\||    ).{{{COLUMNS_MAX + 1},}}$", re.sub(r"^```.*?^```$", blank, text, flags=re.M | re.S), re.M):
                find(match.start(), f"{len(match[0])} columns, at most {COLUMNS_MAX}")
        if path.name == "CHANGELOG.md" and len(text.split()) > CHANGELOG_WORDS_MAX:
            find(0, f"{len(text.split())} words, at most {CHANGELOG_WORDS_MAX}: figures go to bench/results")
        if path.name == "DESIGN.md" or "decisions" in path.parts:
            for paragraph in re.finditer(r"(?:^[^\n|]+\n?)(?:^(?![-|#]|\d+\.)[^\n]+\n?)*", text, re.M):
                for date in DATE.finditer(paragraph[0]):
                    if "**Measured**" not in paragraph[0]:
                        find(paragraph.start() + date.start(), f"{date[0]}: a date stands in a Measured line only")
        if path.name == "testing.md":
            for match in COUNTED.finditer(text):
                count = sum(1 for _ in self.tree.glob(match[1]))
                if count < int(match[2].replace(",", "")):
                    find(match.start(), f"{match[1]} are {count} files, not {match[2]}")
        for match in WORDS.finditer(text):
            find(match.start(), f'"{match[0]}": name who or what it is, how many, or say "instead of"')
        if path.suffix == ".md" and path.parts[0] != "CHANGELOG.md":
            self.check_paths(path, text, find)

    def check_paths(self, path, text, find):
        for match in PATH.finditer(text):
            if not self.is_there(match[1]):
                find(match.start(), f"{match[1]} is not in the tree")
        of_users = path.parts[0] == "docs" and "decisions" not in path.parts  # the others name files of the tree only
        for match in () if of_users else FILE.finditer(text):
            if match[1] not in self.names and not PLACEHOLDERS.search(match[1]) and "*" not in match[1]:
                find(match.start(), f"no file of the tree is called {match[1]}")
        for match in LINK.finditer(text):
            if not (self.tree / path.parent / match[1]).exists():
                find(match.start(), f"the link to {match[1]} leads nowhere")

    def is_there(self, name):
        return any(True for _ in self.tree.glob(PLACEHOLDERS.sub("*", name).rstrip("/")))


SAMPLES = (  # file, text, findings
    ("DESIGN.md", "`swarm.cc` and src/transfer/fetch/transfer/swarm.cc, docs/a.md, see [it](docs/a.md)\n", 0),
    ("DESIGN.md", "x\n" * 257, 1),
    ("DESIGN.md", "x" * 111 + "\n", 1),
    ("DESIGN.md", "It was so on 2026-11-21.\n", 1),
    ("DESIGN.md", "- **Decision**: no.\n- **Measured**: 2 s became 1 s,\n  2026-11-21.\n", 0),
    ("docs/decisions/b.md", "- **Measured**: 1 s\n- **Because**: 2026-11-21 was one\n", 1),
    ("docs/a.md", "a run of 2026-11-21, src/transfer/fetch/*/*.cc, `NAME.cc`, fetchers/NAME\n", 0),
    ("docs/a.md", "`users.py`, src/transfer/fetch/gone.cc, [gone](gone.md)\n", 2),
    ("HACKING.md", "`gone.cc`, `cmd_NAME.cc`\n", 1),
    ("docs/a.md", "For who" "ever asks, so\nma" "ny, what" "ever, in pla" "ce of it.\n", 4),
    ("docs/README.md", "[a](a.md)\n", 0),
    ("docs/README.md", "a.md\n", 1),
    ("docs/decisions/README.md", "none\n", 0),
    ("README.md", "x\n" * 121, 1),
    ("README.md", "x" * 121 + "\n| " + "x" * 121 + "\n", 1),
    ("docs/a.md", "```\n" + "x" * 121 + "\n```\n" + "x" * 121 + "\n", 1),
    ("docs/testing.md", "| unit | `src/*/*/*/*.cc` | 1 | x |\n| cli | `docs/*` | 3 | x |\n", 1),
    ("CHANGELOG.md", "word " * 901, 1),
    ("src/transfer/fetch/CMakeLists.txt", "# Start reading here: transfer/swarm.cc, then\n# gone.h. More.\nx()\n", 1),
)


def self_test():
    failures = 0
    for name, text, expected in SAMPLES:
        with tempfile.TemporaryDirectory() as directory:
            tree = pathlib.Path(directory)
            for file, content in (("src/transfer/fetch/transfer/swarm.cc", ""), ("fetchers/file/file.cc", ""), ("docs/a.md", ""), (name, text)):
                (tree / file).parent.mkdir(parents=True, exist_ok=True)
                (tree / file).write_text(content)
            found = Documents(tree).check()
        if len(found) != expected:
            failures += 1
            print(f"{name}: {text[:60]!r}: expected {expected}, found {found}")
    print(f"self-test: {len(SAMPLES)} samples, {failures} failures")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    found = Documents(sys.argv[1] if len(sys.argv) > 1 else ".").check()
    print("\n".join(found) or "documents: no findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
