#!/usr/bin/python3
"""`plan` says beforehand what a fetch does, and a fetch that does not fit is refused before it asks anybody."""

import base64
import hashlib
import json
import pathlib
import resource
import shutil
import struct
import subprocess
import time

from support import program
from support.case import Case, main
from support.content import fragment, seeded
from support.mounts import enter_own_namespace, mount_memory, need_own_namespace
from support.origin import body_bytes, poll
from support.program import finish

MIB = 1 << 20
KEYS = {
    "schema", "store", "fits", "assets", "bytes_to_fetch", "store_bytes", "store_inodes", "sizes_known", "limits",
    "unknown", "bytes_per_second", "seconds", "rate_by", "walltime_left_s", "walltime_by", "requests", "warnings",
    "refusals", "exit",
}  # fmt: skip


def tree_hash(directory):
    """Names, modes, times and bytes of everything below."""
    total = hashlib.sha256()
    for path in sorted(pathlib.Path(directory).rglob("*")):
        status = path.lstat()
        total.update(f"{path} {status.st_mode} {status.st_mtime_ns} {status.st_size}\n".encode())
        if path.is_file() and not path.is_symlink():
            total.update(path.read_bytes())
    return total.hexdigest()


class Plan(Case):
    def plan(self, *arguments, code=0, **options):
        result = self.expect(self.sabath.run("plan", "--json", *arguments, **options), code)
        record = result.record
        self.assertEqual(set(record), KEYS)
        self.assertEqual(record["exit"], code)
        self.assertEqual(record["fits"], False if code else True if record["sizes_known"] else None)
        return record

    def limit(self, record, what):
        (found,) = [limit for limit in record["limits"] if limit["what"] == what]
        return found

    def one(self, size=300_000, name="one", **more):
        """An asset of one file, whose size is in its recipe."""
        data = seeded(size)
        server = self.serve({"f.bin": data})
        self.sabath.add(name, [fragment(server.url("f.bin"), data)], **more)
        return server, data

    def log_a_rate(self, server, bytes_per_second):
        records = self.sabath.store / "records"
        records.mkdir(parents=True, exist_ok=True)
        line = {"time": int(time.time()), "fetched_bytes": 10_000_000, "seconds": 10_000_000 / bytes_per_second,
                "failures": [], "sources": [{"url": server.url("x"), "bytes": 10_000_000}]}  # fmt: skip
        (records / "2026-01-01.earlier.jsonl").write_text(json.dumps(line) + "\n")


