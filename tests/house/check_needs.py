#!/usr/bin/python3
"""A script of scripts/ or packaging/ says what it needs before it begins: each program that it calls is one of every Debian
system, or in a set or a program that it hands to scripts/setup. Usage: check_needs.py [TREE]; check_needs.py --self-test.

Calls are found at the places of commands, as bash reads them; in Python, as the first word of a list that subprocess gets.
What a variable names is not seen, nor what is in a string.
"""

import pathlib
import re
import tempfile

import house_rule

# Of Debian's essential packages, and of bash.
STANDARD = set(
    "awk base64 basename bash cat chmod chown chroot cmp comm cp cut date dd df diff dirname dpkg dpkg-query du env expand expr "
    "false find flock fold getent grep gzip head hostname id install join kill link ln ls mkdir mkfifo mktemp mount mv nice nl "
    "nohup nproc od paste perl printenv readlink realpath rm rmdir sed seq setpriv setsid sh sha256sum shuf sleep sort split stat "
    "stdbuf stty sudo sync tac tail tar tee timeout touch tr true truncate tsort tty umount uname uniq unlink unshare wc which "
    "whoami xargs yes "
    ". : [ alias break builtin cd command compgen continue declare echo eval exec exit export getopts hash let local mapfile popd "
    "printf pushd pwd read readarray readonly return set shift shopt source test trap type ulimit umask unset wait".split()
)
OPENING = {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"}
CLOSING = {"fi", "done", "esac", "}"}
NEVER, OPTION, OPTION_OR_TIME = (re.compile(pattern) for pattern in (r"(?!)", "-", r"[-\d$]"))
# A command follows, after assignments and what the pattern matches.
PREFIXES = {"command": OPTION, "env": OPTION, "exec": OPTION, "nice": OPTION_OR_TIME, "sudo": OPTION, "timeout": OPTION_OR_TIME}
ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=")
PLAIN = re.compile(r"(?:/usr/bin/)?([A-Za-z0-9_+.:\[][\w+.:-]*)$")
STARTED = re.compile(r'subprocess\.\w+\(\s*\[\s*"([\w.+-]+)"')
ASKED = re.compile(r'\bneed\((.*)|"setup",? ?"?([\w", ]+)')
CALLERS = {"packaging/parts.py": "packaging/build-parts"}  # what has asked for both


class Shell:
    """A bash script: its `commands`, each a list of words without their quotes, its `functions`, and its `arrays`."""

    def __init__(self, text):
        self.text, self.at = text, 0
        self.commands, self.functions, self.arrays, self.waiting = [], set(), {}, []
        self.list("")

    def peek(self, text):
        return self.text.startswith(text, self.at)

    def list(self, end):
        """Commands up to the character `end`, or to the end of the text."""
        start, words, cases = True, [], 0
        while self.at < len(self.text):
            c = self.text[self.at]
            if c == end:
                self.at += 1
                return
            if c in " \t" or self.peek("\\\n"):
                self.at += 1 + (c == "\\")
            elif c == "#" and self.text[self.at - 1] in " \t\n;(":
                self.at = self.text.find("\n", self.at) % (len(self.text) + 1)
            elif self.peek("((") and self.text[self.at - 1] in " \t\n(;":
                self.arithmetic()
                start = False
            elif c in "<>" or self.peek("&>"):
                self.redirection()
            elif c in ";|&\n":
                again = cases and self.peek(";;")
                self.at += 2 if again else 1
                if c == "\n":
                    self.skip_documents()
                start, words = True, []
                if again:
                    cases -= self.pattern()
            elif c in "()":
                self.at += 1
                if c == "(":
                    self.list(")")
                start = False
            else:
                word = self.word()
                if not start:
                    words.append(word)
                elif self.peek("()"):
                    self.at += 2
                    self.functions.add(word)
                elif word == "case":
                    self.subject()
                    cases += 1 - self.pattern()
                elif word == "[[":
                    self.condition()
                    start = False
                elif word in CLOSING:
                    cases -= word == "esac"
                    start = False
                elif word in ("for", "select"):
                    start = False
                elif not (word in OPENING or ASSIGNED.match(word) or words and PREFIXES.get(words[0], NEVER).match(word)):
                    words = [word]
                    self.commands.append(words)
                    start = word in PREFIXES
                elif words and word == "-v":  # command -v NAME is a question
                    words, start = ["command"], False
                    self.commands.append(words)

    def word(self):
        begin = self.at
        while self.at < len(self.text) and self.text[self.at] not in " \t\n;|&<>)":
            c = self.text[self.at]
            if c == "(":
                name = ASSIGNED.fullmatch(self.text[begin : self.at])
                if not name:
                    break
                self.at += 1
                self.array(name[1])
            elif not self.quoted():
                self.at += 2 if c == "\\" else 1
        if self.at == begin:
            self.at += 1
        return re.sub(r"""["']""", "", self.text[begin : self.at])

    def quoted(self):
        """Steps over what begins here and hides characters; false: nothing does."""
        if self.peek("'"):
            self.at = self.text.find("'", self.at + 1) + 1
        elif self.peek('"'):
            self.until('"')
        elif self.peek("$(("):
            self.at += 1
            self.arithmetic()
        elif self.peek("$("):
            self.at += 2
            self.list(")")
        elif self.peek("${"):
            self.at += 1
            self.until("}")
        else:
            return False
        return True

    def until(self, end):
        self.at += 1
        while self.at < len(self.text) and not self.peek(end):
            if self.peek("\\"):
                self.at += 2
            elif end == '"' and self.peek("'") or not self.quoted():
                self.at += 1
        self.at += 1

    def arithmetic(self):
        depth = 0
        while self.at < len(self.text):
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
            if depth == 0:
                return

    def array(self, name):
        words = self.arrays.setdefault(name, [])
        while self.at < len(self.text) and not self.peek(")"):
            if self.peek("#"):
                self.at = self.text.find("\n", self.at)
            elif self.text[self.at] in " \t\n":
                self.at += 1
            else:
                words.append(self.word())
        self.at += 1

    def redirection(self):
        if self.peek("<(") or self.peek(">("):
            self.at += 2
            self.list(")")
            return
        document = self.peek("<<") and not self.peek("<<<")
        self.at = re.compile(r"[<>&|]+-?[ \t]*").match(self.text, self.at).end()
        if not (self.peek("<(") or self.peek(">(")):
            target = self.word()
            if document:
                self.waiting.append(target)

    def skip_documents(self):
        for mark in self.waiting:
            end = re.compile(rf"^\s*{re.escape(mark)}$", re.M).search(self.text, self.at)
            self.at = end.end() if end else len(self.text)
        self.waiting = []

    def subject(self):
        while self.word() != "in":
            self.at = re.compile(r"[ \t]*").match(self.text, self.at).end()

    def pattern(self):
        """Steps over the next pattern of a case; true: there is none, but its esac."""
        while self.at < len(self.text):
            self.at = re.compile(r"(?:\s|\\\n|#[^\n]*\n|[|(])*").match(self.text, self.at).end()
            if self.peek(")"):
                self.at += 1
                return False
            if self.word() == "esac":
                return True
        return True

    def condition(self):
        while self.at < len(self.text):
            if self.text[self.at] in " \t\n;|&<>()":
                self.at += 1
            elif self.word() == "]]":
                return


class Setup:
    """What scripts/setup knows: the packages of each set, and the package of a program."""

    def __init__(self, text):
        arrays, packages = Shell(text).arrays, set()
        self.sets = {}
        for name, array in (("product", "product"), ("quickstart", "quickstart"), ("test", "testing"), ("full", "full")):
            packages = packages | {each for choice in arrays.get(array, ()) for each in choice.split("|")}
            if any(package.startswith("python3-") for package in packages):
                packages.add("python3")
            self.sets[name] = packages
        pairs = (word[1:].partition("]=") for word in arrays.get("package_of", ()))
        self.packages = {program: package for program, _, package in pairs}

    def of(self, program):
        return self.packages.get(program.removeprefix("/usr/bin/"), program.removeprefix("/usr/bin/"))

    def brought(self, words, arrays=None):
        """The packages that `scripts/setup WORDS` brings."""
        found, of_programs = set(), False
        for word in words:
            if word == "programs":
                of_programs = True
            elif of_programs:
                array = re.fullmatch(r"\$\{(\w+)\[@\]\}", word)
                found |= {self.of(each) for each in ((arrays or {}).get(array[1], ()) if array else (word,))}
            else:
                found |= self.sets.get(word, set())
        return found if of_programs or found else set(self.sets["product"])


def needs(text, setup):
    """(programs that it calls, packages that it asks for) of one script."""
    called, asked = set(), set()
    if "python3" in text.partition("\n")[0]:
        for each, names in ASKED.findall(text):
            asked |= setup.brought(["programs" if each else "", *re.findall(r'"([\w./+-]+)"', each or f'"{names}"')])
        return set(STARTED.findall(text)) - STANDARD, asked | {each for each in re.findall(r'shutil\.which\("([\w.-]+)"', text)}
    shell = Shell(text)
    for words in shell.commands:
        if words[0].endswith("scripts/setup"):
            asked |= setup.brought([word for word in words[1:] if word != "--dry-run"], shell.arrays)
        elif words[0] == "command" and len(words) > 1:
            asked.add(setup.of(words[1]))
        elif plain := PLAIN.match(words[0]):
            called.add(plain[1])
    return called - shell.functions - STANDARD, asked


def check(tree):
    tree = pathlib.Path(tree)
    setup = Setup((tree / "scripts/setup").read_text(encoding="utf-8"))
    scripts = {}
    for folder in ("scripts", "packaging", ".ci"):
        for file in sorted((tree / folder).glob("*")):
            if file.is_file() and re.match(r"#!.*\b(bash|python3)\n", text := file.read_text(encoding="utf-8")):
                scripts[str(file.relative_to(tree))] = needs(text, setup)
    findings = []
    for name, (called, asked) in scripts.items():
        asked = asked | scripts.get(CALLERS.get(name, ""), (set(), set()))[1]
        missing = sorted(program for program in called if setup.of(program) not in asked)
        if missing:
            findings.append(f"{name}: it calls {', '.join(missing)}: hand them to scripts/setup, by a set or by `programs`")
    return findings


def self_test():
    setup = "product=(cmake 'pkg-config|pkgconf')\ntesting=(curl)\ndeclare -A package_of=([ninja]=ninja-build [xz]=xz-utils)\n"
    bash, python = "#!/usr/bin/env bash\n", "#!/usr/bin/python3\n"
    samples = (
        (f"{bash}cmake -S .\n", 1),
        (f"{bash}scripts/setup\ncmake -S . | grep curl\n", 0),
        (f"{bash}scripts/setup product && pkgconf x && curl y\n", 1),
        (f"{bash}scripts/setup test && pkgconf x && curl y\n", 0),
        (f'{bash}all=(ninja "x")\nall+=(xz)  # cmake\n"$here/../scripts/setup" --dry-run programs "${{all[@]}}"\nxz < <(ninja)\n', 0),
        (f"{bash}scripts/setup programs ninja\necho $(xz -l)\n", 1),
        (f'{bash}x="a $(xz "b") c"\n', 1),
        (f"{bash}if ! command -v xz >/dev/null; then exit; fi\nenv A=b xz\n", 0),
        (f"{bash}env A=b xz\n", 1),
        (f"{bash}case $1 in\n  xz | curl) curl ;;\n  a) : ;;\nesac\nfor curl in xz; do echo; done\n", 1),
        (f"{bash}case $1 in\n  xz | curl) echo ;;\nesac\nfor curl in xz; do echo; done\n[[ a || curl ]] && ((xz + 1))\n", 0),
        (f"{bash}cat >x <<END\ncurl\nEND\nxz() {{ :; }}\nxz 'curl'\n", 0),
        (f"{bash}time curl\n", 1),
        (f"{bash}timeout --foreground $((1 + 2)) curl || /usr/bin/curl\n", 1),
        (f'{python}subprocess.run(["curl", "-f"])\n', 1),
        (f'{python}need("curl", other)\nsubprocess.run(["curl", "-f"])\n', 0),
        (f'{python}subprocess.run([scripts / "setup", "test"])\nsubprocess.run(["curl", "-f"])\n', 0),
    )
    failures = 0
    for text, expected in samples:
        with tempfile.TemporaryDirectory() as tree:
            (pathlib.Path(tree) / "scripts").mkdir()
            (pathlib.Path(tree) / "scripts/setup").write_text(setup, encoding="utf-8")
            (pathlib.Path(tree) / "scripts/one").write_text(text, encoding="utf-8")
            found = check(tree)
        if len(found) != expected:
            failures += 1
            print(f"{text!r}: expected {expected}, found {found}")
    print(f"self-test: {len(samples)} samples, {failures} failures")
    return failures


if __name__ == "__main__":
    house_rule.run("check_needs", check, self_test)
