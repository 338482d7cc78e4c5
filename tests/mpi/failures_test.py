#!/usr/bin/python3
"""`mpirun sabath fetch` when something is wrong: one exit code for all ranks, soon, and what is verified stays."""

import pathlib
import time

from support.ranks import INT, KILL, STOP, TERM, Ranks, chunks_done, wait_for_chunks, wait_for_writers
from support import program
from support.case import main
from support.content import fragment, seeded, sha256_file, write_seeded

MIB = 1 << 20
SECONDS_MAX = 60


class Failures(Ranks):
    def expect_failure(self, code, *arguments, ranks=3):
        begin = time.monotonic()
        out = self.run_ranks(ranks, *arguments, code=code)
        self.assertLess(time.monotonic() - begin, SECONDS_MAX)
        return out

    def test_the_same_code_for_all_whatever_is_wrong(self):
        data = seeded(3000)
        server = self.serve({f"{i}": data for i in range(4)})
        good = [fragment(server.url(f"{i}"), data, name=f"f{i}", path=f"{i}") for i in range(4)]
        wrong = fragment(server.url("0"), seeded(3000, 2), name="w", path="w")
        self.sabath.add("gone", [*good, fragment(server.url("gone"), name="gone", path="gone")])
        self.sabath.add("wrong", [*good, wrong])
        self.sabath.add("vast", [*good, {**fragment(server.url("1"), name="v", path="v"), "size": 1 << 60}])
        self.expect_failure(6, "fetch", "--json", "gone")
        self.expect_failure(7, "fetch", "wrong")
        self.expect_failure(5, "fetch", "vast")
        self.expect_failure(3, "fetch", "unheard-of")
        self.expect_failure(2, "fetch", "gone", "--no-such-option")
        self.expect_failure(9, "fetch", "vast", "--offline")
        self.assertIn("would fetch", (self.expect_failure(0, "fetch", "gone", "-n") or "") + self.text("err", 0))

    def test_mpirun_says_it_too(self):
        server = self.serve()
        self.sabath.add("gone", [fragment(server.url("gone"), path="gone")])
        process = self.start(3, "fetch", "gone", wrapped=False)
        self.finish(process, SECONDS_MAX)
        self.assertEqual(process.returncode, 6)

    def slow_file(self, size, seconds):
        """A pinned file that takes so long by as many connections as three ranks have."""
        served = self.home / "served/f.bin"
        served.parent.mkdir()
        self.digest = write_seeded(served, size)
        self.expect(self.sabath.run("manifest", "create", served.parent, "-o", self.home / "m"))
        server = self.serve(root=served.parent, extra=f"limit_rate {size // seconds // 6 // 1024}k;")
        self.sabath.add("slow", [fragment(server.url("f.bin"), path="f.bin")])
        return ["fetch", "--json", "slow", "--manifest", self.home / "m", "--lanes", "2"]

    def test_a_rank_that_never_starts_mpi(self):
        """MPI_Init waits for it, and nothing else of MPI is there to look after the ranks."""
        self.sabath.add("any", [fragment("http://127.0.0.1:9/any", path="any")])
        begin = time.monotonic()
        lost = ["sh", "-c", '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && exec sleep 600; exec "$0" "$@"', program.BINARY]
        process = self.launch(2, [*lost, "fetch", "any"], SABATH_MPI_START_SECONDS="2")
        _, said = process.communicate(timeout=300)
        self.assertLess(time.monotonic() - begin, SECONDS_MAX)
        self.assertIn("MPI has not started within 2 s", said)
        self.assertEqual(process.returncode, 10)
        process = self.launch(2, [program.BINARY, "fetch", "any"], SABATH_MPI_START_SECONDS="soon")
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 2)

    def test_a_signal_to_one_rank_stops_all(self):
        command = self.slow_file(24 * MIB, 4)
        for rank, number, code in ((2, INT, 130), (0, TERM, 143)):
            with self.subTest(rank=rank):
                self.forget()
                process = self.start(3, *command)
                wait_for_chunks(self.sabath.store, 1)
                self.signal_rank(rank, number)
                begin = time.monotonic()
                self.finish(process)
                self.assertLess(time.monotonic() - begin, SECONDS_MAX)
                self.expect_codes(code)

    def test_a_rank_that_stands_still_ends_the_job(self):
        process = self.start(3, *self.slow_file(24 * MIB, 30), wrapped=False)
        wait_for_writers(self.sabath.store, 3)
        begin = time.monotonic()
        self.signal_rank(2, STOP)
        self.addCleanup(self.signal_rank, 2, KILL)  # should the launcher not have done it
        said = self.finish(process)
        self.assertLess(time.monotonic() - begin, SECONDS_MAX + 5)  # and the launcher's own time
        self.assertEqual(process.returncode, 10)
        self.assertIn("has not answered", said)

    def test_a_rank_that_is_killed_ends_the_job_and_a_rerun_completes(self):
        size = 40 * MIB
        command = self.slow_file(size, 4)
        for rank in (1, 0):
            already = chunks_done(self.sabath.store)
            process = self.start(3, *command, wrapped=False)
            wait_for_chunks(self.sabath.store, already + 2)
            begin = time.monotonic()
            self.signal_rank(rank, KILL)
            self.finish(process)
            self.assertLess(time.monotonic() - begin, SECONDS_MAX)
            self.assertNotEqual(process.returncode, 0)
        asset = self.fetch_by(3, *command[2:])
        self.assertEqual(sha256_file(pathlib.Path(asset["path"]) / "f.bin"), self.digest)
        self.assertLess(asset["fetched_bytes"], size, "what had been verified was kept")


if __name__ == "__main__":
    main()
