#!/usr/bin/python3
"""What `site solve` gives is what real Lmod loads: a table of cases over a tree with a hierarchy, and trees at random."""

import json
import os
import random
import subprocess

from support import module_tree
from support.case import Case, main

PATIENT = ("--patience", "120")
ROWS = """
gcc/12.3 of compiler
gcc/13.2 of compiler
intel/2023.1 of compiler
cuda/10.2
cuda/11.8
cuda/12.2
cuda/13.0
openmpi/4.1.6 after gcc/12.3 needs cuda/12.2 of mpi has cuda has ucx
openmpi/5.0.1 after gcc/13.2 of mpi has ucx
mpich/4.1 after gcc/13.2 of mpi
hdf5/1.14 after gcc/12.3 after openmpi/4.1.6
hdf5/1.14 after gcc/13.2 after openmpi/5.0.1
hdf5/1.12 after gcc/13.2 after openmpi/5.0.1
tensorflow/2.9 after gcc/12.3 needs cuda/11.8
tensorflow/2.11 after gcc/12.3 after openmpi/4.1.6 needs cuda/12.2
fftw/3.3.10 after gcc/13.2
OpenBLAS/0.3.23-GCC-12.3.0 after gcc/12.3
anaconda/2023.09 excludes gcc
cmake/3.27
cmake/3.27 after gcc/12.3 needs ncurses/6
ncurses/6 after gcc/12.3
ncurses/5 of compiler
starter/1 needs tool/1
tool/1 after starter/1
tool/0
viewer/2 needs cuda@11:12
"""
MPI4 = "gcc/12.3 cuda/12.2 openmpi/4.1.6"
CASES = (  # needs, modules in their order, else what is against it; the set that `also` has
    ("cuda", "cuda/13.0"),
    ("cuda>=11,<13", "cuda/12.2"),
    ("cuda<=11", "cuda/11.8"),
    ("cuda=12", "cuda/12.2"),
    ("cuda/11.8", "cuda/11.8"),
    ("cuda!=13.0", "cuda/12.2"),
    ("cuda==10.2", "cuda/10.2"),
    ("TensorFlow>=2.10", f"{MPI4} tensorflow/2.11"),
    ("openmpi+cuda", MPI4),
    ("openmpi>=4+cuda+ucx", MPI4),
    ("openmpi", "gcc/13.2 openmpi/5.0.1"),
    ("openmpi hdf5", "gcc/13.2 openmpi/5.0.1 hdf5/1.14"),
    ("openmpi tensorflow", f"{MPI4} tensorflow/2.11"),
    ("hdf5>=1.14", "gcc/13.2 openmpi/5.0.1 hdf5/1.14", f"{MPI4} hdf5/1.14"),
    ("tensorflow cuda>=11,<12", "gcc/12.3 cuda/11.8 tensorflow/2.9"),
    ("openblas==0.3.23+gcc", "gcc/12.3 OpenBLAS/0.3.23-GCC-12.3.0"),
    ("cmake gcc=12", "gcc/12.3 ncurses/6 cmake/3.27"),  # after gcc Lmod takes the other cmake, which needs ncurses
    ("cmake gcc", "cmake/3.27 gcc/13.2"),
    ("viewer", "cuda/11.8 viewer/2"),
    ("viewer cuda>=12", "cuda/13.0 does not go with viewer/2: cuda/11.8 is in the way"),
    ("starter", "which is there only after it"),
    ("tensorflwo", "no software is called tensorflwo: the nearest is tensorflow"),
    ("cuda>=14", "cuda is here as 13.0, 12.2, 11.8, 10.2, and none of them is >=14"),
    ("cuda<9", "none of them is <9"),
    ("openmpi+rocm", "none of them is known to have rocm"),
    ("fftw tensorflow", "gcc/13.2 is in the way"),
    ("mpich openmpi", "mpich/4.1 is in the way"),
    ("anaconda fftw", "gcc/13.2 is in the way"),
)


def row_of(text):
    words = text.split()
    row = {"module": words[0], "after": [], "needs": [], "excludes": [], "of": [], "has": []}
    for key, value in zip(words[1::2], words[2::2]):
        row[key].append(value)
    return row


def need_of(text):
    name, _, bounds = text.partition("@")
    if not bounds:
        return f'"{text}"'
    first, last = bounds.split(":")
    return f'between("{name}", "{first}", "{last}")' if last else f'atleast("{name}", "{first}")'


def make_tree(root, rows):
    """A Lua modulefile for each row; their first directory."""
    directory = {(): root / "Core"}
    for row in rows:
        directory.setdefault(tuple(row["after"]), root / "-".join(["below", *row["after"]]).replace("/", "_"))
    for row in rows:
        below = (*row["after"], row["module"])
        lines = [f'family("{one}")' for one in row["of"]] + [f'conflict("{one}")' for one in row["excludes"]]
        lines += [f'whatis("Keywords: {", ".join(row["has"])}")'] if row["has"] else []
        lines += [f"depends_on({need_of(one)})" for one in row["needs"]]
        lines += [f'prepend_path("MODULEPATH", "{directory[below]}")'] if below in directory else []
        module_tree.write(directory[tuple(row["after"])] / (row["module"] + ".lua"), lines)
    return directory[()]


