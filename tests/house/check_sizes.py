#!/usr/bin/python3
"""How long things may be: lines of a file and of a function, methods of a class, sources of a folder.
Usage: check_sizes.py [TREE]; check_sizes.py --self-test.

Each finding is one line, FILE:LINE: what is too long. Classes and functions are found by their braces, functions in
classes, too. A macro that opens a brace is not understood.
"""

import pathlib
import re
import tempfile

import house_rule

FILE_LINES_MAX, HEADER_LINES_MAX, FUNCTION_LINES_MAX, METHODS_MAX, FOLDER_SOURCES_MAX = 400, 150, 80, 40, 40
ABOVE = {"ChunkTransfer": 46, "Store": 53}  # classes above the limit; their numbers may only fall
TOPS = ("include", "src", "fetchers", "tests", "bench", "python", "scripts", ".ci")
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M
)
CLASS = re.compile(r"(?:class|struct|union)\b(?:\s*alignas\([^)]*\))?(?:\s+\[\[\w+\]\])?\s*([\w:]*)[^()=]*$")
NO_METHOD = re.compile(r"(using|friend|static_assert|typedef|enum)\b|.*\(\s*[*&]|.*=\s*(default|delete)$", re.S)


def bare(text):
    """The code alone, on the lines where it was."""
    return NO_CODE.sub(lambda found: '""' * found[0].startswith(('"', "R")) + "\n" * found[0].count("\n"), text)


def without_templates(head):
    head = re.sub(r"operator\s*[<>=!]+|->|[<>]=|<<", " ", head)
    while head != (shorter := re.sub(r"<[^<>]*>", " ", head)):
        head = shorter
    return " ".join(head.replace("template", " ").split())


class Code:
    """What a C++ file defines: `functions` (line, lines, head) and `classes` (line, name, methods)."""

    def __init__(self, text):
        self.functions, self.classes = [], []
        self.open = []  # (kind, line, what), innermost last
        head, line, begin = "", 1, 1
        for part in re.split(r"([{};\n])", bare(text)):
            if part == "\n":
                line += 1
                head += " "
            elif part == "{":
                self.enter(head, begin)
                head = ""
            elif part in ("}", ";"):
                self.leave(line) if part == "}" and self.open else self.declare(head)
                head = ""
            else:
                part = re.sub(r"\b(public|protected|private)\s*:", "", part)
                begin = begin if head.strip() else line
                head += part

    def scope(self):
        return self.open[-1][0] if self.open else "namespace"

    def enter(self, head, line):
        text = without_templates(head)
        if self.scope() in ("function", "other"):
            self.open.append(("other", line, text))
        elif re.match(r"(inline )?namespace\b|extern \"", text):
            self.open.append(("namespace", line, text))
        elif match := CLASS.match(re.sub(r"^(typedef|static|constexpr|const|inline) ", "", text)):
            self.classes.append([line, match[1], 0])
            self.open.append(("class", line, len(self.classes) - 1))
        elif "(" in text and not text.endswith("="):
            self.declare(head)
            self.open.append(("function", line, " ".join(head.split())))
        else:
            self.open.append(("other", line, text))

    def leave(self, line):
        kind, begin, what = self.open.pop()
        if kind == "function":
            self.functions.append((begin, line - begin + 1, what))

    def declare(self, head):
        if self.scope() == "class":
            text = without_templates(head)
            if re.match(r"[^=]*[\w\]]\s*\(|.*\boperator\b", text) and not NO_METHOD.match(text):
                self.classes[self.open[-1][2]][2] += 1


