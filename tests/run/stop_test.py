#!/usr/bin/python3
"""Runs that are stopped, killed and abandoned: the record is readable, and nothing is left behind."""

import fcntl
import os
import pty
import select
import shutil
import signal
import subprocess
import termios

from runs import Runs, alive_with, main, poll
from support import program

# Deaf to everything, in a session of its own, with a child that is, too.
STUBBORN = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    os.fork()
print("Epoch 1/9\\n1/1 - 1s - loss: 0.5\\nready", flush=True)
while True:
    time.sleep(1)
"""


class Stop(Runs):
    def begin(self, *arguments, **options):
        self.model(["python3", "{source}/train.py", "9", "gate"])
        process = self.start("model", *arguments, **options)
        self.wait_for_output("waiting", process)
        return process

    def expect_nothing_left(self):
        self.assertTrue(poll(lambda: not alive_with(str(self.run_directory))), alive_with(str(self.run_directory)))

    def test_killed_in_the_middle_of_an_epoch(self):
        process = self.begin()
        self.assertNotEqual(alive_with(str(self.run_directory)), [])
        metrics = self.run_directory / "metrics.jsonl"  # written a moment after the output that is waited for
        self.assertTrue(poll(lambda: metrics.exists() and self.values("loss") == [1, 0.5]))
        process.kill()
        process.communicate()
        self.expect_nothing_left()
        self.assertEqual(self.values("loss"), [1, 0.5])
        record = self.record()
        self.assertEqual((record["state"], record["exit"], record["finished"]), ("running", None, None))

    def test_killed_with_a_launcher_and_its_ranks(self):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        self.model({"argv": ["python3", "{source}/train.py", "9", "gate"], "parallel": True})
        process = self.start("model", "--ranks", "2")
        waiting = [self.run_directory / f"output/stdout.{rank}" for rank in (0, 1)]
        self.assertTrue(poll(lambda: all(file.exists() and "waiting" in file.read_text() for file in waiting), 60))
        self.assertGreaterEqual(len(alive_with(str(self.run_directory))), 3)
        process.kill()
        process.communicate()
        self.expect_nothing_left()
        losses = [(m["rank"], m["epoch"], m["value"]) for m in self.metrics() if m["name"] == "loss"]
        self.assertEqual(sorted(losses), [(0, 1, 1), (0, 2, 0.5), (1, 1, 1), (1, 2, 0.5)])

    def test_asked_to_stop(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 143)):
            with self.subTest(number=number):
                self.run_directory = self.home / f"record-{number}"
                process = self.begin()
                process.send_signal(number)
                process.communicate(timeout=300)
                self.assertEqual(process.returncode, code)
                record = self.record()
                self.assertEqual((record["state"], record["signal"]), ("interrupted", int(number)))
                self.assertIsNotNone(record["finished"])
                self.assertEqual(self.values("loss"), [1, 0.5])
                self.expect_nothing_left()

    def test_a_program_may_use_its_grace(self):
        code = (
            "import signal, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('Epoch 2/9\\n1/1 - 1s - loss: 0.25', flush=True)))\n"
            "print('ready', flush=True)\n"
            "while True: time.sleep(1)\n"
        )
        self.model(["python3", "{source}/train.py"], code={"train.py": code})
        process = self.start("model")
        self.wait_for_output("ready", process)
        process.terminate()
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 143)
        self.assertEqual(self.values("loss"), [0.25])
        self.assertEqual((self.record()["state"], self.record()["exit"]), ("interrupted", 0))

    def test_the_deaf_are_ended_after_their_grace(self):
        self.model(["python3", "{source}/train.py"], code={"train.py": STUBBORN})
        process = self.start("model", "--grace", "1")
        self.wait_for_output("ready", process)
        process.terminate()
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 143)
        self.assertEqual(self.record()["signal"], 9)
        self.expect_nothing_left()

    def test_a_second_signal_ends_at_once(self):
        self.model(["python3", "{source}/train.py"], code={"train.py": STUBBORN})
        process = self.start("model", "--grace", "3600")
        self.wait_for_output("ready", process)
        process.terminate()
        while process.poll() is None:
            process.terminate()
            select.select([], [], [], 0.02)
        process.communicate()
        self.assertEqual(process.returncode, 143)
        self.expect_nothing_left()

    def test_killed_while_the_deaf_run(self):
        self.model(["python3", "{source}/train.py"], code={"train.py": STUBBORN})
        process = self.start("model")
        self.wait_for_output("ready", process)
        process.kill()
        process.communicate()
        self.expect_nothing_left()

    def test_what_a_program_leaves_behind_is_ended(self):
        self.model(["sh", "-c", "setsid sleep 3600 >/dev/null 2>&1 & echo done"])
        self.launch("model")
        self.expect_nothing_left()

    def test_a_terminal(self):
        """Control-C on the terminal where it runs: its own group alone gets the signal."""
        self.model(["python3", "{source}/train.py", "{config.epochs}", "gate"], config={"epochs": 9})
        main_end, terminal = pty.openpty()
        process = subprocess.Popen(
            [program.BINARY, "run", "--run-dir", self.run_directory, "model"],
            env={**self.sabath.environment, "TERM": "xterm", "LC_ALL": "C.UTF-8"}, stdin=terminal, stdout=terminal,
            stderr=terminal, start_new_session=True, cwd=self.home,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(terminal)
        shown = b""
        sent = False
        while True:
            try:
                part = os.read(main_end, 65536)
            except OSError:  # the last who had the terminal has closed it
                break
            shown += part
            if not sent and b"ETA" in shown and "waiting" in self.output():
                os.write(main_end, b"\x03")
                sent = True
        os.close(main_end)
        self.assertEqual(process.wait(timeout=300), 130)
        text = shown.decode()
        self.assertIn("\r\x1b[K", text)
        self.assertIn("epoch 1/9", text)
        self.assertEqual(self.record()["state"], "interrupted")
        self.expect_nothing_left()


if __name__ == "__main__":
    main()