class Content(Plan):
    def test_it_changes_nothing_and_moves_nothing(self):
        server, data = self.one()
        self.sabath.add("unsized", [fragment(server.url("f.bin"), name="again.bin")])
        before = tree_hash(self.home / "recipes")
        record = self.plan("one", "unsized")
        self.assertFalse(self.sabath.store.exists())
        self.assertEqual((record["requests"], record["sizes_known"]), (1, True))
        (request,) = server.log()
        self.assertLessEqual(request.body_bytes, 1)  # a range of one byte: servers answer it more truly than HEAD
        self.assertEqual(record["bytes_to_fetch"], 2 * len(data))
        self.assertGreaterEqual(record["store_bytes"], 2 * len(data))
        self.assertEqual(self.limit(record, "bytes")["needed"], record["store_bytes"])
        self.fetch("one")
        before = tree_hash(self.sabath.store)
        self.plan("one", "unsized")
        self.expect(self.sabath.run("plan", "one", "-v"))
        self.assertEqual(tree_hash(self.sabath.store), before)

    def test_offline_asks_nobody(self):
        server, _ = self.one()
        self.sabath.add("unsized", [fragment(server.url("f.bin"))])
        for arguments in (["--offline"], ["--requests", "0"]):
            record = self.plan("unsized", *arguments)
            self.assertEqual((record["requests"], record["sizes_known"]), (0, False))
            self.assertEqual(record["assets"][0]["files_without_size"], 1)
        self.assertEqual(server.log(), [])

    def test_what_is_here_by_source_and_by_content(self):
        server, data = self.one()
        self.fetch("one")
        (asset,) = self.plan("one")["assets"]
        self.assertEqual(asset["by_source"], {"files": 1, "bytes": len(data)})
        self.assertEqual(asset["to_fetch"], {"files": 0, "bytes": 0})
        (server.root / "other.bin").write_bytes(data)
        self.sabath.add("two", [fragment(server.url("other.bin"), data)])
        (asset,) = self.plan("two")["assets"]
        self.assertEqual(asset["by_content"], {"files": 1, "bytes": len(data)})
        fetched = self.fetch("two")
        self.assertEqual((fetched["fetched_bytes"], fetched["reused"]["content"]), (0, len(data)))
        self.assertEqual(self.fetch("one")["reused"]["source"], len(data))
        record = self.plan("one", "--force")
        self.assertEqual(record["bytes_to_fetch"], len(data))

    def test_the_dry_run_says_the_same(self):
        _, data = self.one()
        for _ in range(2):
            planned = self.plan("one")["bytes_to_fetch"]
            self.assertEqual(self.fetch("one", "--dry-run")["to_fetch_bytes"], planned)
            self.fetch("one")
        self.assertEqual(planned, 0)

    def test_a_list_says_only_what_is_known(self):
        server = self.serve({"l/list": b"a\nb\n", "l/a": b"1", "l/b": b"22"})
        self.sabath.add("list", [fragment(server.url("l/list"), kind="file_list")])
        record = self.plan("list")
        self.assertEqual((record["requests"], record["sizes_known"], record["assets"][0]["lists"]), (0, False, 1))
        self.fetch("list")
        self.assertEqual(self.plan("list")["assets"][0]["by_source"]["files"], 3)

    def test_words(self):
        server, _ = self.one()
        result = self.expect(self.sabath.run("plan", "one"))
        self.assertIn("would move 300 kB", result.out)
        self.assertIn(server.url("f.bin"), result.out)
        self.assertIn("time: unknown", result.out)
        self.assertEqual(result.lines[-1], "fits")


class Access(Plan):
    def test_steps_of_a_login(self):
        self.sabath.add("closed", access={"kind": "login", "steps": ["ask the portal"]})
        record = self.plan("closed", code=4)
        self.assertEqual(record["assets"][0]["steps"], ["ask the portal"])

    def test_a_server_that_wants_one(self):
        server = self.serve(extra="location /f.bin { return 403; }")
        self.sabath.add("denied", [fragment(server.url("f.bin"))])
        self.assertEqual(self.plan("denied", code=4)["requests"], 1)

    def test_a_signed_url_that_has_ended(self):
        server, data = self.one()
        day = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - 3600))
        for seconds, code in ((600, 4), (7200, 0)):
            url = server.url("f.bin") + f"?X-Amz-Date={day}&X-Amz-Expires={seconds}&X-Amz-Signature=SECRET"
            self.sabath.add("signed", [fragment(url, data)])
            result = self.expect(self.sabath.run("plan", "--json", "signed"), code)
            self.assertNotIn("SECRET", result.out + result.err)
            (source,) = result.record["assets"][0]["sources"]
            self.assertAlmostEqual(source["expires_in_s"], seconds - 3600, delta=30)
            before = server.log()
            result = self.expect(self.sabath.fetch("signed"), code)
            self.assertEqual(server.new_requests(before) == [], code == 4)
            self.assertNotIn("SECRET", result.out + result.err)

    def test_a_token_that_has_ended(self):
        server, _ = self.one()
        for ago, code in ((-3600, 0), (60, 4)):
            claim = base64.urlsafe_b64encode(json.dumps({"exp": int(time.time()) - ago}).encode()).decode().rstrip("=")
            token = f"{server.url('').rstrip('/')} e30.{claim}.SECRET"
            result = self.expect(self.sabath.run("plan", "one", SABATH_TOKEN=token), code)
            self.assertNotIn("SECRET", result.out + result.err)
        before = server.log()
        self.assertIn("ended 1 m", self.expect(self.sabath.fetch("one", SABATH_TOKEN=token), 4).err)
        self.assertEqual(server.new_requests(before), [])
        self.fetch("one")
        self.expect(self.sabath.fetch("one", SABATH_TOKEN=token))  # nothing is to be asked for


