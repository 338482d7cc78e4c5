#!/usr/bin/python3
"""Several processes want what has no manifest yet, at once: one fetches it, the others follow, or go on where it ended."""

import contextlib
import pathlib
import signal

from support.case import Case, main
from support.content import fragment, sha256_file, write_seeded
from support.origin import body_bytes, poll
from support.program import finish

MIB = 1 << 20
CHUNK = 4 * MIB
SIZE = 24 * MIB
CONNECTIONS_MAX = 16  # of one process to one host
BEGAN_TOGETHER = 1.3  # when several begin the same at the same moment: what was on its way when one gave way
TAKEN_OVER = 1.5  # when one is killed: each of its chunks on their way may come again


class Follow(Case):
    def publish(self, name, known, seconds=3, size=SIZE):
        """An asset of one file, behind a server that needs about so long for it; `known`: its checksum is published."""
        file = self.home / "served" / f"{name}.bin"
        file.parent.mkdir(exist_ok=True)
        digest = write_seeded(file, size, len(name))
        rate = size // seconds // 4 // 1024
        server = self.serve(name=f"{name}.origin", root=file.parent, extra=f"limit_rate {rate}k;")
        more = {"size": size, "checksum": {"sha256": digest}} if known else {}
        self.sabath.add(name, [fragment(server.url(file.name), **more)])
        return server, digest

    def start(self, name):
        return self.sabath.start("fetch", "--json", "--lanes", 4, name)

    def check(self, results, server, digest, moved_max):
        for result in results:
            asset = self.expect(result).asset
            self.assertEqual(self.content(asset), digest)
            self.assertGreaterEqual(asset["fetched_bytes"] + asset["reused_bytes"], SIZE)
        moved = body_bytes(server.log())
        print(f"{moved / SIZE:.3f} of the file moved", flush=True)
        self.assertLessEqual(moved, moved_max * SIZE)
        self.expect(self.sabath.run("verify"))
        self.assertEqual(self.sabath.run("du", "--json").record["partial_bytes"], 0)

    def content(self, asset):
        (file,) = pathlib.Path(asset["path"]).iterdir()
        return sha256_file(file)

    def test_one_leads(self):
        for known in (False, True):
            with self.subTest(checksum_published=known):
                server, digest = self.publish(f"together-{known}", known)
                processes = [self.start(f"together-{known}") for _ in range(3)]
                self.check([finish(process) for process in processes], server, digest, BEGAN_TOGETHER)

    def test_one_leads_with_a_single_chunk(self):
        """What has no chunks to share is waited for all the same."""
        size = 3 * MIB
        for known in (False, True):
            with self.subTest(checksum_published=known):
                server, digest = self.publish(f"single-{known}", known, seconds=1, size=size)
                processes = [self.start(f"single-{known}") for _ in range(8)]
                for asset in [self.expect(finish(process)).asset for process in processes]:
                    self.assertEqual(self.content(asset), digest)
                moved = body_bytes(server.log())
                print(f"{moved / size:.3f} of the file moved", flush=True)
                self.assertLessEqual(moved, 2 * size)
                self.assertEqual(self.sabath.run("du", "--json").record["partial_bytes"], 0)

    def test_the_leader_is_killed(self):
        for known in (False, True):
            with self.subTest(checksum_published=known):
                name = f"killed-{known}"
                server, digest = self.publish(name, known)
                first = self.start(name)
                self.assertTrue(poll(lambda: self.journaled() > 0), "nothing has come")
                others = [self.start(name) for _ in range(2)]
                self.assertTrue(poll(lambda: self.journaled() > 1), "nothing more has come")
                first.kill()
                self.assertEqual(finish(first).exit, -signal.SIGKILL)
                self.check([finish(process) for process in others], server, digest, TAKEN_OVER)

    def test_the_leader_is_stopped(self):
        """It stands still, and no other process can know that it is not dead: what it has is copied, and it may wake at any time."""
        _, digest = self.publish("stopped", False)
        first = self.start("stopped")
        self.addCleanup(first.kill)
        self.assertTrue(poll(lambda: self.journaled() > 2), "nothing has come")
        first.send_signal(signal.SIGSTOP)
        second = self.expect(finish(self.start("stopped"))).asset
        self.assertGreaterEqual(second["reused_bytes"], CHUNK)
        self.assertLessEqual(second["fetched_bytes"], 1.05 * (SIZE - second["reused_bytes"]))
        self.assertEqual(self.content(second), digest)
        first.send_signal(signal.SIGCONT)
        self.expect(finish(first))
        self.expect(self.sabath.run("verify"))

    def test_files_are_shared_out(self):
        """Two processes and a list: a process that finds a file taken goes on with the next."""
        files, size = 6, 8 * MIB
        data = self.home / "served"
        data.mkdir()
        for i in range(files):
            write_seeded(data / f"{i}.bin", size, i)
        server = self.serve(root=data, extra="limit_rate 1024k;")
        (data / "list.txt").write_text("".join(server.url(f"{i}.bin") + "\n" for i in range(files)))
        self.sabath.add("many", [fragment(server.url("list.txt"), kind="file_list")])
        processes = [self.start("many") for _ in range(2)]
        assets = [self.expect(finish(process)).asset for process in processes]
        moved = body_bytes(server.log())
        fetched = [asset["fetched_bytes"] for asset in assets]
        print(f"fetched {fetched}, moved {moved / (files * size):.3f}", flush=True)
        self.assertLessEqual(moved, BEGAN_TOGETHER * files * size)
        self.assertGreater(min(fetched), size, "one has fetched nearly all")

    def journaled(self):
        """Records beyond the header, of all unfinished directories."""
        records = 0
        for journal in (self.sabath.store / "partial").glob("*/*/journal.*"):
            with contextlib.suppress(FileNotFoundError):  # it was finished meanwhile
                records += journal.stat().st_size // 64 - 1
        return records


if __name__ == "__main__":
    main()
