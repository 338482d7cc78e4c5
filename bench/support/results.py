"""Tables in Markdown: bench/results/DATE-CPU.md, one file a machine. The first run in a file tells of the machine."""
import datetime
import os
import platform
import re
import shutil
import subprocess
import sys

from . import report

TOLD = ("Model name", "CPU(s)", "Thread(s) per core", "Socket(s)", "NUMA node(s)", "L3 cache", "Hypervisor vendor")
FLAGS = ("sha_ni", "avx2", "avx512bw")  # that hashing may use
HIDDEN = ("--sabath", "--json", "--results", "--rig", "--programs")  # their values are paths of one machine
PROGRAMS = ("curl", "aria2c", "rclone", "nginx", "rsync", "mpirun")


def lscpu():
    if not shutil.which("lscpu"):
        return {}
    shown = subprocess.run(["lscpu"], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"})
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in shown.stdout.splitlines())}


def first_line(program):
    where = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    if not (path := shutil.which(program, path=where)):
        return None
    shown = subprocess.run([path, "-v" if program == "nginx" else "--version"], capture_output=True, text=True, check=False,
                           stdin=subprocess.DEVNULL)
    return ((shown.stdout or shown.stderr).splitlines() or [program])[0].strip()


def memory():
    with open("/proc/meminfo", encoding="ascii") as text:
        total = re.search(r"MemTotal:\s+(\d+)", text.read())
    return f"{int(total[1]) / (1 << 20):.0f} GiB"


def head(machine):
    """What was measured on, as the first lines of a file."""
    told = lscpu()
    flags = [flag for flag in FLAGS if flag in told.get("Flags", "").split()]
    processor = "; ".join(f"{key} {told[key]}" for key in TOLD[1:] if told.get(key))
    versions = [line for program in PROGRAMS if (line := first_line(program))]
    return [f"# {told.get('Model name', machine['cpu'])}, {datetime.date.today()}", "",
            f"- Processor: {processor or machine['cores']}; {', '.join(flags) or 'none'} of {', '.join(FLAGS)}",
            f"- Memory: {memory()}; Linux {platform.release()}; Python {platform.python_version()}",
            f"- Programs: {'; '.join(versions)}", ""]


def command():
    """The command line as others can give it."""
    words, told = iter(sys.argv[1:]), ["bench/" + os.path.basename(sys.argv[0])]
    for word in words:
        if word in HIDDEN:
            next(words, None)
        elif not word.startswith(tuple(f"{name}=" for name in HIDDEN)):
            told.append(word if re.fullmatch(r"[\w.,:=/+-]+", word) else f"'{word}'")
    return " ".join(told)


def table(titles, rows):
    escaped = [[str(cell).replace("|", "\\|") for cell in row] for row in (titles, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in escaped]
    return [lines[0], "|" + "---|" * len(titles), *lines[1:]]


def append(path, bench, machine, blocks):
    """blocks: (titles, [(cells of rows, notes) of each outcome]), a table each."""
    new = not os.path.exists(path) or not os.path.getsize(path)
    lines = head(machine) if new else [""]
    now = f"{datetime.datetime.now():%Y-%m-%d %H:%M}"
    lines += [f"## `{command()}`", "", f"{bench.sabath.version()}; {now}; load {machine['load'][0]:.2f} before; "
              f"median of {bench.options.rounds}.", ""]
    for titles, outcomes in blocks:
        if not outcomes:
            continue
        lines += [*table(titles, [row for rows, _ in outcomes for row in rows]), ""]
        for rows, notes in outcomes:
            lines += [f"- {rows[0][0]}: {' '.join(note.split())}" for note in notes]
        lines.append("")
    lines += [f"- SKIP: {case}: {reason}" for case, reason in bench.skipped]
    lines += [f"- {note}" for note in report.load_of(bench.outcomes)]
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")
