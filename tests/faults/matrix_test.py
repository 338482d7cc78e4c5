#!/usr/bin/python3
"""Refusals of the operating system, at each call that a command makes on the store.

For each fault a command is run once for each of several of its calls, which then fails. It is told, with the exit code
of docs/exit-codes.md, or it did not matter, and all that was asked for is there. Afterwards the store verifies, and
the same command completes. Which calls is random, and SABATH_SEED repeats it; SABATH_CRASH_ROUNDS tries all calls.
"""

import errno
import os
import random
import shutil

from support.at_call import FULL, SEED, StoreCase, error_number, skip_unless_traceable
from support.case import main, use_memory
from support.program import INSTRUMENTED

SAMPLES = int(os.environ.get("SABATH_MATRIX_SAMPLES", "1000000" if FULL else "6"))
USAGE, SPACE, CONTENT, SYSTEM = 2, 5, 7, 70  # exit codes
FROM_THEN_ON = 0
FETCH = ("fetch", "--json", "mixed", "--lanes", 1)
COLLECT = ("gc", "--json", "--older-than", "0s", "--grace", "0s", "--partials", "0s", "--force-local")

DAMAGED = ("objects/*/*", "packs/*", "manifests/*/*", "refs/*/*.json", "alias/*/*/*", "pins/*", "verified/*.log",
           "arrivals/*.log", "checked/*.log")  # fmt: skip


