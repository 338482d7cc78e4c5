#!/usr/bin/python3
"""kill -9 before every system call by which a command changes the store, and in the middle of every write.

After each stop the store verifies, the same command succeeds, and the assets have the right bytes. With
SABATH_CRASH_ROUNDS every call is tried; without it every STRIDE-th, from a random one on. Of what makes the same calls for
each of a thousand files a few are tried, all only with SABATH_CRASH_ALL: half an hour. What is tried is printed.
SABATH_SEED repeats a run. Commands run with one lane; their calls still come in a slightly different order from run to
run, so each run counts for itself, and the end is where a run ends before its call comes.
"""

import json
import os
import pathlib
import random
import shutil

from support.at_call import CHUNK, FULL, SEED, StoreCase, read_tree, skip_unless_traceable
from support.case import main, place, use_memory
from support.content import flip

ALL = bool(os.environ.get("SABATH_CRASH_ALL"))
STRIDE = 1 if FULL or ALL else 12
CONTENT, PARTIAL = 7, 8  # exit codes: wrong bytes; some are not there: an earlier verify has put them aside
REFUSED_OR_DONE = (0, 3, 9, 12)
NO_STORE_YET = (3, 9)  # the first calls of all make it


class EveryCall(StoreCase):
    def sweep(self, command, template=None, verify_codes=(0,), again_codes=(0,), check=None, at_most=None):
        """`verify_codes`: of the look after the stop; `again_codes`: of the same command once more.

        `at_most`: the number of points, unless all are wanted; for what makes the same calls for each of a thousand files.
        """
        name = "-".join(word.strip("-") for word in map(str, command) if "/" not in word)
        counting = self.new_store(f"{name}-count", template)
        result, report = self.at(counting, (), command)
        self.expect(result)
        points = [("--kill-at", number + 1) for number in range(report.count)]
        writes = sum(int(call.split()[1]) > 1 for call in report.calls)
        points += [("--half-of", number + 1) for number in range(writes)]
        stride = STRIDE if at_most is None or ALL else max(STRIDE, STRIDE * len(points) // at_most)
        first = random.Random(SEED).randrange(min(stride, len(points)))
        tried = points[first::stride]

        def trial(point):
            user = self.new_store(f"{name}-{point[0].strip('-')}-{point[1]}", template)
            result, report = self.at(user, point, command)
            self.assertIn(result.exit, (137,) if report.reached else (0,), result.err)
            if verify_codes == (0,):
                self.expect_nothing_wrong(user, report.what)
            verified = user.run("verify", "--json")
            codes = verify_codes if (user.store / "format").exists() else NO_STORE_YET
            self.assertIn(verified.exit, codes, f"{report.what}\n{verified.out}\n{verified.err}")
            again = user.run(*command)
            self.assertIn(again.exit, again_codes, f"{report.what}\n{again.out}\n{again.err}")
            (check or self.expect_whole)(user)
            shutil.rmtree(user.home)
            return report.reached

        reached = self.each(tried, trial)
        beyond = report.count + 1
        while stride == 1 and trial(("--kill-at", beyond)):  # this run made more calls
            reached.append(True)
            beyond += 1
        print(f"{name}: {report.count} calls that change the store; tried {len(tried)} of {len(points)} points "
              f"(every {stride}., from {first + 1}), {sum(reached)} stops", flush=True)  # fmt: skip
        self.assertGreater(sum(reached), 0)

    def test_fetch(self):
        self.sweep(("fetch", "-q", "mixed", "--lanes", 1))

    def test_fetch_of_known_chunks(self):
        manifest = self.home / "large.manifest"
        served = self.home / "large"
        served.mkdir()
        (served / "large.bin").write_bytes(self.files["large.bin"])
        self.expect(self.sabath.run("manifest", "create", served, "-o", manifest))
        recipe_part = {"id": "main", "type": "file", "path": "large.bin", "urls": [self.url("large.bin")]}
        self.sabath.add("large", [recipe_part])
        self.sweep(("fetch", "-q", "large", "--manifest", manifest, "--lanes", 1))

    def test_fetch_that_goes_on(self):
        """The first was stopped when it had made two thirds of its calls."""
        counting = self.new_store("whole")
        _, report = self.at(counting, (), ("fetch", "-q", "mixed", "--lanes", 1))
        template = self.new_store("interrupted")
        self.at(template, ("--kill-at", report.count * 2 // 3), ("fetch", "-q", "mixed", "--lanes", 1), code=137)
        self.sweep(("fetch", "-q", "mixed", "--lanes", 1), template)

    def test_fetch_of_all_again(self):
        self.sweep(("fetch", "-q", "mixed", "--force", "--lanes", 1), self.fetched("again"))

    def test_a_view_is_mended(self):
        template = self.fetched("view")
        view = pathlib.Path(template.fetch("mixed").asset["path"])
        (view / "small.bin").unlink()
        (view / "in/run.sh").unlink()
        self.sweep(("fetch", "-q", "mixed", "--lanes", 1), template)

    def test_collection(self):
        template = self.fetched("collect", "other")
        place(template.store / "quarantine/wrong", b"wrong")
        place(template.store / "git" / ("a" * 64) / "HEAD", b"a bare clone")
        how = ("--older-than", "0s", "--grace", "0s", "--partials", "0s", "--idle", "0s", "--force-local")
        self.sweep(("gc", "-q", *how), template, check=lambda user: self.expect_whole(user, ("mixed", "other")))
        self.sweep(("gc", "-q", *how, "--now"), template, check=self.expect_emptied)
        self.expect(template.run("gc", *how))
        self.sweep(("gc", "-q", "--undo"), template, check=self.expect_taken_back)
        self.sweep(("gc", "-q", "--window", "0s", "--force-local"), template, check=self.expect_emptied)

    def expect_taken_back(self, user):
        for name in ("mixed", "other"):
            asset = self.expect(user.fetch(name, "--offline")).asset
        self.assertEqual(asset["fetched_bytes"], 0)
        self.assertEqual(sorted(read_tree(user.store / "trash")), [])
        self.expect_whole(user)

    def expect_emptied(self, user):
        # Of a batch whose deletion was stopped at its end, empty directories may stand for a window more.
        self.assertEqual([name for name in read_tree(user.store / "trash") if not name.endswith("+0/whole")], [])
        self.expect_whole(user, ("mixed", "other"))

    def test_verify_that_folds_logs(self):
        template = self.fetched("logs")
        for _ in range(10):
            self.expect(template.run("verify", "-q"))
        self.sweep(("verify", "-q"), template)

    def test_repair(self):
        template = self.fetched("damaged", "other")
        large = len(self.files["large.bin"])
        (found,) = (template.store / "objects").glob(f"*/*.{large}")
        flip(found, CHUNK + 7)
        for ref in (template.store / "refs").rglob("*.json"):
            flip(ref, 40)
        (manifest, *_) = sorted((template.store / "manifests").glob("*/*"))
        flip(manifest, 30)
        # Until it has looked there is damage; what it put aside and had no time to fetch is missing, and not wrong.
        self.sweep(("verify", "-q", "--repair"), template, verify_codes=(0, CONTENT, PARTIAL), again_codes=(0, PARTIAL))

    def test_packs(self):
        """Written, written anew because half of one is not wanted any more, and repaired."""
        self.add_packed()
        both = lambda user: self.expect_packed(user, ("first", "second"))  # noqa: E731
        self.sweep(("fetch", "-q", "first", "--lanes", 1), check=both, at_most=100)
        template = self.new_store("packed")
        for name in ("first", "second"):
            self.expect(template.fetch(name))
        (pack, *_) = sorted((template.store / "packs").iterdir())
        bent = self.new_store("bent", template)
        flip(bent.store / "packs" / pack.name, 5000)
        self.sweep(("verify", "-q", "--repair"), bent, verify_codes=(0, CONTENT, PARTIAL), again_codes=(0, PARTIAL),
                   check=both, at_most=100)
        self.expect(template.run("keep", "second"))
        how = ("--older-than", "0s", "--grace", "0s", "--partials", "0s", "--force-local")
        self.sweep(("gc", "-q", *how), template, check=both)
        self.sweep(("gc", "-q", *how, "--now"), template, check=both)

    def test_small_packs_become_one(self):
        """As a slow source leaves them; nothing of them is collected."""
        assets = {f"part-{n}": range(1000 * n, 1000 * n + 1000) for n in range(9)}
        self.add_assets_of_small_files(assets)
        template = self.new_store("parts")
        for name in assets:
            self.expect(template.fetch(name))
        self.assertEqual(len(os.listdir(template.store / "packs")), len(assets))
        how = ("--grace", "0s", "--partials", "0s", "--force-local")
        merged = self.new_store("merged", template)
        self.expect(merged.run("gc", *how))
        self.assertEqual(len(os.listdir(merged.store / "packs")), 1)

        def check(user):  # a stop between the removals may leave less than are worth a merge
            self.assertLess(len(os.listdir(user.store / "packs")), len(assets))
            self.expect_packed(user, ("part-0", "part-8"))

        self.sweep(("gc", "-q", *how), template, check=check)
        self.sweep(("gc", "-q", *how, "--now"), template, check=check)

    def test_adopt(self):
        data = self.home / "data"
        for name, content in self.tree.items():
            place(data / name, content)
        self.sweep(("adopt", "-q", data))

    def test_import(self):
        bundle = self.home / "bundle.tar"
        self.expect(self.fetched("exporting").run("export", "mixed", "-o", bundle))
        self.sweep(("import", "-q", bundle))

    def test_init_for_a_group(self):
        self.home.chmod(0o755)  # what the members cannot read where it is does not go into their store
        def check(user):
            self.assertTrue(json.loads((user.store / "format").read_text())["shared"])
            self.assertEqual(user.store.stat().st_mode & 0o7777, 0o3775)
            self.expect_whole(user)

        self.sweep(("init", "-q", "--shared"), check=check, again_codes=(0, 2))  # 2: it is done

    def test_keep_and_unkeep(self):
        template = self.fetched("pins")
        self.sweep(("keep", "-q", "mixed"), template, check=self.expect_pinned)
        self.expect(template.run("keep", "mixed"))
        self.sweep(("unkeep", "-q", "mixed"), template, again_codes=(0, 3))

    def expect_pinned(self, user):
        self.expect(user.run("gc", "-q", "--older-than", "0s", "--grace", "0s", "--now", "--force-local"))
        self.expect(user.fetch("mixed", "--offline"))
        self.expect_whole(user)

    def test_stage_and_unstage(self):
        """The node's own store and names."""
        self.shared = self.fetched("shared")
        self.sweep_local(lambda local: ("stage", "-q", "mixed", "--to", local), staged=False)
        self.sweep_local(lambda local: ("unstage", "-q", "mixed", "--to", local), staged=True)
        self.sweep_local(lambda local: ("unstage", "-q", "--all", "--to", local), staged=True)

    def sweep_local(self, command, staged):
        """`command`: of the node's directory, where the asset is staged before or not."""
        shown = " ".join(map(str, command("DIR")))

        def user_of(name):
            user = self.new_store(f"{shown.split()[0]}-{name}", self.shared)
            local = user.home / "local"
            if staged:
                self.expect(user.run("stage", "-q", "mixed", "--to", local))
            return user, local

        counting, local = user_of("count")
        _, report = self.at(counting, (), command(local), local, 0)
        points = range(1, report.count + 1)
        first = random.Random(SEED).randrange(min(STRIDE, len(points)))

        def trial(number):
            user, local = user_of(number)
            result, report = self.at(user, ("--kill-at", number), command(local), local)
            self.assertIn(result.exit, (137,) if report.reached else (0,), result.err)
            if (local / ".sabath/format").exists():
                self.expect(user.run("verify", "--json", "--store", local / ".sabath"))
            if staged:  # what is not there any more is refused, and not what half is
                self.assertIn(user.run(*command(local)).exit, REFUSED_OR_DONE, report.what)
            self.expect(user.run("stage", "-q", "mixed", "--to", local))
            self.expect_tree(local / "mixed", self.tree)
            self.expect_whole(user)
            shutil.rmtree(user.home)
            return report.reached

        reached = self.each(points[first::STRIDE], trial)
        print(f"{shown}: {report.count} calls, every {STRIDE}., from {first + 1}: {sum(reached)} stops", flush=True)


if __name__ == "__main__":
    skip_unless_traceable()
    use_memory()
    main()
