"""A login node that grants few threads or little address space: it is done with fewer, or the limit is named."""
import os
import resource
import shutil
import subprocess
import tempfile

from support import program
from support.ground import FaultCase, Ground, checksums, main, seeded_bytes

MIB = 1 << 20
SIZE = 9 * MIB


def limited(which, value):
    return lambda: resource.setrlimit(which, (value, value))


class Limits(FaultCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="sabath-limits-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.ground = Ground(self, self.directory)
        url = self.server.url(f"/ok?size={SIZE}&seed=3")
        sums = checksums(seeded_bytes(SIZE, 3))
        self.ground.recipe("d", self.ground.fragment(url, checksum={"sha256": sums["sha256"]}))

    def judge(self, what, result, words):
        with self.subTest(what):
            self.assertIn(result.exit, (0, 70, 6) if "memory is short" in result.err else (0, 70), result)
            if result.exit != 0:
                self.assertRegex(result.err, words, result)
                for untrue in ("internal error", "report it", "terminate"):
                    self.assertNotIn(untrue, result.err)

    def test_few_threads(self):
        self.ground.variables["ASAN_OPTIONS"] = "detect_leaks=0"  # which wants a thread of its own
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root may be a user of whom no other process counts")
        subprocess.run(["chmod", "-R", "a+rwX", self.directory], check=True)
        codes = []
        for threads in (1, 2, 3, 4, 5, 6, 7, 40):
            user = 700_000_000 + os.getpid() * 100 + threads  # no other test's
            self.ground.store = f"{self.directory}/store{threads}"
            self.ground.prefix = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "prlimit",
                                  f"--nproc={threads}"]  # fmt: skip
            result = self.ground.run("fetch", "d")
            if "Permission denied" in result.err:
                self.skipTest("other users may not run the program where it stands")
            self.judge(f"{threads} threads", result, "threads.*ulimit -u|ulimit -u")
            codes.append(result.exit)
        self.assertEqual(codes[-1], 0)
        self.assertIn(70, codes)

    def test_little_address_space(self):
        plain = subprocess.run([program.BINARY, "--version"], env=self.ground.environment(), capture_output=True,
                               preexec_fn=limited(resource.RLIMIT_AS, 2048 * MIB), check=False)  # fmt: skip
        if plain.returncode != 0:
            self.skipTest("this build needs much address space: a sanitizer")
        codes = []
        for size in (*range(60, 260, 20), 2048):
            self.ground.store = f"{self.directory}/store{size}"
            result = self.ground.run("fetch", "d", preexec_fn=limited(resource.RLIMIT_AS, size * MIB))
            if size < 80 and "error while loading shared libraries" in result.err:
                continue  # the system's loader: nothing of ours has run yet
            self.judge(f"{size} MiB", result, "memory|ulimit -v|allocate")
            codes.append(result.exit)
        self.assertEqual(codes[-1], 0)
        self.assertIn(70, codes)


if __name__ == "__main__":
    main()
