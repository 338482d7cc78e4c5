#!/usr/bin/python3
"""etc/slurm/prolog.sh as slurmd runs it, on a disk that is mounted and on one that is not."""

import os
import pathlib
import subprocess

from support.case import Case, main
from support.mounts import enter_own_namespace, mount_memory, need_own_namespace

PROLOG = pathlib.Path(__file__).resolve().parents[2] / "etc/slurm/prolog.sh"


class Prolog(Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("a prolog is root's")
        self.disk = self.home / "local"
        self.disk.mkdir()

    def run_on(self, disk, mounted="yes"):
        """The script with this site's settings edited: its exit code and what it said."""
        text = PROLOG.read_text()
        for line, edited in (("disk=/local", f"disk={disk}"), ("mounted=yes", f"mounted={mounted}")):
            self.assertIn(f"\n{line} ", text)
            text = text.replace(f"\n{line} ", f"\n{edited} ")
        script = self.home / "prolog.sh"
        script.write_text(text)
        script.chmod(0o755)
        result = subprocess.run([script], env={"SLURM_JOB_USER": "daemon"}, capture_output=True, text=True, check=False)
        return result.returncode, result.stderr

    def owner_and_mode(self):
        status = (self.disk / "daemon").stat()
        return status.st_uid, oct(status.st_mode & 0o7777)

    def test_a_disk_that_is_not_mounted(self):
        code, said = self.run_on(self.disk)
        self.assertEqual(code, 1)
        self.assertEqual(said, f"no disk is mounted at {self.disk}: mount it, or say mounted=no in {self.home}/prolog.sh"
                               " if it is a plain directory\n")
        self.assertEqual(list(self.disk.iterdir()), [])
        self.assertEqual(self.run_on(self.home / "absent")[0], 1)

    def test_a_plain_directory_that_the_site_allows(self):
        self.assertEqual(self.run_on(self.disk, mounted="no"), (0, ""))
        self.assertEqual(self.owner_and_mode(), (1, "0o700"))

    def test_a_disk_that_is_mounted(self):
        need_own_namespace(self)
        mount_memory(self, self.disk, 1)
        self.assertEqual(self.run_on(self.disk), (0, ""))
        self.assertEqual(self.owner_and_mode(), (1, "0o700"))


if __name__ == "__main__":
    enter_own_namespace()
    main()
