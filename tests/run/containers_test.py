#!/usr/bin/python3
"""Runs in containers: Charliecloud and podman for real where they are installed, on an image that is made here."""

import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import unittest

from runs import Runs, alive_with, main, place
from support.origin import poll

NOBODY = 65534
STORAGE = """[storage]
driver = "vfs"
runroot = "{home}/pod/run"
graphroot = "{home}/pod/graph"
[storage.options.vfs]
ignore_chown_errors = "true"
"""
LIST = ["sh", "-c", "cat /etc/only-here; wc -c < $1; echo $FLAG; echo epoch=1 loss=0.5; echo x > written", "sh", "{dataset.main}"]


def make_image(image):
    """A shell, some programs, and their libraries."""
    for name in ("bin", "dev", "etc", "home", "proc", "root", "sys", "tmp", "usr/bin"):
        (image / name).mkdir(parents=True, exist_ok=True)
    for name in ("passwd", "group", "hosts", "resolv.conf"):
        place(image / "etc" / name, b"")
    for program in ("sh", "cat", "wc", "sleep"):
        file = shutil.which(program)
        shutil.copy(file, image / "bin" / program)
        libraries = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        for word in libraries.split():
            if word.startswith("/"):
                place(image / word[1:], pathlib.Path(word).read_bytes())
                (image / word[1:]).chmod(0o755)
    place(image / "etc/only-here", b"inside\n")


def why_no_charliecloud():
    if not shutil.which("ch-run"):
        return "there is no ch-run (Debian: charliecloud)"
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "user namespaces are not allowed here"


class Containers(Runs):
    def profile(self, **kinds):
        file = self.home / "here.json"
        place(file, json.dumps({"schema": 1, "name": "here", "containers": kinds}).encode())
        return file

    def test_the_digest_of_an_image_that_is_no_file(self):
        """Its own program says it, or no program does."""
        self.model(["echo", "here"])
        digest = "sha256:" + "a" * 64
        for number, (answer, wanted) in enumerate(((f"echo {digest}", digest), ("echo sha256:x", None), ("exit 1", None))):
            with self.subTest(answer):
                kind = {"argv": ["env", "A=b"], "digest": ["sh", "-c", answer + '; test "$0" = A=b', "{image}"]}
                self.run_directory = self.home / f"record-{number}"
                self.launch("model", "--site", self.profile(box=kind), "--container", "box:A=b")
                self.assertEqual(self.record()["environment"]["container"], {"kind": "box", "image": "A=b", "digest": wanted})

    def test_paths_that_cannot_be_bound(self):
        self.model(["true"])
        self.run_directory = self.home / "a:b"
        self.launch("model", "--container", "podman:x", code=2)
        self.assertFalse(self.run_directory.exists())

    def expect_inside(self):
        self.assertEqual(self.output().splitlines()[:3], ["inside", "200000", "two words"])
        self.assertEqual(self.values("loss"), [0.5])
        self.assertEqual((self.run_directory / "work/written").read_text(), "x\n")

    @unittest.skipIf(why_no_charliecloud(), why_no_charliecloud())
    def test_charliecloud(self):
        make_image(self.home / "image")
        self.model(LIST, env_vars={"FLAG": "two words"})
        self.launch("model", "--container", f"charliecloud:{self.home}/image", USER="somebody")
        self.expect_inside()
        self.assertEqual(self.record()["environment"]["container"]["kind"], "charliecloud")

    def start_podman(self):
        """Storage of its own, as a user without rights: the plainest that podman has. Returns that user's prefix."""
        place(self.home / "storage.conf", STORAGE.format(home=self.home).encode())
        (self.home / "pod/user").mkdir(parents=True)
        self.sabath.environment.update(
            CONTAINERS_STORAGE_CONF=str(self.home / "storage.conf"), CONTAINERS_CONF=str(self.home / "containers.conf"),
            XDG_RUNTIME_DIR=str(self.home / "pod/user"), USER="nobody")  # fmt: skip
        make_image(self.home / "image")
        with tarfile.open(self.home / "image.tar", "w") as archive:
            archive.add(self.home / "image", ".")
        shutil.rmtree(self.home / "image")
        prefix = ()
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", self.home], check=True)
            prefix = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        if self.sabath.run("--version", prefix=prefix).exit != 0:
            self.skipTest("a user without rights cannot start the program from where it is")

        def podman(*arguments):
            return subprocess.run([*prefix, "podman", *map(str, arguments)], env=self.sabath.environment, cwd=self.home,
                                  capture_output=True, text=True, check=False, timeout=300)  # fmt: skip

        place(self.home / "containers.conf", b"")
        done = podman("import", self.home / "image.tar", "localhost/shell:1")
        self.assertEqual(done.returncode, 0, done.stderr)
        for runtime in ("crun", "runc"):
            text = f'[engine]\nruntime = "{runtime}"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
            place(self.home / "containers.conf", text.encode())
            done = podman("run", "--rm", "--network=host", "localhost/shell:1", "cat", "/etc/only-here")
            if done.returncode == 0:
                return prefix, podman
        self.skipTest(f"podman does not run here: {done.stderr.strip()[-200:]}")

    @unittest.skipUnless(shutil.which("podman"), "there is no podman")
    def test_podman(self):
        self.model(LIST, env_vars={"FLAG": "two words"})
        prefix, podman = self.start_podman()
        self.launch("model", "--container", "podman:localhost/shell:1", prefix=prefix)
        self.expect_inside()
        digest = podman("image", "inspect", "--format", "{{.Digest}}", "localhost/shell:1").stdout.strip()
        self.assertEqual(self.record()["environment"]["container"],
                         {"kind": "podman", "image": "localhost/shell:1", "digest": digest})  # fmt: skip

        # Asked to stop, it is stopped, as the program wants it; and killed, it leaves nothing behind.
        self.model(["sh", "-c", "trap 'echo stopped; exit 0' TERM; echo waiting; while :; do sleep 0.1; done"],
                   env_vars={"MARK": self.home.name})  # fmt: skip
        for number, send in ((1, "terminate"), (2, "kill")):
            self.run_directory = self.home / f"record-{number}"
            process = self.start("model", "--container", "podman:localhost/shell:1", prefix=prefix)
            self.addCleanup(process.kill)
            self.wait_for_output("waiting", process)
            self.assertTrue(alive_with(f"MARK={self.home.name}"))
            getattr(process, send)()
            process.communicate(timeout=300)
            self.assertTrue(poll(lambda: not alive_with(f"MARK={self.home.name}")), alive_with(self.home.name))
            if send == "terminate":
                self.assertEqual((process.returncode, self.record()["state"]), (143, "interrupted"))
                self.assertIn("stopped", self.output())


if __name__ == "__main__":
    main()