class Walltime(Plan):
    def refused(self, server, *arguments, why="at the best rate", **variables):
        record = self.plan("one", *arguments, code=5, **variables)
        self.assertFalse(self.limit(record, "walltime")["fits"])
        before = server.log()
        result = self.expect(self.sabath.fetch("one", *arguments, **variables), 5)
        self.assertIn(why, result.err)
        self.assertEqual(server.new_requests(before), [])

    def test_too_late_by_every_clock(self):
        server, _ = self.one(10_000_000)
        self.sabath.add("first", [fragment(server.url("f.bin"), name="begin.bin", size=10_000_000)])
        self.fetch("first")  # so that there is a store
        for kind in ("objects", "views", "refs", "alias", "arrivals", "records"):
            shutil.rmtree(self.sabath.store / kind, ignore_errors=True)
        self.log_a_rate(server, 10_000)  # so that it takes 1000 s
        record = self.plan("one", "--deadline", "1h")
        self.assertAlmostEqual(record["seconds"], 1000, delta=1)
        self.assertAlmostEqual(record["walltime_left_s"], 3600, delta=30)
        self.refused(server, "--deadline", "10m")
        soon = str(int(time.time()) + 600)
        self.refused(server, SLURM_JOB_END_TIME=soon, SLURM_JOB_ID="7")
        (self.home / "bin").mkdir()
        squeue = self.home / "bin/squeue"
        squeue.write_text('#!/bin/sh\n[ "$*" = "-h -j 7 -o %L" ] && echo 10:00\n')
        squeue.chmod(0o755)
        path = f"{self.home / 'bin'}:{self.sabath.environment['PATH']}"
        self.refused(server, SLURM_JOB_ID="7", PATH=path)
        self.refused(server, PBS_WALLTIME="0", PBS_JOBID="9", why="the time is over")
        qstat = self.home / "bin/qstat"
        lines = ["Job Id: 9.pbs", "    resources_used.walltime = 00:50:00", "    Resource_List.walltime = 01:00:00"]
        qstat.write_text(f'#!/bin/sh\n[ "$*" = "-f 9.pbs" ] && cat <<.\n{chr(10).join(lines)}\n.\n')
        qstat.chmod(0o755)
        self.refused(server, PBS_JOBID="9.pbs", PATH=path)
        self.plan("one", PBS_JOBID="8.pbs", PATH=path)  # that one is not known
        self.in_a_container(PBS_WALLTIME="0", PBS_JOBID="9")
        self.expect(self.sabath.run("plan", "one", "--deadline", "never"), 2)
        self.fetch("one", "--deadline", "none", SLURM_JOB_END_TIME=soon)


    def in_a_container(self, **variables):
        """Who leads the session is not seen from a process namespace."""
        command = ["unshare", "--pid", "--fork", "--mount-proc", program.BINARY, "fetch", "one"]
        process = subprocess.run(command, env=self.sabath.environment | variables, capture_output=True, text=True,
                                 check=False)  # fmt: skip
        if "unshare" not in process.stderr:  # it is not allowed here
            self.assertEqual(process.returncode, 5, process.stderr)
            self.assertIn("the time is over", process.stderr)