def random_rows(seed):
    """A hierarchy of five names, with families, conflicts and needs."""
    dice = random.Random(seed)
    rows = [row_of(f"{name}/{version}") for name in "ab" for version in (1, 2, 3)]
    tops = [row["module"] for row in rows]
    for name in "cde":
        for version in (1, 2):
            chains = [[]] if dice.random() < 0.6 else []
            chains += [[top] for top in dice.sample(tops, dice.choice((0, 1, 2)))]
            rows += [{**row_of(f"{name}/{version}"), "after": chain} for chain in chains or [[]]]
    modules = sorted({row["module"] for row in rows})
    family = {name: dice.choice(("", "", "p", "q")) for name in "abcde"}
    for row in rows:
        name = row["module"][0]
        row["of"] = [family[name]] if family[name] else []
        others = [one for one in modules if one[0] != name]
        row["excludes"] = [dice.choice((dice.choice(others), dice.choice(others)[0]))] if dice.random() < 0.2 else []
        later = [one for one in modules if one[0] > name]
        row["needs"] = [dice.choice((dice.choice(later), dice.choice(later)[0]))] if later and dice.random() < 0.3 else []
    return rows


class SolveUnderLmod(Case):
    def setUp(self):
        super().setUp()
        if module_tree.lmod_variables("/x") is None:
            self.skipTest("no Lmod: scripts/setup full")

    def detected(self, core, name):
        file = self.home / f"{name}.json"
        self.expect(self.sabath.run("site", "detect", *PATIENT, "-o", file, **module_tree.lmod_variables(core)))
        return file

    def solve(self, file, *needs):
        result = self.sabath.run("site", "solve", "--json", "--site", file, *needs)
        self.assertIn(result.exit, (0, 3), result)
        return result.record

    def loaded(self, core, sets):
        """What Lmod has after each of them was loaded one by one, as `run` does; None: it refused."""
        script = f'. {module_tree.LMOD}/init/bash; export MODULEPATH={core}; while read -r line; do module --force purge; export MODULEPATH={core}; ok=1\n' \
                 'for one in $line; do module load "$one" || { ok=; break; }; done; echo "set:${ok:+$LOADEDMODULES}"; done'  # fmt: skip
        done = subprocess.run(["bash", "--noprofile", "--norc", "-c", script], input="".join(" ".join(one) + "\n" for one in sets), capture_output=True,
                              text=True, env={"PATH": os.environ["PATH"], "HOME": str(self.home), "LMOD_IGNORE_CACHE": "1"}, check=True)  # fmt: skip
        found = [line[4:] for line in done.stdout.splitlines() if line.startswith("set:")]
        self.assertEqual(len(found), len(sets), done.stderr)
        return [set(one.split(":")) if one else None for one in found]

    def test_a_table_of_cases(self):
        core = make_tree(self.home / "sw", [row_of(line) for line in ROWS.strip().split("\n")])
        file = self.detected(core, "table")
        sets = []
        for needs, expected, *also in CASES:
            record = self.solve(file, *needs.split())
            if "/" in expected.split()[-1]:
                self.assertEqual(" ".join(record["modules"]), expected, (needs, record["against"]))
                sets.append(record["modules"])
            else:
                self.assertEqual((record["exit"], record["modules"]), (3, []), needs)
                self.assertIn(expected, " ".join(record["against"]), needs)
            if record["nearest"]:
                sets.append(record["nearest"])
            if record["also"]:
                sets.append(record["also"])
            if also:
                self.assertEqual(" ".join(record["also"]), also[0])
        self.assertGreater(len(CASES), 24)
        self.assertEqual(self.loaded(core, sets), [set(one) for one in sets])

    def test_trees_at_random(self):
        for seed in range(25):
            rows = random_rows(seed)
            core = make_tree(self.home / f"sw{seed}", rows)
            file = self.home / f"{seed}.json"
            software = [{key: value for key, value in {"name": row["module"][0], "version": row["module"][2:], "module": row["module"], "requires": row["after"], "needs": row["needs"],
                         "conflicts": row["excludes"], "family": "".join(row["of"])}.items() if value} for row in rows]  # fmt: skip
            file.write_text(json.dumps({"schema": 1, "name": "random", "software": software}))
            dice = random.Random(seed)
            needs = [dice.sample("abcde", dice.choice((1, 2, 3))) for _ in range(3)]
            records = [self.solve(file, *one) for one in needs]
            sets = [modules for one in records for modules in (one["modules"], one["also"]) if modules]
            self.assertEqual(self.loaded(core, sets), [set(one) for one in sets], seed)


if __name__ == "__main__":
    main()