class Sizes:
    def __init__(self, tree):
        self.tree = pathlib.Path(tree)
        self.findings = []

    def find(self, path, line, message):
        self.findings.append(f"{path}:{line}: {message}")

    def check(self):
        folders = {}
        for top in TOPS:
            for file in sorted((self.tree / top).rglob("*")):
                path = file.relative_to(self.tree)
                script = path.suffix in (".py", ".sh") or (not path.suffix and top in ("scripts", ".ci"))
                if not file.is_file() or not (path.suffix in (".cc", ".h") or script) or "corpus" in path.parts:
                    continue
                self.check_file(path, file.read_text(encoding="utf-8"))
                if path.suffix == ".cc" and top in ("include", "src", "fetchers"):
                    folders.setdefault(path.parent, []).append(path)
        for folder, sources in folders.items():
            if len(sources) > FOLDER_SOURCES_MAX:
                self.find(folder, 1, f"{len(sources)} sources, at most {FOLDER_SOURCES_MAX}: give its families folders")
        return self.findings

    def check_file(self, path, text):
        lines = text.count("\n")
        longest = HEADER_LINES_MAX if path.suffix == ".h" else FILE_LINES_MAX
        if lines > longest:
            self.find(path, longest, f"{lines} lines, at most {longest}: split it by its nouns")
        if path.suffix not in (".cc", ".h") or path.parts[0] == "tests":  # there a function may be one long table of cases
            return
        code = Code(text)
        for line, length, head in code.functions:
            if length > FUNCTION_LINES_MAX:
                self.find(path, line, f"{length} lines, at most {FUNCTION_LINES_MAX}: {head}")
        for line, name, methods in code.classes:
            if methods > (allowed := ABOVE.get(name, METHODS_MAX)):
                self.find(path, line, f"{name} has {methods} methods, at most {allowed}: it is more than one noun")
            elif name in ABOVE and methods <= METHODS_MAX:
                self.find(path, line, f"{name} has {methods} methods, as others may: take it out of ABOVE in check_sizes.py")


LONG = "  g();\n\n" * 40
SAMPLES = {  # path: (text, what the finding must say); None: a good one
    "src/core/base/long.cc": ("int x;\n" * 401, "401 lines"),
    "src/core/base/long.h": ("#pragma once\n" + "int x;\n" * 150, "151 lines"),
    "src/core/base/function.cc": ("void f() {\n" + LONG + "}\n", "82 lines"),
    "src/core/base/functions.cc": ("namespace a {\n" + ("void f() {\n" + "  g();\n" * 70 + "}\n") * 2 + "}\n", None),
    "src/core/base/in_class.cc": ("namespace {\nclass A {\n  A() : a_{1} {}\n  void f() {\n" + LONG + "  }\n};\n}\n", "82 lines"),
    "src/core/base/in_struct.cc": ("template <class T>\nstruct A : B<T> {\n  void f() {\n" + LONG + "  }\n};\n", "82 lines"),
    "src/core/base/table.cc": ("constexpr int table[] = {\n" + "  1,\n" * 100 + "};\n", None),
    "src/core/base/text.cc": ('const char* text = R"(\n' + "void f() {\n" * 90 + ')";  // {\nvoid f() { g("{", \'{\'); }\n', None),
    "src/core/base/class.h": ("#pragma once\nclass A {\n" + "  void f();\n" * 41 + "};\n", "A has 41 methods"),
    "src/core/base/defined.h": ("#pragma once\nclass A {\n" + "  int f() const { return 1; }\n" * 41 + "};\n", "41 methods"),
    "src/core/base/two.h": ("#pragma once\n" + ("class A {\n" + "  void f();\n" * 30 + "};\n") * 2, None),
    "src/core/base/members.h": ("#pragma once\nstruct A {\n" + "  std::function<void(int)> f;\n  int n = g();\n" * 41 + "};\n", None),
    "scripts/long": ("#!/bin/sh\n" + ":\n" * 400, "401 lines"),
}


def self_test():
    failures = 0
    for name, (text, expected) in SAMPLES.items():
        with tempfile.TemporaryDirectory() as tree:
            file = pathlib.Path(tree, name)
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            findings = Sizes(tree).check()
        right = len(findings) == 1 and expected in findings[0] if expected else not findings
        if not right:
            failures += 1
            print(f"{name}: expected {expected or 'no finding'}, found {findings}")
    with tempfile.TemporaryDirectory() as tree:
        folder = pathlib.Path(tree, "src/core/base")
        folder.mkdir(parents=True)
        for number in range(FOLDER_SOURCES_MAX + 1):
            (folder / f"a{number}.cc").write_text("")
        findings = Sizes(tree).check()
        failures += len(findings) != 1 or f"{FOLDER_SOURCES_MAX + 1} sources" not in findings[0]
    print(f"self-test: {len(SAMPLES) + 1} samples, {failures} failures")
    return failures


if __name__ == "__main__":
    house_rule.run("check_sizes", lambda tree: Sizes(tree).check(), self_test)
