#!/usr/bin/python3
"""`mpirun sabath fetch`: every byte once, by any number of ranks, and one record of it."""

import pathlib
import statistics
import unittest


from support import program
from support.case import main, use_memory
from support.content import archive_bytes, fragment, seeded, sha256_file, small_tree, write_seeded
from support.metered import Metered
from support.ranks import MOVED_MAX, MPIRUN, Ranks

MIB = 1 << 20
COUNTS = (1, 2, 3, 7)


class Fetch(Ranks):
    def metered(self, name, quota=None, **more):
        """A server of many small files, and a recipe for them."""
        files = {f"f{i}": seeded(20000 + i, i) for i in range(160)}
        server = Metered(files, quota=quota)
        self.addCleanup(server.stop)
        self.sabath.add(name, [fragment(server.url(n), data, name=n, path=n) for n, data in files.items()], **more)
        return server, files

    def test_a_host_is_asked_by_no_more_for_being_asked_by_many(self):
        server, files = self.metered("meek", limits={"connections": 4})
        self.expect_tree(self.fetch_by(3, "meek")["path"], files)
        self.assertLessEqual(server.most, 4)

    def test_all_ranks_keep_to_the_pause_that_one_was_asked_for(self):
        server, files = self.metered("many", quota=(60, 4))
        self.expect_tree(self.fetch_by(4, "many")["path"], files)
        self.assertEqual(server.requests_while_used_up(1.5), [])
        self.assertGreaterEqual(len(server.answers), len(files))

    def test_one_large_file_that_is_pinned(self):
        size = 64 * MIB + 5
        served = self.home / "served/f.bin"
        served.parent.mkdir()
        digest = write_seeded(served, size)
        server = self.serve(root=served.parent)
        self.expect(self.sabath.run("manifest", "create", served.parent, "-o", self.home / "m"))
        self.sabath.add("one", [fragment(server.url("f.bin"), path="f.bin")])
        for count in COUNTS:
            with self.subTest(ranks=count):
                times = []  # how late the last chunks are is this machine's: the median of three counts
                for _ in range(3):
                    self.forget()
                    seen = server.log()
                    asset = self.fetch_by(count, "one", "--manifest", self.home / "m")
                    self.assertEqual(sha256_file(pathlib.Path(asset["path"]) / "f.bin"), digest)
                    self.assertEqual(asset["trusted_by"], "pinned")
                    times.append(self.times_moved(asset, server, seen, size))
                self.assertLessEqual(statistics.median(times), MOVED_MAX[count], times)

    def test_a_file_of_which_only_a_checksum_is_known(self):
        data = seeded(9 * MIB + 1)
        server = self.serve({"f.bin": data})
        self.sabath.add("one", [fragment(server.url("f.bin"), data, path="f.bin")])
        for count in COUNTS:
            with self.subTest(ranks=count):
                self.forget()
                seen = server.log()
                asset = self.fetch_by(count, "one")
                self.expect_tree(asset["path"], {"f.bin": data})
                self.expect_moved(asset, server, seen, len(data))
        seen = server.log()
        again = self.fetch_by(3, "one")
        self.assertEqual((again["fetched_bytes"], server.new_requests(seen)), (0, []))

    def test_a_list_of_many_small_files(self):
        tree = {f"d{i % 7}/{i}": seeded(i % 5 * 20000, i) for i in range(300)}
        server = self.serve({f"files/{name}": data for name, data in tree.items()})
        listing = "".join(f"{server.url('files/' + name)}\n" for name in tree)
        (server.root / "list.txt").write_text(listing)
        self.sabath.add("many", [fragment(server.url("list.txt"), kind="file_list", path="all")])
        size = sum(map(len, tree.values())) + len(listing)
        for count in COUNTS:
            with self.subTest(ranks=count):
                self.forget()
                seen = server.log()
                asset = self.fetch_by(count, "many")
                self.assertEqual(asset["files"], len(tree) + 1)
                self.expect_moved(asset, server, seen, size)
                self.assertEqual(len(server.new_requests(seen)), len(tree) + 1)

    def test_an_archive(self):
        data = archive_bytes("tar.gz", small_tree())
        server = self.serve({"t.tar.gz": data})
        self.sabath.add("packed", [fragment(server.url("t.tar.gz"), data, kind="archive")])
        asset = self.fetch_by(3, "packed")
        self.expect_tree(asset["path"], small_tree())
        self.expect_moved(asset, server, [], len(data))

    def test_a_limit_for_all_ranks_together(self):
        tree = {f"{i}": seeded(500_000, i) for i in range(12)}
        server = self.serve(tree)
        self.sabath.add("some", [fragment(server.url(name), name=name, path=name) for name in tree])
        asset = self.fetch_by(3, "some", "--limit-rate", "3M")
        self.assertGreater(asset["seconds"], 0.75 * 6_000_000 / (3 * MIB))

    @unittest.skipIf("mpich" in MPIRUN[0], "what breaks it is Open MPI's")
    def test_one_process_starts_no_mpi(self):
        data = seeded(1000)
        server = self.serve({"f.bin": data})
        self.sabath.add("one", [fragment(server.url("f.bin"), data, path="f.bin")])
        broken = {"OMPI_MCA_btl": "nonsense"}
        self.expect(self.sabath.run("fetch", "one", **broken))
        self.forget()
        process = self.start(2, "fetch", "one", **broken)
        self.assertNotEqual(self.finish(process, 30) + self.said(), "", "so it is MPI that is broken")
        self.assertNotEqual([self.text("code", r).strip() for r in range(2)], ["0", "0"])

    def test_ranks_that_work_alone(self):
        data = seeded(1000)
        server = self.serve({"f.bin": data})
        self.sabath.add("one", [fragment(server.url("f.bin"), data, path="f.bin")])
        self.finish(self.start(2, "fetch", "one", "--alone"))
        for rank in range(2):
            self.assertEqual(self.text("code", rank).strip(), "0")
            self.assertIn("views/", self.text("out", rank))
        self.finish(self.start(2, "path", "one"))
        self.assertEqual(self.text("out", 0), self.text("out", 1))

    def test_what_all_ranks_would_say_is_said_once(self):
        self.sabath.add("one", [fragment("http://127.0.0.1:9/f", path="f")])
        alone = self.expect(self.sabath.run("list", "--names")).out
        process = self.launch(3, [program.BINARY, "list", "--names"])
        self.assertEqual(process.communicate(timeout=60)[0], alone)
        process = self.launch(3, ["sh", "-c", 'answer=$("$0" list --names); echo "$answer"', program.BINARY])
        self.assertEqual(process.communicate(timeout=60)[0].split().count("one"), 3, "each rank's script asks for itself")


if __name__ == "__main__":
    use_memory()  # a rank that waits for a busy disk is helped, and moves more
    main()
