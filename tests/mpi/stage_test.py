#!/usr/bin/python3
"""`mpirun sabath stage` by ranks that pretend to be nodes: each byte once, verified, and one answer for each failure."""

import contextlib
import filecmp
import json
import os
import shutil
import subprocess
import time
import unittest

from support.ranks import INT, KILL, STOP, TERM, Ranks, chunks_done
from support import program
from support.case import main
from support.content import fragment, seeded, sha256_file, write_seeded
from support.origin import poll

MIB = 1 << 20
SECONDS_MAX = 60


class Staging(Ranks):
    def setUp(self):
        super().setUp()
        self.disks = self.home / "disks"

    def asset(self, name="set", big=18 * MIB + 5, small=40):
        source = self.home / "source" / name
        source.mkdir(parents=True)
        write_seeded(source / "big", big)
        fragments = [fragment(f"file://{source}/big", path="big", checksum={"sha256": sha256_file(source / "big")})]
        for i in range(small):
            data = seeded(i * 3001, i)
            (source / f"s{i}").write_bytes(data)
            fragments.append(fragment(f"file://{source}/s{i}", data, name=f"s{i}", path=f"s{i}"))
        self.sabath.add(name, fragments)
        self.size = sum(file.stat().st_size for file in source.iterdir())
        return source

    def arguments(self, nodes, *more, name="set"):
        return ["stage", name, "--emulate-nodes", nodes, "--to", f"{self.disks}/{{node}}", *more]

    def stage_by(self, ranks, nodes, *more, code=0):
        out = self.run_ranks(ranks, *self.arguments(nodes, "--json", *more), code=code)
        record = json.loads(out)
        self.assertEqual(record["exit"], code)
        (asset,) = record["assets"]
        return asset

    def expect_whole(self, source, nodes, name="set"):
        for node in nodes:
            compared = filecmp.dircmp(source, self.disks / str(node) / name)
            self.assertEqual(compared.left_list, compared.right_list)
            _, different, errors = filecmp.cmpfiles(source, self.disks / str(node) / name, compared.left_list, False)
            self.assertEqual((different, errors), ([], []))

    def test_stripes_are_asked_for_once(self):
        """Lustre's program is there: one node asks it about one file of the shared store, and no stripe has two readers."""
        source = self.asset(big=96 * MIB, small=0)
        self.sabath.run("fetch", "set")
        asked, programs = self.home / "asked", self.home / "programs"
        programs.mkdir()
        (programs / "lfs").write_text(f'#!/bin/sh\necho "$@" >>{asked}\necho {16 * MIB}\n')
        (programs / "lfs").chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        record = json.loads(self.run_ranks(3, *self.arguments(3, "--json"), PATH=path))
        (line,) = asked.read_text().splitlines()
        self.assertRegex(line, "^getstripe -S .*/objects/")
        self.assertTrue(os.path.isfile(line.split()[2]))
        self.assertEqual(record["assets"][0]["bytes_from_shared"], self.size)
        self.expect_whole(source, range(3))

    def test_every_byte_once_at_any_number_of_ranks(self):
        source = self.asset()
        self.sabath.run("fetch", "set")
        for ranks, nodes in ((1, 1), (2, 2), (3, 3), (4, 4), (7, 4), (7, 7), (4, 1)):
            with self.subTest(ranks=ranks, nodes=nodes):
                asset = self.stage_by(ranks, nodes)
                self.assertEqual(asset["bytes_from_shared"], self.size)
                self.assertEqual(asset["bytes_from_peers"], self.size * (nodes - 1))
                self.assertEqual((asset["nodes"], asset["ranks"]), (nodes, ranks))
                self.expect_whole(source, range(nodes))
                again = self.stage_by(ranks, nodes)
                self.assertEqual(again["bytes_from_shared"] + again["bytes_from_peers"], 0)
                self.assertEqual(again["bytes_present"], self.size * nodes)
                shutil.rmtree(self.disks)

    def test_what_the_store_lacks_is_fetched_first(self):
        source = self.asset()
        asset = self.stage_by(3, 3)
        self.assertEqual(asset["bytes_from_origin"], self.size)
        self.expect_whole(source, range(3))
        shutil.rmtree(self.sabath.store)
        self.expect_failure(9, *self.arguments(3, "--no-fetch"))
        shutil.rmtree(self.disks / "1")

    def test_a_lost_node_is_fed_by_the_others(self):
        source = self.asset()
        self.stage_by(4, 4)
        shutil.rmtree(self.disks / "2")
        asset = self.stage_by(4, 4)
        self.assertEqual((asset["bytes_from_shared"], asset["bytes_from_peers"]), (0, self.size))
        self.expect_whole(source, range(4))

    def test_shards(self):
        source = self.asset()
        asset = self.stage_by(4, 4, "--mode", "shard", "--seed", "3")
        self.assertEqual((asset["bytes_from_shared"], asset["bytes_from_peers"]), (self.size, 0))
        plan = json.loads((self.disks / "0/set.plan.json").read_text())
        self.assertEqual(sorted(sum(plan["files"], [])), sorted(os.listdir(source)))
        for node, files in enumerate(plan["files"]):
            self.assertEqual(sorted(os.listdir(self.disks / str(node) / "set")), sorted(files))

    def test_equal_files_are_dealt_like_others(self):
        """Markers, empty files, a split listed twice: each path is in the plan, on the node that the rule gives it."""
        source = self.home / "source" / "equal"
        source.mkdir(parents=True)
        contents = {f"mark{i}": b"" for i in range(9)} | {f"twice{i}": seeded(3 * MIB, 1) for i in range(3)}
        contents |= {f"large{i}": seeded(5 * MIB, 2) for i in range(2)} | {f"own{i}": seeded(100, i) for i in range(4)}
        fragments = []
        for name, data in contents.items():
            (source / name).write_bytes(data)
            fragments.append(fragment(f"file://{source}/{name}", data, name=name, path=name))
        self.sabath.add("equal", fragments)
        for ranks, nodes, more in ((3, 3, []), (3, 3, ["--overlap", "2"]), (5, 2, ["--per-rank"])):
            with self.subTest(more):
                shutil.rmtree(self.disks, ignore_errors=True)
                arguments = self.arguments(nodes, "--mode", "shard", "--seed", "5", *more, name="equal")
                self.run_ranks(ranks, *arguments)
                plan = json.loads((self.disks / "0/equal.plan.json").read_text())
                copies = plan["overlap"]
                self.assertEqual(sorted(sum(plan["files"], [])), sorted(copies * list(contents)))
                lengths = [len(files) for files in plan["files"]]
                self.assertLessEqual(max(lengths) - min(lengths), copies)
                nodes_files = {}
                for share, files in enumerate(plan["files"]):
                    node = share * nodes // ranks if more == ["--per-rank"] else share
                    nodes_files.setdefault(node, set()).update(files)
                for node, files in nodes_files.items():
                    place = self.disks / str(node) / "equal"
                    self.assertEqual({f: (place / f).read_bytes() for f in os.listdir(place)},
                                     {f: contents[f] for f in files})

    def test_shards_of_ranks(self):
        """Two nodes, five ranks: a node has what its ranks have."""
        source = self.asset()
        asset = self.stage_by(5, 2, "--mode", "shard", "--per-rank", "--overlap", "2")
        self.assertEqual(asset["bytes_from_shared"], self.size)
        plan = json.loads((self.disks / "0/set.plan.json").read_text())
        self.assertEqual((plan["ranks"], plan["nodes"]), (list(range(5)), 2))
        self.assertEqual(sorted(sum(plan["files"], [])), sorted(2 * os.listdir(source)))
        nodes = {}
        for rank, files in enumerate(plan["files"]):
            nodes.setdefault(rank * 2 // 5, set()).update(files)
        for node, files in nodes.items():
            self.assertEqual(sorted(os.listdir(self.disks / str(node) / "set")), sorted(files))

    def universes(self, count, edge=32):
        """Like CosmoUniverse's, in small; returns their data."""
        import h5py
        import numpy

        generator = numpy.random.default_rng(1)
        folder = self.home / "source" / "cosmo"
        folder.mkdir(parents=True)
        data, fragments = [], []
        for i in range(count):
            data.append(generator.integers(0, 500, (edge, edge, edge, 4), "i2"))
            with h5py.File(folder / f"u{i}.hdf5", "w") as file:
                file["full"], file["physPar"] = data[-1], numpy.arange(4, dtype="f4") + i
            path = folder / f"u{i}.hdf5"
            fragments.append(
                fragment(f"file://{path}", name=path.name, path=path.name, checksum={"sha256": sha256_file(path)})
            )
        self.sabath.add("cosmo", fragments)
        return data

    def stage_cosmo(self, *more):
        record = json.loads(self.run_ranks(3, *self.arguments(3, "--json", *more, name="cosmo")))
        return record["assets"][0]

    def test_a_selection_of_hdf5_files(self):
        import h5py

        data = self.universes(4)
        wanted = ["--select", "full[:,:,:,0]", "--select", "physPar"]
        asset = self.stage_cosmo(*wanted)
        self.assertEqual(asset["selection"], [wanted[1], wanted[3]])
        self.assertEqual(asset["bytes_from_peers"], 2 * asset["bytes"], "each file is made once, by one node")
        self.assertLess(asset["bytes"], 1.02 * sum(cube[..., 0].nbytes for cube in data) + 4 * 8192)
        for node in range(3):
            for i, cube in enumerate(data):
                with h5py.File(self.disks / str(node) / "cosmo" / f"u{i}.hdf5") as file:
                    self.assertTrue((file["full"][...] == cube[..., 0]).all())
                    self.assertEqual(float(file["physPar"][0]), i)
        again = self.stage_cosmo(*wanted)
        self.assertEqual((again["bytes_from_shared"], again["bytes_from_peers"]), (0, 0))
        shutil.rmtree(self.disks / "1")
        healed = self.stage_cosmo(*wanted)
        self.assertEqual((healed["bytes_from_shared"], healed["bytes_from_peers"]), (0, asset["bytes"]))
        self.assertEqual(healed["manifest"], asset["manifest"])

    def test_blocks_of_hdf5_files_are_dealt(self):
        import h5py

        (cube,) = self.universes(1)
        asset = self.stage_cosmo("--select", "full", "--blocks", "16,16,16,4", "--mode", "shard")
        self.assertEqual(asset["files"], 8)
        blocks = sorted(file for file in self.disks.glob("*/cosmo/**/*") if file.is_file())
        self.assertEqual(len(blocks), 8)
        total = 0
        for block in blocks:
            with h5py.File(block) as file:
                total += int(file["full"][...].sum())
        self.assertEqual(total, int(cube.sum()))
        self.assertEqual(asset["readers"], 3)
        shutil.rmtree(self.disks)
        arguments = self.arguments(1, "--json", "--select", "full", "--blocks", "16,16,16,4", name="cosmo")
        alone = json.loads(self.run_ranks(1, *arguments))["assets"][0]
        self.assertEqual(alone["manifest"], asset["manifest"], "the same bytes, by any ranks")
        self.assertLess(asset["bytes_from_shared"], cube.nbytes + 8 * 64, "one file, read once by all nodes together")

    # --- failures ----------------------------------------------------------------------------------------------------

    def expect_failure(self, code, *arguments, ranks=3):
        begin = time.monotonic()
        out = self.run_ranks(ranks, *arguments, code=code)
        self.assertLess(time.monotonic() - begin, SECONDS_MAX)
        return out

    def expect_no_view(self, nodes):
        for node in nodes:
            self.assertFalse(os.path.lexists(self.disks / str(node) / "set"), f"node {node}")

    def test_usage(self):
        self.asset()
        self.expect_failure(2, "stage", "set")
        self.expect_failure(2, "stage", "set", "--to", "/x/{oops}")
        self.expect_failure(2, *self.arguments(9))
        self.expect_failure(3, "stage", "unheard-of", "--to", self.disks)

    @unittest.skipIf(os.geteuid() != 0, "only root mounts")
    def test_a_full_disk_is_found_before_a_byte_moves_and_named(self):
        source = self.asset()
        self.sabath.run("fetch", "set")
        (self.disks / "1").mkdir(parents=True)
        self.mount_tmpfs(self.disks / "1", "size=4m")
        asset = self.stage_by(3, 3, code=5)
        self.assertEqual([node["node"] for node in asset["failed_nodes"]], [1])
        self.assertEqual(asset["bytes_from_shared"], 0)
        self.expect_no_view(range(3))
        partly = self.stage_by(3, 3, "--allow-partial", "1", code=10)
        self.assertEqual([node["node"] for node in partly["failed_nodes"]], [1])
        self.expect_whole(source, (0, 2))
        self.expect_no_view([1])

    def mount_tmpfs(self, path, options):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", path], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", path], check=False)

    def test_no_directory_and_a_file_in_its_place(self):
        self.asset()
        self.disks.mkdir()
        (self.disks / "1").write_text("a file")
        asset = self.stage_by(3, 3, code=10)
        self.assertEqual([node["node"] for node in asset["failed_nodes"]], [1])
        self.expect_no_view([0, 2])

    def test_a_wrong_byte_is_exit_7(self):
        source = self.asset()
        self.sabath.run("fetch", "set")
        (object_,) = [o for o in (self.sabath.store / "objects").rglob("*") if o.is_file() and o.stat().st_size > 17 * MIB]
        object_.chmod(0o644)
        with object_.open("r+b") as file:
            file.seek(9 * MIB)
            byte = file.read(1)
            file.seek(9 * MIB)
            file.write(bytes([byte[0] ^ 1]))
        asset = self.stage_by(3, 3, code=7)
        self.assertIn("big", asset["failed_nodes"][0]["message"])
        self.expect_no_view(range(3))
        self.sabath.run("fetch", "set", "--force")
        again = self.stage_by(3, 3)
        self.assertEqual(again["bytes_from_shared"], 4 * MIB, "what had arrived is not moved again")
        self.expect_whole(source, range(3))

    def slow_stage(self):
        """Started, and under way: something has arrived on every node."""
        source = self.asset(big=400 * MIB, small=0)
        self.sabath.run("fetch", "set")
        process = self.start(3, *self.arguments(3), wrapped=False)
        stores = [self.disks / str(node) / ".sabath" for node in range(3)]
        assert poll(lambda: all(chunks_done(store) >= 1 for store in stores)), "nothing has arrived"
        return source, process

    def fail_midway(self, damage, codes):
        """What is wrong appears when bytes are on their way; `damage` is done to node 2's directory."""
        _, process = self.slow_stage()
        begin = time.monotonic()
        damage(self.disks / "2")
        said = self.finish(process)
        self.assertLess(time.monotonic() - begin, SECONDS_MAX + 5)
        self.assertIn(process.returncode, codes, said)
        self.assertIn("node 2", said)
        self.assertFalse(os.path.lexists(self.disks / "2/set"))

    def test_a_directory_that_vanishes(self):
        def remove(directory):
            while directory.exists():
                shutil.rmtree(directory, ignore_errors=True)

        self.fail_midway(remove, (10,))
        self.stage_by(3, 3)
        self.expect_whole(self.home / "source/set", range(3))

    @unittest.skipIf(os.geteuid() != 0, "only root mounts")
    def test_a_disk_that_others_fill_meanwhile(self):
        def fill(directory):
            with contextlib.suppress(OSError), open(directory / "others", "wb", 0) as file:
                while True:
                    file.write(bytes(MIB))

        (self.disks / "2").mkdir(parents=True)
        self.mount_tmpfs(self.disks / "2", "size=500m")
        self.fail_midway(fill, (5, 10))
        (self.disks / "2/others").unlink()
        self.stage_by(3, 3)
        self.expect_whole(self.home / "source/set", range(3))

    def test_a_rank_that_is_killed_or_stands_still_ends_the_job_and_a_rerun_completes(self):
        for number in (KILL, STOP):
            with self.subTest(signal=number):
                shutil.rmtree(self.home / "source", ignore_errors=True)
                shutil.rmtree(self.disks, ignore_errors=True)
                source, process = self.slow_stage()
                begin = time.monotonic()
                self.signal_rank(2, number)
                self.addCleanup(self.signal_rank, 2, KILL)
                said = self.finish(process)
                self.assertLess(time.monotonic() - begin, SECONDS_MAX + 5)
                self.assertNotEqual(process.returncode, 0)
                if number == STOP:
                    self.assertIn("node 2", said)
                self.expect_no_view([2])
                self.stage_by(3, 3)
                self.expect_whole(source, range(3))

    @unittest.skipUnless(os.environ.get("SABATH_SLOW_WRITES"), "nothing is preloaded into this build")
    def test_a_slow_node_is_named_and_waited_for(self):
        source = self.asset(big=128 * MIB, small=0)
        self.sabath.run("fetch", "set")
        preload = f"[ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = 2 ] && export LD_PRELOAD={os.environ['SABATH_SLOW_WRITES']}"
        command = [program.BINARY, *map(str, self.arguments(4, "--json", "--threads", "1"))]
        process = self.launch(4, ["sh", "-c", preload + '; exec "$0" "$@"', *command], SLOW_WRITES_MS="500")
        out, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, said)
        (asset,) = json.loads(out)["assets"]
        self.assertRegex(said, r"node 2 \(.*\) keeps the others waiting")
        self.assertEqual(len(asset["stragglers"]), 1, asset)
        self.expect_whole(source, range(4))

    def test_a_signal_to_one_rank_stops_all(self):
        for rank, number, code in ((1, TERM, 143), (0, INT, 130)):
            with self.subTest(rank=rank):
                shutil.rmtree(self.home / "source", ignore_errors=True)
                shutil.rmtree(self.disks, ignore_errors=True)
                source = self.asset(big=400 * MIB, small=0)
                self.sabath.run("fetch", "set")
                process = self.start(3, *self.arguments(3))
                assert poll(lambda: chunks_done(self.disks / "2/.sabath") >= 1), "nothing has arrived"
                self.signal_rank(rank, number)
                begin = time.monotonic()
                self.finish(process)
                self.assertLess(time.monotonic() - begin, SECONDS_MAX)
                self.expect_codes(code)
                again = self.stage_by(3, 3)
                self.assertLess(again["bytes_from_shared"], self.size, "what had arrived stays")
                self.expect_whole(source, range(3))


if __name__ == "__main__":
    main()
