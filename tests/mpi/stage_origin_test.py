#!/usr/bin/python3
"""`mpirun sabath stage --bypass-shared`: what the shared store lacks goes to the nodes, once, and nowhere else."""

import filecmp
import json
import os
import shutil
import stat
import subprocess
import time

from support.ranks import TERM, Ranks, chunks_done
from support import program
from support.case import main, sent_twice
from support.content import fragment, seeded, write_seeded
from support.mounts import enter_own_namespace, mount, need_own_namespace
from support.origin import body_bytes, free_port, poll

MIB = 1 << 20
SECONDS_MAX = 60
MOVED_MAX = 1.05
# One rank's way to the origin leads nowhere.
CUT_OFF = """#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = "$CUT_OFF_RANK" ] && export http_proxy="$DEAD_PROXY"
exec "$REAL_SABATH" "$@"
"""


def tree_of(directory):
    """Names, kinds, sizes and times of all files below it."""
    entries = {}
    for file in directory.rglob("*") if directory.exists() else []:
        status = file.lstat()
        is_file = not stat.S_ISDIR(status.st_mode)
        entries[str(file.relative_to(directory))] = is_file and (status.st_size, status.st_mtime_ns)
    return entries


class FromOrigin(Ranks):
    def setUp(self):
        super().setUp()
        self.disks = self.home / "disks"
        self.source = self.home / "served/set"

    def asset(self, name="set", big=22 * MIB + 5, small=40, pinned=True, rate="", **more):
        """A recipe of single files at a server, and the server."""
        self.source.mkdir(parents=True)
        write_seeded(self.source / "big", big)
        for i in range(small):
            (self.source / f"s{i:03}").write_bytes(seeded(i * 3001, i))
        extra = f"limit_rate {rate};" if rate else ""
        server = self.serve(root=self.home / "served", extra=extra)
        if pinned:
            file = server.root / f"{name}.manifest"
            made = self.expect(self.sabath.run("manifest", "create", "--json", self.source, "-o", file)).record
            more["manifest"] = {"digest": made["manifest"], "urls": [server.url(f"{name}.manifest")]}
        names = sorted(os.listdir(self.source))
        self.sabath.add(name, [fragment(server.url(f"set/{n}"), name=n, path=n) for n in names], **more)
        self.size = sum(file.stat().st_size for file in self.source.iterdir())
        return server

    def arguments(self, nodes, *more, name="set"):
        to = f"{self.disks}/{{node}}"
        return ["stage", name, "--bypass-shared", "--json", "--emulate-nodes", nodes, "--to", to, *more]

    def stage(self, nodes, *more, code=0, **options):
        out = self.run_ranks(nodes, *self.arguments(nodes, *more), code=code, **options)
        record = json.loads(out)
        self.assertEqual(record["exit"], code)
        (asset,) = record["assets"]
        return asset

    def expect_whole(self, nodes, source=None, name="set"):
        source = source or self.source
        for node in range(nodes):
            names = sorted(os.listdir(source))
            self.assertEqual(sorted(os.listdir(self.disks / str(node) / name)), names)
            compared = filecmp.cmpfiles(source, self.disks / str(node) / name, names, shallow=False)
            self.assertEqual(compared[1:], ([], []))

    def payload(self, requests):
        return [request for request in requests if ".manifest" not in request.uri]

    def expect_once(self, asset, server, seen, size):
        requests = self.payload(server.new_requests(seen))
        self.assertLessEqual(body_bytes(requests) - sent_twice(requests), MOVED_MAX * size)
        self.assertGreaterEqual(body_bytes(requests), size)
        self.assertLessEqual(asset["bytes_from_origin"], body_bytes(requests), "what was cut off was not received")
        self.assertGreaterEqual(asset["bytes_from_origin"], size)

    def stage_anew(self, nodes, server):
        """On empty disks: all of it comes from the origin, once, and goes nowhere but there."""
        shutil.rmtree(self.disks, ignore_errors=True)
        seen = server.log()
        asset = self.stage(nodes)
        self.expect_whole(nodes)
        self.expect_once(asset, server, seen, self.size)
        self.assertFalse(self.sabath.store.exists(), "the shared store was made")
        return asset

    def test_a_pinned_asset_by_parts_without_any_shared_store(self):
        server = self.asset()
        for nodes in (1, 3, 4):
            with self.subTest(nodes=nodes):
                asset = self.stage_anew(nodes, server)
                self.assertEqual((asset["bytes_from_shared"], asset["bytes_present"]), (0, 0))
                self.assertEqual(asset["bytes_from_peers"], (nodes - 1) * self.size)
                self.assertIn("fetch", asset["phases"])
                seen = server.log()
                again = self.stage(nodes)
                self.assertEqual(self.payload(server.new_requests(seen)), [])
                self.assertEqual(again["bytes_from_origin"] + again["bytes_from_peers"], 0)
                self.assertEqual(again["bytes_present"], nodes * self.size)

    def test_a_lost_node_is_fed_by_the_others(self):
        server = self.asset()
        self.stage(3)
        for node in (1, 0):
            shutil.rmtree(self.disks / str(node))
            seen = server.log()
            asset = self.stage(3)
            self.assertEqual(self.payload(server.new_requests(seen)), [])
            self.assertEqual((asset["bytes_from_origin"], asset["bytes_from_peers"]), (0, self.size))
            self.expect_whole(3)

    def test_shards(self):
        server = self.asset()
        seen = server.log()
        asset = self.stage(4, "--mode", "shard")
        self.expect_once(asset, server, seen, self.size)
        self.assertEqual(asset["bytes_from_peers"], 0, "each node fetches what it is to have")
        plan = json.loads((self.disks / "0/set.plan.json").read_text())
        for node, files in enumerate(plan["files"]):
            self.assertEqual(sorted(os.listdir(self.disks / str(node) / "set")), sorted(files))

    def without(self, directory, *names):
        """Takes these files' objects from a store."""
        for name in names:
            size = (self.source / name).stat().st_size
            objects = [f for f in (directory / "objects").rglob("*") if f.is_file() and f.stat().st_size == size]
            self.assertEqual(len(objects), 1)
            objects[0].unlink()

    def test_the_shared_store_gives_what_it_has_and_stays_as_it_is(self):
        server = self.asset()
        self.expect(self.sabath.run("fetch", "set"))
        before = tree_of(self.sabath.store)
        seen = server.log()
        asset = self.stage(3)
        self.assertEqual(self.payload(server.new_requests(seen)), [])
        self.assertEqual((asset["bytes_from_origin"], asset["bytes_from_shared"]), (0, self.size))
        self.assertEqual(tree_of(self.sabath.store), before)
        shutil.rmtree(self.disks)
        self.without(self.sabath.store, "big")
        big = (self.source / "big").stat().st_size
        before = tree_of(self.sabath.store)
        seen = server.log()
        asset = self.stage(3)
        self.expect_once(asset, server, seen, big)
        self.assertEqual(asset["bytes_from_shared"], self.size - big)
        self.expect_whole(3)
        self.assertEqual(tree_of(self.sabath.store), before)

    def test_a_shared_store_that_cannot_be_written(self):
        need_own_namespace(self)
        server = self.asset()
        self.expect(self.sabath.run("fetch", "set"))
        self.without(self.sabath.store, "big")
        mount(self, self.sabath.store, "--bind", str(self.sabath.store))
        subprocess.run(["mount", "-o", "remount,ro,bind", str(self.sabath.store)], check=True)
        self.assertRaises(OSError, (self.sabath.store / "probe").touch)
        seen = server.log()
        asset = self.stage(3)
        self.expect_once(asset, server, seen, (self.source / "big").stat().st_size)
        self.expect_whole(3)

    def test_what_is_not_pinned_is_learnt_by_the_first_node(self):
        server = self.asset(pinned=False)
        for nodes in (1, 4):
            with self.subTest(nodes=nodes):
                self.stage_anew(nodes, server)
                seen = server.log()
                again = self.stage(nodes)
                self.assertEqual(server.new_requests(seen), [])
                self.assertEqual(again["bytes_present"], nodes * self.size)

    def test_what_is_not_published_file_by_file(self):
        """A list of enough files to be packed in a store."""
        tree = {f"{i:04}": seeded(i % 97, i) for i in range(1100)}
        server = self.serve({f"files/{name}": data for name, data in tree.items()})
        (server.root / "list.txt").write_text("".join(f"{server.url('files/' + name)}\n" for name in tree))
        made = self.expect(self.sabath.run("manifest", "create", "--json", server.root / "files", "-o", self.home / "m"))
        self.assertTrue(made.record["manifest"])
        self.sabath.add("many", [fragment(server.url("list.txt"), kind="file_list")])
        out = self.run_ranks(3, *self.arguments(3, name="many"))
        (asset,) = json.loads(out)["assets"]
        self.assertGreaterEqual(asset["bytes_from_origin"], sum(map(len, tree.values())))
        for node in range(3):
            found = {f.name: f.read_bytes() for f in (self.disks / str(node) / "many").rglob("*") if f.is_file()}
            self.assertEqual({name: found.get(name) for name in tree}, tree)
        self.assertFalse(self.sabath.store.exists())

    def test_many_small_files_are_not_packed_on_nodes(self):
        self.asset(big=1, small=0)
        tree = {f"{i:04}": seeded(i % 97 + 1, i) for i in range(2200)}
        for name, data in tree.items():
            (self.source / name).write_bytes(data)
        made = self.expect(self.sabath.run("manifest", "create", "--json", self.source, "-o", self.home / "m")).record
        pin = {"digest": made["manifest"], "urls": [f"file://{self.home}/m"]}
        names = sorted(os.listdir(self.source))
        self.sabath.add("set", [fragment(f"file://{self.source}/{n}", name=n, path=n) for n in names], manifest=pin)
        self.stage(2)
        self.expect_whole(2)
        for node in range(2):
            packed = [f for f in (self.disks / str(node) / ".sabath/packs").rglob("*") if f.is_file()]
            self.assertEqual(packed, [])

    def test_a_node_without_network_leaves_its_part_to_the_others(self):
        server = self.asset()
        wrapper = self.home / "cut-off"
        wrapper.write_text(CUT_OFF)
        wrapper.chmod(0o755)
        real, program.BINARY = program.BINARY, str(wrapper)
        self.addCleanup(setattr, program, "BINARY", real)
        proxy = f"http://127.0.0.1:{free_port()}"
        for rank in (1, 0):
            with self.subTest(rank=rank):
                shutil.rmtree(self.disks, ignore_errors=True)
                seen = server.log()
                named = {"REAL_SABATH": real, "CUT_OFF_RANK": str(rank), "DEAD_PROXY": proxy}
                # Rank 0 asks for the pinned manifest: it knows it from a store.
                self.know_manifest(server)
                asset = self.stage(3, **named)
                self.expect_whole(3)
                self.expect_once(asset, server, seen, self.size)

    def know_manifest(self, server):
        recipe = self.sabath.recipes / "datasets/set.json"
        read = json.loads(recipe.read_text())
        read["manifest"]["urls"] = [f"file://{server.root}/set.manifest"]
        recipe.write_text(json.dumps(read))

    def test_nobody_can_fetch(self):
        server = self.asset()
        server.stop()
        self.know_manifest(server)
        begin = time.monotonic()
        asset = self.stage(3, code=6)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(asset["bytes_from_origin"], 0)

    def test_usage(self):
        self.asset(big=1, small=0)
        for more in (["--no-fetch"], ["--select", "full"]):
            self.run_ranks(2, *self.arguments(2, *more), code=2)
        self.run_ranks(2, *self.arguments(2, "--to", f"{self.home}/a,{self.home}/b"), code=2)

    def test_a_signal_stops_all_and_what_arrived_stays(self):
        for pinned, rank in ((True, 1), (False, 2)):
            with self.subTest(pinned=pinned):
                shutil.rmtree(self.home / "served", ignore_errors=True)
                shutil.rmtree(self.disks, ignore_errors=True)
                server = self.asset(big=64 * MIB, small=0, pinned=pinned, rate="700k", limits={"connections": 3})
                process = self.start(3, *self.arguments(3))
                fetching = [self.disks / f"{node}/.sabath" for node in (range(3) if pinned else [0])]
                assert poll(lambda: all(chunks_done(store) for store in fetching)), "each of them fetches a part"
                self.signal_rank(rank, TERM)
                begin = time.monotonic()
                self.finish(process)
                self.assertLess(time.monotonic() - begin, SECONDS_MAX)
                self.expect_codes(143)
                server.stop()
                server.extra = ""
                server.start()
                seen = server.log()
                self.stage(3)
                self.assertLess(body_bytes(self.payload(server.new_requests(seen))), self.size, "what arrived stays")
                self.expect_whole(3)
                server.stop()


if __name__ == "__main__":
    enter_own_namespace()
    main()