class Matrix(StoreCase):
    def fail_at_each(self, fault, kinds, times=1, command=FETCH, template=None, codes=(0, SYSTEM), kept=None):
        """Fails `times` calls of these kinds, beginning with each of a sample. `kept`: what must be there after it."""
        shown = f"{fault} at {kinds}{'' if times else ' from then on'}, {command[0]}{' of the rest' if kept else ''}"
        name = shown.replace(" ", "-").replace(",", "-")
        _, report = self.at(self.new_store(f"{name}-count", template), ("--ops", kinds), command)
        numbers = range(1, report.count + 1)
        tried = random.Random(SEED).sample(numbers, min(SAMPLES, len(numbers)))

        def trial(number):
            user = self.new_store(f"{name}-{number}", template)
            how = ("--ops", kinds, "--fail-at", number, "--errno", error_number(fault), "--times", times)
            result, report = self.at(user, how, command)
            said = f"{report.what}\n{result.out[:1500]}\n{result.err[:1500]}"
            self.assertIn(result.exit, codes, said)
            self.expect_told(result, fault, said)
            if result.exit == 0 and command[0] == "fetch":
                self.expect_tree(result.asset["path"], self.tree)
            if kept:
                self.expect(user.run("path", kept))
            if (user.store / "format").exists():
                verified = user.run("verify", "--json")
                self.assertEqual(verified.exit, 0, f"{said}\n{verified.out}\n{verified.err}")
            again = user.run(*command)
            self.assertEqual(again.exit, 0, f"{said}\n{again.out}\n{again.err}")
            self.expect_whole(user)
            shutil.rmtree(user.home)
            return result.exit

        exits = self.each(tried, trial)
        fatal = sum(code != 0 for code in exits)
        print(f"{shown}: {len(tried)} of {report.count} calls tried, {fatal} were fatal", flush=True)

    def expect_told(self, result, fault, said):
        self.assertEqual(result.record["exit"], result.exit, said)
        self.assertNotIn("internal error", result.err, said)
        if result.exit != 0 and fault:
            self.assertIn(os.strerror(error_number(fault)), result.err, said)

    def test_no_space(self):
        kinds = "make,write,size,mkdir,rename,link"
        for times in (1, FROM_THEN_ON):
            self.fail_at_each("ENOSPC", kinds, times, codes=(0, SPACE))
            self.fail_at_each("ENOSPC", kinds, times, COLLECT, self.fetched(f"full-{times}"), (0, SPACE))
        self.fail_at_each("ENOSPC", kinds, FROM_THEN_ON, ("verify", "--json"), self.fetched("verified"), (0, SPACE))

    def test_quota(self):
        self.fail_at_each("EDQUOT", "make,write,size,mkdir,rename,link", FROM_THEN_ON, codes=(0, SPACE))

    def test_damaged_device(self):
        self.fail_at_each("EIO", "write,size")
        self.fail_at_each("EIO", "read,open,stat")
        self.fail_at_each("EIO", "read,open", 1, COLLECT, self.fetched("collect"))
        self.fail_at_each("EIO", "read,open,stat", 1, FETCH, self.fetched("there"))

    def test_sync_that_fails(self):
        """Bytes that were not synced are never published, and a failed sync is not repeated as if it could succeed."""
        self.fail_at_each("EIO", "sync")
        self.fail_at_each("EIO", "sync", FROM_THEN_ON)

    def test_sync_without_room(self):
        """Where room is given when bytes are written back, its lack is told then (NFS, delayed allocation)."""
        for fault in ("ENOSPC", "EDQUOT"):
            self.fail_at_each(fault, "sync", codes=(0, SPACE))
            self.fail_at_each(fault, "sync", FROM_THEN_ON, codes=(0, SPACE))
            self.fail_at_each(fault, "close", codes=(0, SPACE))
            self.fail_at_each(fault, "close", FROM_THEN_ON, codes=(0, SPACE))

    def test_listing_that_fails(self):
        self.fail_at_each("EIO", "list")
        self.fail_at_each("EIO", "list", FROM_THEN_ON)
        self.fail_at_each("EIO", "list", 1, COLLECT, self.fetched("collect"))
        self.fail_at_each("EIO", "list", 1, FETCH, self.fetched("there"))

    def test_verification_that_cannot_list(self):
        """Everything that is damaged is found, or it is told that not all could be looked at."""
        self.add_packed()
        template = self.fetched("damaged", "other", "first")
        self.expect(template.run("verify", "-q"))
        self.expect(template.run("keep", "mixed"))
        for pattern in DAMAGED:
            damage(sorted(template.store.glob(pattern))[0])
        verify = ("verify", "--json")
        result, report = self.at(self.new_store("damaged-count", template), ("--ops", "list"), verify, code=CONTENT)
        findings = len(result.asset["bad"])
        self.assertGreaterEqual(findings, len(DAMAGED))

        def trial(number):
            user = self.new_store(f"damaged-{number}", template)
            how = ("--ops", "list", "--fail-at", number, "--errno", errno.EIO)
            result, report = self.at(user, how, verify)
            said = f"{report.what}\n{result.out[:1500]}\n{result.err[:1500]}"
            self.assertIn(result.exit, (CONTENT, SYSTEM), said)
            self.expect_told(result, "EIO" if result.exit == SYSTEM else None, said)
            if result.exit == CONTENT:
                self.assertEqual(len(result.asset["bad"]), findings, said)
            shutil.rmtree(user.home)
            return result.exit

        numbers = range(1, report.count + 1)
        exits = self.each(random.Random(SEED).sample(numbers, min(10 * SAMPLES, len(numbers))), trial)
        fatal = exits.count(SYSTEM)
        print(f"EIO at list, verify: {len(exits)} of {report.count} calls tried, {fatal} were fatal", flush=True)

    def test_a_pin_keeps_though_it_cannot_be_read(self):
        """A collection that cannot see what is kept collects nothing of it."""
        template = self.fetched("pinned", "other")
        self.expect(template.run("keep", "mixed"))
        for kinds in ("list", "open,read,stat"):
            self.fail_at_each("EIO", kinds, 1, COLLECT, template, kept="mixed")

    def test_a_group_s_store(self):
        """Modes and ACLs that cannot be set: what could be made only in part is no store yet."""
        self.home.chmod(0o755)  # what the members cannot read where it is does not go into their store
        command = ("init", "--json", "--shared")
        _, report = self.at(self.new_store("shared-count"), ("--ops", "mode"), command)
        self.assertIn("setxattr 0", report.calls)
        for number in range(1, report.count + 1):
            user = self.new_store(f"shared-{number}")
            how = ("--ops", "mode", "--fail-at", number, "--errno", errno.EIO)
            result, report = self.at(user, how, command, code=SYSTEM)
            self.expect_told(result, "EIO", f"{report.what}\n{result.err}")
            self.assertFalse((user.store / "format").exists())
            self.expect(user.run(*command))  # goes on where the other ended
            self.expect(user.run(*command), USAGE)
        self.fail_at_each("EIO", "mode", 1, FETCH, user)

    def test_read_only_from_one_moment_on(self):
        changes = "make,write,size,mode,mkdir,remove,rename,link"
        self.fail_at_each("EROFS", changes, FROM_THEN_ON)
        self.fail_at_each("EROFS", changes, FROM_THEN_ON, COLLECT, self.fetched("collect"))
        self.fail_at_each("EROFS", changes, FROM_THEN_ON, FETCH, self.fetched("there"))

    def test_the_server_forgets_a_file_once(self):
        for kinds in ("open,stat,read", "make,write,rename,link,sync"):
            self.fail_at_each("ESTALE", kinds)
            self.fail_at_each("ESTALE", kinds, 1, COLLECT, self.fetched(f"collect-{kinds[:4]}"))

    def test_no_rename_between_directories(self):
        self.fail_at_each("EXDEV", "rename", FROM_THEN_ON)
        self.fail_at_each("EXDEV", "link", FROM_THEN_ON, codes=(0,))

    def test_too_many_links(self):
        self.fail_at_each("EMLINK", "link", FROM_THEN_ON, codes=(0,))

    def test_no_descriptor_left(self):
        self.fail_at_each("EMFILE", "make,open")
        self.fail_at_each("EMFILE", "make,open", FROM_THEN_ON)

    def test_few_descriptors(self):
        """The limit itself, as a shell sets it."""
        if INSTRUMENTED:
            self.skipTest("UBSan looks at an object's type through a pipe")
        exits = {}
        for limit in range(8, 40, 1 if FULL else 5):
            user = self.new_store(f"files-{limit}")
            result = user.run(*FETCH, prefix=("prlimit", f"--nofile={limit}"))
            if result.exit == 127:  # not even its libraries can be loaded
                continue
            self.assertIn(result.exit, (0, SYSTEM), f"{limit}\n{result.out}\n{result.err}")
            self.expect_told(result, "EMFILE", f"{limit}\n{result.err}")
            exits[limit] = result.exit
            self.expect_whole(user)
        print(f"by the limit of open files: {exits}", flush=True)
        self.assertEqual(list(exits.values())[-1], 0)


def damage(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.chmod(0o644)
    file.write_bytes(data)


if __name__ == "__main__":
    skip_unless_traceable()
    use_memory()
    main()