class Limits(Plan):
    def test_a_file_that_is_too_large_for_the_process(self):
        server, _ = self.one(2 * MIB)

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))

        for verb in ("plan", "fetch"):
            process = subprocess.run([program.BINARY, verb, "one"], env=self.sabath.environment, capture_output=True,
                                     text=True, preexec_fn=small_files, check=False)  # fmt: skip
            self.assertEqual(process.returncode, 5, process.stderr)
            self.assertIn("ulimit -f", process.stderr)
        self.assertEqual(server.log(), [])

    def test_quotas_as_the_kernel_tells_them(self):
        """The kernel's answer is put there by strace: this kernel's filesystems may have no quotas at all."""
        if not shutil.which("strace"):
            self.skipTest("there is no strace")
        server, _ = self.one(3 * MIB)
        # struct if_dqblk: hard and soft limit in KiB, use in bytes; inodes; times; valid
        for kib, inodes, word in ((1024, 0, "bytes"), (0, 5, "inodes")):
            answer = struct.pack("<8QI", kib, 0, 0, inodes, 0, 0, 0, 0, 63).hex()
            inject = f"inject=quotactl_fd:retval=0:poke_exit=@arg4={answer}"
            prefix = ["strace", "-f", "-qq", "-o", str(self.home / "trace"), "-e", "trace=quotactl_fd", "-e", inject]
            environment = program.WITHOUT_LEAKS
            result = self.sabath.run("plan", "--json", "one", prefix=prefix, **environment)
            if "unrecognized" in result.err or "invalid" in result.err.split("\n")[0]:
                self.skipTest(f"this strace cannot poke: {result.err}")
            self.expect(result, 5)
            limit = self.limit(result.record, f"user quota, {word}")
            self.assertEqual((limit["fits"], limit["available"]), (False, kib * 1024 or inodes))
            result = self.expect(self.sabath.fetch("one", prefix=prefix, **environment), 5)
            self.assertIn("quota", result.err)
        self.assertEqual(server.log(), [])


