"""Programs at one of their system calls: sabath-at-call, and stores to try it on as often as one likes."""

import concurrent.futures
import errno
import io
import os
import random
import subprocess
import sys
import tarfile

from support import program
from support.case import Case, SKIPPED, place
from support.content import fragment, read_tree, seeded
from support.program import Sabath

AT_CALL = os.environ.get("SABATH_AT_CALL", "")
ROUNDS = int(os.environ.get("SABATH_CRASH_ROUNDS", "0"))
FULL = ROUNDS > 0
SEED = int(os.environ.get("SABATH_SEED", random.SystemRandom().randrange(1 << 32)))
WORKERS = 3 * (os.cpu_count() or 1)  # they wait more than they compute
CHUNK = 4 << 20
LEFT_EMPTY = ("partial", "leases", "reservations", "tmp")  # by processes that have ended, after a collection


def skip_unless_traceable():
    if not AT_CALL or not program.BINARY:
        print("SKIP: SABATH_AT_CALL and SABATH_BINARY do not name the programs")
        sys.exit(SKIPPED)
    tried = subprocess.run([AT_CALL, "--below", "/", "--", "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        print(f"SKIP: no process can be traced here (ptrace, seccomp): {tried.stderr.strip()}")
        sys.exit(SKIPPED)


class Report:
    """The report of sabath-at-call about a run."""

    def __init__(self, file):
        head, *self.calls = file.read_text().splitlines()
        count, self.what = head.split(" ", 1)
        self.count, self.reached = int(count), self.what != "-"


class StoreCase(Case):
    """Two assets in a directory, and templates of stores, of which each trial gets a copy."""

    def setUp(self):
        super().setUp()
        print(f"seed {SEED}; stores in {self.home}", flush=True)
        script = b"#!/bin/sh\n" + b"# of what is executable a view has a copy\n" * 400
        members = {"in/run.sh": script, "in/data.bin": seeded(70_000, 5)}
        self.files = {"large.bin": seeded(CHUNK + 100_000, 1), "small.bin": seeded(30_000, 2), "empty.bin": b""}
        packed = tar_of(members)
        self.other = other = seeded(50_000, 3)
        for name, data in {**self.files, "in.tar": packed, "other.bin": other}.items():
            place(self.home / "served" / name, data)
        parts = [fragment(self.url(name), data, path=name, name=name.split(".")[0])
                 for name, data in self.files.items()]  # fmt: skip
        parts.append(fragment(self.url("in.tar"), packed, kind="archive", name="in"))
        self.sabath.add("mixed", parts)
        self.sabath.add("other", [fragment(self.url("other.bin"), other, path="other.bin")])
        self.tree = {**self.files, **members}
        self.packed = {}

    def add_packed(self):
        """Two assets of enough files to be kept in packs; the second has half of the first's."""
        self.add_assets_of_small_files({"first": range(1200), "second": range(600, 1700)})

    def add_assets_of_small_files(self, assets):
        self.packed = {}
        for name, numbers in assets.items():
            files = {f"{n:04}.txt": f"content {n}\n".encode() * (1 + n % 9) for n in numbers}
            archive = tar_of(files)
            place(self.home / f"served/{name}.tar", archive)
            self.sabath.add(name, [fragment(self.url(f"{name}.tar"), archive, kind="archive", name=name)])
            self.packed[name] = files

    def expect_packed(self, user, names):
        """They are there, and every byte of them is read and right."""
        self.expect_whole(user, names)
        for name in names:
            self.expect(user.fetch(name, "--offline"))
            found = self.expect(user.run("verify", "--json", name)).asset
            contents = set(self.packed[name].values())
            self.assertGreaterEqual(found["files"], len(contents), found)  # more: the copies of a view

    def url(self, name):
        return f"file://{self.home}/served/{name}"

    # --- stores ---------------------------------------------------------------------------------------------------
    def new_store(self, name, template=None):
        """A user of a store that is a copy of the template's."""
        user = Sabath(self.home / name)
        user.environment["SABATH_RECIPES"] = str(self.sabath.recipes)
        if template is not None and template.store.exists():
            subprocess.run(["cp", "-a", "--reflink=never", str(template.store), str(user.store)], check=True)
        return user

    def fetched(self, name, *more):
        user = self.new_store(name)
        for asset in ("mixed", *more):
            self.expect(user.fetch(asset))
        return user

    # --- runs -----------------------------------------------------------------------------------------------------
    def at(self, user, how, command, below=None, code=None):
        """Runs the command with what `how` does to it; returns its result and what sabath-at-call says."""
        file = user.home / "report"
        prefix = [AT_CALL, "--below", str(below or user.store), "--report", str(file), *map(str, how), "--"]
        result = user.run(*command, prefix=prefix, ASAN_OPTIONS=without_leaks(user))
        if code is not None:
            self.expect(result, code)
        return result, Report(file)

    def expect_whole(self, user, names=("mixed",)):
        """The assets can be had, with right bytes; and what a stopped process left is gone after a collection."""
        for name in names:
            asset = self.expect(user.fetch(name)).asset
            if name == "mixed":
                self.expect_tree(asset["path"], self.tree)
        self.expect(user.run("gc", "-q", "--grace", "0s", "--partials", "0s"))
        for kind in LEFT_EMPTY:
            self.assertEqual(read_tree(user.store / kind), {}, kind)

    def expect_nothing_wrong(self, user, when):
        """No file with a final name has wrong bytes: in objects/, or in views, where no reader checks."""
        packed = (data for files in self.packed.values() for data in files.values())
        contents = {*self.tree.values(), self.other, *packed}
        for name, data in read_tree(user.store / "objects").items():
            right = len(data) == int(name.rpartition(".")[2]) and data in contents
            self.assertTrue(right, f"{when}: the object {name} is wrong")
        for view in (user.store / "views").glob("*"):
            for name, data in read_tree(view).items():
                self.assertTrue(data == self.tree.get(name, self.other), f"{when}: {name} in a view is wrong")

    def each(self, items, trial):
        """`trial(item)` for all, several at once. All are tried; then the first that failed are told."""
        results, wrong = [], []

        def one(item):
            try:
                results.append(trial(item))
            except AssertionError as error:
                wrong.append(f"at {item}: {str(error)[:3000]}")

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(one, items))
        self.assertFalse(wrong, f"{len(wrong)} of {len(items)} went wrong:\n" + "\n".join(wrong[:5]))
        return results


def tar_of(members):
    """Scripts are executable."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755 if name.endswith(".sh") else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def without_leaks(user):
    """The leak checker cannot work while another process traces it."""
    options = user.environment.get("ASAN_OPTIONS", "")
    return f"{options}:detect_leaks=0".lstrip(":")


def error_number(name):
    return getattr(errno, name)
