#!/usr/bin/python3
"""Words that make a sentence be read twice: each hides who does what, or how much. Their number in each folder stands in
tests/house/words, and may only fall. Usage: check_words.py [TREE]; check_words.py --lower [TREE]: writes numbers that have
fallen; check_words.py --self-test.

Public headers, and the texts of the product that a user may see, have none of them. Those texts, and README.md, have none
of the words of READ either.
"""

import pathlib
import re
import sys
import tempfile

ADVICE = {  # word: what to say
    "whoever": "name the agent: the writer, the process, the user",
    "whatever": "say what, or leave it out",
    "whichever": "say which",
    "whenever": "when",
    "wherever": "say where",
    "so many": "give the number a name: N files",
    "so much": "say how much",
    "in place of": "instead of",
    "nobody": "name the agent: no writer, no process, no user",
    "somebody": "name the agent: another process, a user",
    "everybody": "name them: all users, all ranks",
}
READ = {  # in what users read
    "told": "named, printed, given",
    "room": "space, or directory",
    "rooms": "directories",
    "stand": "are",
    "stands": "is",
    "stood": "was",
    "lack": "has no, or: is missing",
    "lacks": "has no, or: is missing",
    "lacking": "missing",
    "at hand": "here, available",
}
TOPS = ("include", "src", "fetchers", "tests", "bench", "python")
WORD = re.compile(r"\b(" + "|".join(word.replace(" ", r"\s+") for word in ADVICE) + r")\b", re.I)
READ_WORD = re.compile(r"(?<![\w./-])(" + "|".join(word.replace(" ", r"\s+") for word in READ) + r")\b(?!/)", re.I)
INCLUDE = re.compile(r"^#include.*$", re.M)
NEXT_LINE = re.compile(r"\n\s*(//|#|\*)? *")  # of one comment: a sentence goes on there
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"')


def found_in(text, words=WORD):
    """(line, word) of each."""
    joined = NEXT_LINE.sub(lambda gap: " " + "\0" * (len(gap[0]) - 1), text)  # as long as before: offsets stay
    return [(text.count("\n", 0, m.start()) + 1, " ".join(m[0].lower().split())) for m in words.finditer(joined.replace("\0", " "))]


def texts_of(code):
    """What stands between quotes, on the lines where it was; a text that goes on in the next line is one."""
    code = COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else "\n" * found[0].count("\n"), code)
    kept, at = [], 0
    for text in TEXT.finditer(code):
        gap = code[at : text.start()]
        kept.append(("\n" * gap.count("\n") if gap.isspace() else " ; " + "\n" * gap.count("\n")) + text[0][1:-1])
        at = text.end()
    return "".join(kept)


class Words:
    def __init__(self, tree):
        self.tree = pathlib.Path(tree)
        self.file = self.tree / "tests/house/words"
        self.findings = []

    def count(self):
        """By folder; the places that may have none are findings at once."""
        counts = dict.fromkeys(TOPS, 0)
        for top in TOPS:
            for file in sorted((self.tree / top).rglob("*")):
                script = top == "bench" and not file.suffix and file.is_file()
                if not (file.suffix in (".cc", ".h", ".py") or script) or "corpus" in file.parts or file.name == "check_words.py":
                    continue
                text, path = file.read_text(encoding="utf-8"), file.relative_to(self.tree)
                counts[top] += len(found_in(text))
                none = text if top == "include" else texts_of(INCLUDE.sub("", text)) if top in ("src", "fetchers") else ""
                self.findings += [f'{path}:{line}: "{word}": {ADVICE[word]}' for line, word in found_in(none)]
                self.read(path, "" if top == "include" else none)
        if (self.tree / "README.md").exists():
            self.read("README.md", (self.tree / "README.md").read_text(encoding="utf-8"))
        return counts

    def read(self, path, text):
        self.findings += [f'{path}:{line}: "{word}": {READ[word]}' for line, word in found_in(text, READ_WORD)]

    def check(self):
        counts, known = self.count(), dict.fromkeys(TOPS, 0)
        for line in self.file.read_text().splitlines() if self.file.exists() else []:
            if not line.startswith("#"):
                known[line.split()[0]] = int(line.split()[1])
        for top, count in counts.items():
            if count > known[top] and top != "include":
                self.findings.append(f"{top}: {count} words of the list, {known[top]} before: say it plainly (check_words.py)")
            elif count < known[top]:
                self.findings.append(f"{top}: {count} words of the list, {known[top]} before: check_words.py --lower keeps it so")
        return self.findings

    def lower(self):
        counts = self.count()
        head = "# How many words of check_words.py's list each folder has: they may only become fewer.\n"
        self.file.write_text(head + "".join(f"{top} {counts[top]}\n" for top in TOPS))


SAMPLES = {  # path: (text, what `words` says, what the finding must say); None: a good one
    "include/sabath/a.h": ("#pragma once\n// whoever reads\n", "include 1", 'a.h:2: "whoever": name the agent'),
    "include/sabath/b.h": ("// the first so\n// many files\n", "include 1", 'b.h:1: "so many"'),
    "src/a/a.cc": ('// fine\nf("used in place "\n  "of it");\n', "src 0", 'a.cc:2: "in place of": instead of'),
    "src/a/b.cc": ('f("in place", "of it", g("a\\"b"));  // a "quoted" comment\n', "", None),
    "src/a/d.cc": ('#include "cli/told/x.h"\n// a room\nf("what it lacks",\n  ".room");\n', "", 'd.cc:3: "lacks": has no'),
    "README.md": ("Room for a\n", "", 'README.md:1: "room": space'),
    "src/a/c.cc": ("// nobody\n", "src 0", "src: 1 words of the list, 0 before"),
    "tests/a.py": ("# so much\n# whatever\n", "tests 1", "tests: 2 words of the list, 1 before"),
    "tests/b.cc": ("// nobody\n", "# a head\ntests 1", None),
    "tests/c.cc": ("// no writer\nint somebody_else;\n", "tests 1", "--lower"),
}


def self_test():
    failures = 0
    for name, (text, known, expected) in SAMPLES.items():
        with tempfile.TemporaryDirectory() as tree:
            for file, content in ((name, text), ("tests/house/words", known)):
                pathlib.Path(tree, file).parent.mkdir(parents=True, exist_ok=True)
                pathlib.Path(tree, file).write_text(content, encoding="utf-8")
            findings = Words(tree).check()
        right = len(findings) == 1 and expected in findings[0] if expected else not findings
        if not right:
            failures += 1
            print(f"{name}: expected {expected or 'no finding'}, found {findings}")
    print(f"self-test: {len(SAMPLES)} samples, {failures} failures")
    return failures


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    lower = arguments[:1] == ["--lower"]
    words = Words(arguments[lower] if len(arguments) > lower else pathlib.Path(__file__).parents[2])
    if lower:
        words.lower()
        return 0
    findings = words.check()
    print("\n".join(findings) if findings else "check_words: no findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