class SmallDisk(Plan):
    """A store on a tmpfs of 40 MiB."""

    def setUp(self):
        need_own_namespace(self)
        super().setUp()
        self.disk = self.home / "disk"
        mount_memory(self, self.disk, 40)
        self.sabath.store = self.disk / "store"
        self.sabath.environment["SABATH_CACHE"] = str(self.sabath.store)

    def big(self, *names, extra="", size=24 * MIB):
        server = self.serve({f"{name}.bin": seeded(size, ord(name[0])) for name in names}, extra=extra)
        for name in names:
            self.sabath.add(name, [fragment(server.url(f"{name}.bin"), seeded(size, ord(name[0])))])
        return server

    def reservations(self):
        folder = self.sabath.store / "reservations"
        return [json.loads(file.read_text()) for file in folder.glob("*")] if folder.is_dir() else []

    def test_too_small_is_said_before_byte_one(self):
        server = self.big("a", size=64 * MIB)
        record = self.plan("a", code=5)
        self.assertFalse(self.limit(record, "bytes")["fits"])
        self.assertGreater(self.limit(record, "memory")["available"], 0)
        result = self.expect(self.sabath.fetch("a"), 5)
        self.assertIn(str(64 * MIB), result.err)
        self.assertEqual(server.log(), [])
        self.assertEqual(self.reservations(), [])

    def test_two_assets_are_refused_together(self):
        """Each would fit, but not both: nothing is begun."""
        server = self.big("a", "b")
        self.plan("a")
        self.plan("a", "b", code=5)
        self.expect(self.sabath.fetch("a", "b"), 5)
        self.assertEqual(server.log(), [])

    def test_of_two_at_once_one_gets_it(self):
        server = self.big("a", "b", extra="limit_rate 12m;")
        seen = []
        for _ in range(3):
            both = [self.sabath.start("fetch", "--json", name, "--limit-rate", "16M") for name in "ab"]
            results = {name: finish(process) for name, process in zip("ab", both)}
            self.assertEqual(sorted(result.exit for result in results.values()), [0, 5], results)
            (loser,) = [name for name, result in results.items() if result.exit == 5]
            self.assertIn("are free", results[loser].err)
            self.assertEqual([r for r in server.new_requests(seen) if r.uri == f"/{loser}.bin"], [])
            self.assertEqual(self.reservations(), [])
            shutil.rmtree(self.sabath.store)
            seen = server.log()

    def test_a_plan_sees_what_a_fetch_expects(self):
        self.big("a", "b", extra="limit_rate 6m;")
        process = self.sabath.start("fetch", "a", "--limit-rate", "6M")
        self.assertTrue(poll(lambda: any(r["bytes"] for r in self.reservations())))
        record = self.plan("b", code=5)
        limit = self.limit(record, "bytes")
        self.assertLess(limit["available"], 20 * MIB)
        self.expect(finish(process))
        self.assertEqual(self.reservations(), [])
        self.assertEqual(self.limit(self.plan("b", code=5), "bytes")["reserved"], 0)

    def test_it_shrinks_as_bytes_land(self):
        """What is written and what is reserved are one sum, but for a chunk on its way and half a second."""
        self.big("a", extra="limit_rate 6m;")
        before = self.limit(self.plan("a"), "bytes")["available"]
        process = self.sabath.start("fetch", "a", "--limit-rate", "8M", "--lanes", "1")
        seen = set()
        while process.poll() is None:
            for reservation in self.reservations_or_none():
                seen.add(reservation["bytes"])
                limit = self.limit(self.sabath.run("plan", "--json", "--offline", "a").record, "bytes")
                self.assertGreater(limit["available"], before - 36 * MIB)
        self.expect(finish(process))
        self.assertGreater(len(seen), 1, seen)

    def reservations_or_none(self):
        try:
            return self.reservations()
        except (OSError, ValueError):  # renamed meanwhile
            return []

    def test_a_killed_one_reserves_nothing(self):
        self.big("a", "b", extra="limit_rate 6m;")
        process = self.sabath.start("fetch", "a", "--limit-rate", "2M")
        self.assertTrue(poll(lambda: any(r["bytes"] for r in self.reservations())))
        process.kill()
        finish(process)
        self.assertEqual(len(self.reservations()), 1)
        self.assertEqual(self.limit(self.plan("a"), "bytes")["reserved"], 0)
        self.fetch("a")
        self.assertEqual(self.reservations(), [])

    def test_the_ranks_of_a_job_reserve_once(self):
        version = self.expect(self.sabath.run("--version")).out
        if not shutil.which("mpirun") or "without MPI" in version:
            self.skipTest("there is no mpirun, or this build has no MPI")
        self.big("a", "b", extra="limit_rate 6m;")
        mpirun = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", "3"]
        self.sabath.environment |= program.WITHOUT_LEAKS
        process = self.sabath.start("fetch", "a", "--limit-rate", "8M", prefix=mpirun)
        seen = []
        while process.poll() is None:
            seen.append([r["bytes"] for r in self.reservations_or_none()])
        self.expect(finish(process))
        self.assertEqual(max(map(len, seen)), 1, "one for all ranks")
        self.assertGreaterEqual(max(sum(each) for each in seen), 24 * MIB)
        self.assertEqual(self.reservations(), [])
        process = self.sabath.start("fetch", "b", prefix=mpirun)
        result = finish(process)
        self.assertIn("are free", result.err)
        self.assertEqual(result.exit, 5)

    def test_staging_into_memory(self):
        self.sabath.store = self.home / "store"
        self.sabath.environment["SABATH_CACHE"] = str(self.sabath.store)
        server = self.big("a", size=64 * MIB)
        self.plan("a")
        record = self.plan("a", "--to", self.disk, code=5)
        self.assertEqual([limit["fits"] for limit in record["limits"] if limit["by"] == str(self.disk)][0], False)
        self.fetch("a")
        self.assertGreater(body_bytes(server.log()), 0)
        result = self.expect(self.sabath.run("stage", "a", "--to", self.disk), 5)
        self.assertIn("free", result.err)
        self.assertEqual(list((self.disk / ".sabath/partial").glob("*/data")), [])


if __name__ == "__main__":
    enter_own_namespace()
    main()
