"""The manual page, made from what `sabath help` says of itself and from docs/exit-codes.md."""

import re

HEAD = """\
.\\" Made by tests/cli/documents_test.py from the program's own help; SABATH_ACCEPT=1 makes it anew.
.TH SABATH 1 "" "sabath {version}" "User Commands"
.SH NAME
sabath \\- put the right bytes where training will read them, and prove that they are the right bytes
.SH SYNOPSIS
.B sabath
.I COMMAND
.RI [ OPTION ]...
.RI [ ARGUMENT ]...
.SH DESCRIPTION
.B sabath
fetches datasets and models that recipes describe, from any of their mirrors, into a store that holds verified content
and nothing else. Success means that every byte that was asked for is there and that its hash was computed from what was
written. A fetch that was interrupted goes on where it stopped when the same command is given again.
.PP
Data goes to standard output; what is said to people goes to standard error. With
.B \\-\\-json
exactly one JSON record is printed on standard output, also when a command fails.
"""

TAIL = """\
.SH ENVIRONMENT
{variables}
.TP
.BR http_proxy ", " https_proxy ", " all_proxy ", " no_proxy
Proxies, as curl reads them.
.TP
.BR NO_COLOR ", " TERM ", " COLUMNS
Whether and how wide to draw.
.SH FILES
.TP
.I $XDG_CONFIG_HOME/sabath/config.json
The user's configuration;
.I ~/.config
without the variable. See
.BR "sabath help config" .
.TP
.I PREFIX/etc/sabath/config.json, /etc/sabath/config.json
The site's configuration; the first that exists.
.TP
.I $XDG_DATA_HOME/sabath/recipes
The user's recipes;
.I ~/.local/share
without the variable.
.TP
.I PREFIX/share/sabath/shipped
The recipes that came with the program.
.TP
.I PREFIX/share/doc/sabath/docs
The documents that this page and the messages call docs/NAME.md.
.SH EXIT STATUS
"""


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def options(lines):
    """Lines of `  -x, --long VALUE  what it does`, perhaps continued below, as tagged paragraphs."""
    out = []
    for line in lines:
        if line.startswith("   "):
            out.append(escape(line.strip()))
            continue
        names, text = re.fullmatch(r"  (\S.*?)(?:  +(.*))?", line).groups()
        out += [".TP", f".B {escape(names)}"] + ([escape(text)] if text else [])
    return out


def section(name, text):
    blocks = text.rstrip("\n").split("\n\n")
    out = [f'.SS "sabath {name}"', escape(blocks[0].split(": ", 1)[1][:1].upper() + blocks[0].split(": ", 1)[1][1:]) + "."]
    for block in blocks[1:]:
        first, *rest = block.split("\n")
        if first.startswith("Options of every command"):
            continue
        if first == "Examples":
            out += [".PP", ".nf", ".RS 2", *(escape(line[2:]) for line in rest), ".RE", ".fi"]
        elif first.startswith("Usage: "):
            out += [".PP", f".B {escape(first[7:])}"]
        elif first in ("Arguments", "Options"):
            out += options(rest)
        else:
            out += [".PP", *map(escape, block.split("\n"))]
    return out


def variables_of(text):
    """(name, meaning) of each line of `sabath help variables`."""
    return re.findall(r"^(SABATH_\w+) +(.+)$", text, re.M)


def variables(text):
    paragraphs = ([".TP", f".B {name}", escape(meaning[:1].upper() + meaning[1:]) + "."] for name, meaning in variables_of(text))
    return "\n".join(line for lines in paragraphs for line in lines)


def exit_codes(markdown):
    out = []
    for code, meaning, remedy in re.findall(r"^\| (\d+) \| (.*?) \| (.*?) \|$", markdown, re.M):
        text = "".join(f"{part[:1].upper()}{part[1:]}. " for part in (meaning, remedy) if part != "nothing").strip()
        out += [".TP", f".B {code}", escape(text.replace("`", ""))]
    return out


def names_of(lines):
    """The commands of a list, each on a line with its summary, which may go on in further lines."""
    return [re.match(r"  (\S+(?: \S+)?)  ", line).group(1) for line in lines if re.match(r"  \S", line)]


def man_page(sabath, markdown):
    """`sabath`: a function from arguments to the program's output."""
    version = sabath("--version").split()[1]
    top = sabath("--help")
    global_options = re.search(r"\nOptions of every command.*?\n(.*?)\n\n", top, re.S).group(1)
    out = [HEAD.format(version=version) + ".SH OPTIONS OF EVERY COMMAND"]
    out += options(global_options.split("\n"))
    for group in sabath("help", "all").rstrip("\n").split("\n\n"):
        title, *lines = group.split("\n")
        out += [f'.SH "COMMANDS: {escape(title.upper())}"']
        for name in names_of(lines):
            out += section(name, sabath(*name.split(), "-h"))
    return "\n".join(out) + "\n" + TAIL.format(variables=variables(sabath("help", "variables"))) + "\n".join(exit_codes(markdown)) + "\n"
