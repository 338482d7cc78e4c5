#!/usr/bin/python3
"""`stage --to A,B`: each node's files on two disks, small tmpfs here; one view, and each disk's store looks after itself."""

import json
import os
import shutil
import signal

from support.ranks import KILL, STOP, Ranks
from support.case import main
from support.content import flip, fragment, read_tree, seeded, sha256, sha256_file, write_seeded
from support.origin import poll
from support.mounts import enter_own_namespace, mount_memory, need_own_namespace

MIB = 1 << 20
NODES = 3
CONT = signal.SIGCONT
EVERYTHING = ("--now", "--grace", "0s", "--window", "0s", "--max-size", "0", "--force-local")


class Striped(Ranks):
    def setUp(self):
        super().setUp()
        need_own_namespace(self)
        self.disks = self.home / "disks"

    def mount(self, *mebibytes, nodes=NODES):
        """Disks 0, 1, ... of each node."""
        for node in range(nodes):
            for disk, size in enumerate(mebibytes):
                self.directory(node, disk).mkdir(parents=True, exist_ok=True)
                mount_memory(self, self.directory(node, disk), size)

    def directory(self, node, disk):
        return self.disks / str(node) / str(disk)

    def to(self, count=2, node="{node}"):
        return ",".join(str(self.directory(node, disk)) for disk in range(count))

    def asset(self, big=4, small=60):
        source = self.home / "source"
        source.mkdir()
        fragments = []
        for i in range(big):
            write_seeded(source / f"b{i}", 6 * MIB + 1000 * i + 5, seed=100 + i)
        for i in range(small):
            (source / f"s{i}").write_bytes(seeded(i * 4001, i))
        for file in sorted(source.iterdir()):
            checksum = {"sha256": sha256_file(file)}
            fragments.append(fragment(f"file://{file}", name=file.name, path=file.name, checksum=checksum))
        self.sabath.add("set", fragments)
        self.expect(self.sabath.run("fetch", "set"))
        self.tree = read_tree(source)
        self.size = sum(map(len, self.tree.values()))

    def stage(self, *more, code=0, to=None, ranks=NODES):
        arguments = ["stage", "set", "--emulate-nodes", ranks, "--to", to or self.to(), "--json", *more]
        record = json.loads(self.run_ranks(ranks, *arguments, code=code))
        return record["assets"][0]

    def moved(self, asset):
        return asset["bytes_from_shared"], asset["bytes_from_peers"]

    def expect_whole(self, nodes=range(NODES)):
        for node in nodes:
            self.expect_tree(self.directory(node, 0) / "set", self.tree)

    def lying(self, node, disk):
        """Bytes of this disk's own objects."""
        objects = (self.directory(node, disk) / ".sabath/objects").rglob("*")
        return sum(file.stat().st_size for file in objects if file.is_file() and not file.is_symlink())

    def sabath_at(self, node, disk, verb, *arguments, code=0):
        return self.expect(self.sabath.run(verb, "--store", self.directory(node, disk) / ".sabath", *arguments), code)

    def test_what_neither_disk_holds_both_hold_evenly(self):
        self.asset()
        self.mount(24, 24)
        self.assertGreater(self.size, 24 * MIB)
        alone = self.stage(code=5, to=self.directory("{node}", 0))
        self.assertEqual(self.moved(alone), (0, 0))
        asset = self.stage()
        self.assertEqual(self.moved(asset), (self.size, 2 * self.size))
        self.assertEqual(asset["path"], str(self.directory(0, 0) / "set"))
        self.expect_whole()
        for node in range(NODES):
            lying = [self.lying(node, disk) for disk in range(2)]
            self.assertEqual(sum(lying), self.size, "each byte once")
            self.assertLess(max(lying) - min(lying), 0.2 * self.size / 2)
            self.assertEqual(os.listdir(self.directory(node, 1)), [".sabath"])
            for disk in range(2):
                self.sabath_at(node, disk, "verify")
        again = self.stage()
        self.assertEqual(self.moved(again), (0, 0))
        self.assertEqual(again["bytes_present"], NODES * self.size)

    def test_a_wiped_disk_gets_its_own_files_again(self):
        self.asset(small=0)
        self.mount(40, 40)
        self.stage()
        for node, disk in ((1, 1), (2, 0)):
            with self.subTest(disk=disk):
                lost = self.lying(node, disk)
                self.assertGreater(lost, self.size / 4)
                shutil.rmtree(self.directory(node, disk) / ".sabath")
                self.assertEqual(self.moved(self.stage()), (0, lost))
                self.expect_whole()
                self.assertEqual(self.lying(node, 0) + self.lying(node, 1), self.size)

    def test_the_larger_disk_gets_more_and_what_fits_on_none_is_refused(self):
        self.asset()
        self.mount(32, 12, nodes=2)
        self.directory(2, 1).mkdir(parents=True)
        self.directory(2, 0).mkdir()
        mount_memory(self, self.directory(2, 0), 20)
        mount_memory(self, self.directory(2, 1), 4)
        asset = self.stage(code=5)
        (failed,) = asset["failed_nodes"]
        self.assertEqual((failed["node"], failed["kind"]), (2, "space"))
        self.assertRegex(failed["message"], rf"{self.disks}/2/[01]/.sabath, and .* are free")
        self.assertEqual(self.moved(asset), (0, 0))
        self.stage(ranks=2)
        self.expect_whole(range(2))
        self.assertLess(self.lying(0, 1), 12 * MIB)
        self.assertGreater(self.lying(0, 1), 4 * MIB)

    def test_the_collections_of_each_disk_keep_what_the_view_needs(self):
        self.asset()
        self.mount(40, 40, nodes=1)
        self.stage(ranks=1)
        for disk in (1, 0):
            for more in ((), ("--max-size", "0")):
                self.sabath_at(0, disk, "gc", "--now", "--grace", "0s", "--window", "0s", *more)
        self.expect_whole([0])
        self.assertEqual(self.moved(self.stage(ranks=1)), (0, 0))
        self.sabath_at(0, 1, "gc", *EVERYTHING)
        self.assertEqual(self.lying(0, 1), 0)
        lost = self.size - self.lying(0, 0)
        self.assertGreater(lost, self.size / 4)
        self.assertGreaterEqual(self.stage(ranks=1)["bytes_from_shared"], lost)
        self.expect_whole([0])

    def test_collections_meanwhile_take_nothing(self):
        self.asset(big=30, small=0)
        self.mount(160, 160, nodes=1)
        process = self.start(1, "stage", "set", "--to", self.to(node=0))
        self.assertTrue(poll(lambda: self.lying(0, 1) > 0), "nothing has arrived")
        self.signal_rank(0, STOP)
        self.addCleanup(self.signal_rank, 0, KILL)
        for disk in (0, 1):
            self.assertTrue(list((self.directory(0, disk) / ".sabath/leases").iterdir()), "it was over already")
            self.sabath_at(0, disk, "gc", *EVERYTHING)
        self.signal_rank(0, CONT)
        self.finish(process)
        self.expect_codes(0)
        self.expect_whole([0])

    def test_what_has_arrived_in_part_goes_on_where_it_is(self):
        self.asset(big=1, small=0)
        self.mount(40, 40, nodes=1)
        (object_,) = [o for o in (self.sabath.store / "objects").rglob("*") if o.is_file()]
        flip(object_, 5 * MIB)
        self.stage(ranks=1, code=7)
        (partial,) = self.disks.glob("0/*/.sabath/partial/*/data")
        disk = int(partial.relative_to(self.disks).parts[1])
        (self.directory(0, disk) / "others").write_bytes(bytes(10 * MIB))  # anew it would go to the other
        self.expect(self.sabath.run("fetch", "set", "--force"))
        self.assertEqual(self.stage(ranks=1)["bytes_from_shared"], self.size - 4 * MIB)
        self.assertEqual(self.lying(0, disk), self.size)
        self.expect_whole([0])

    def test_shards(self):
        self.asset()
        self.mount(24, 24)
        self.assertEqual(self.moved(self.stage("--mode", "shard")), (self.size, 0))
        found = {}
        for node in range(NODES):
            found.update(read_tree(self.directory(node, 0) / "set"))
            self.assertGreater(self.lying(node, 1), 0)
        self.assertEqual(found, self.tree)
        self.assertEqual(self.moved(self.stage("--mode", "shard")), (0, 0))

    def test_selections(self):
        """Files that a node makes itself lie on its first disk, those that it receives on both; all are remembered."""
        import h5py

        source, fragments = self.home / "source", []
        source.mkdir()
        for i in range(6):
            with h5py.File(source / f"{i}", "w") as file:
                file["full"] = [[i] * 50_000, [7] * 50_000]
            checksum = {"sha256": sha256_file(source / f"{i}")}
            fragments.append(fragment(f"file://{source}/{i}", name=f"f{i}", path=f"{i}", checksum=checksum))
        self.sabath.add("set", fragments)
        self.mount(40, 40)
        self.assertEqual(self.stage("--select", "full[0,:]")["files"], 6)
        for node in range(NODES):
            self.assertEqual(2 * self.lying(node, 1), self.lying(node, 0), "2 of 6 were made here")
            for i in range(6):
                with h5py.File(self.directory(node, 0) / f"set/{i}") as file:
                    self.assertEqual(set(file["full"][...].flatten()), {i})
        self.assertEqual(self.moved(self.stage("--select", "full[0,:]")), (0, 0))

    def test_one_disk_alone_afterwards(self):
        self.asset(small=0)
        self.mount(40, 40, nodes=1)
        self.stage(ranks=1)
        for to in (self.directory(0, 0), f"{self.directory(0, 1)},{self.directory(0, 0)}"):
            self.assertEqual(self.moved(self.stage(ranks=1, to=to)), (0, 0))
        self.expect_whole([0])
        self.expect_tree(self.directory(0, 1) / "set", self.tree)

    def test_unstage_leaves_nothing(self):
        self.asset()
        self.mount(40, 40)
        self.stage()
        arguments = ["unstage", "--emulate-nodes", NODES, "--to", self.to()]
        self.run_ranks(NODES, *arguments, "set")
        self.assertEqual(os.listdir(self.directory(1, 0)), [".sabath"])
        self.run_ranks(NODES, *arguments, "--all")
        for node in range(NODES):
            self.assertEqual(os.listdir(self.directory(node, 0)) + os.listdir(self.directory(node, 1)), [])

    def test_directories_that_are_no_disks_of_their_own_are_refused(self):
        self.asset(big=1, small=3)
        same = self.stage(code=10, to=f"{self.disks}/{{node}}/a,{self.disks}/{{node}}/b")
        self.assertIn("on one filesystem", same["failed_nodes"][0]["message"])
        self.mount(40, 40)
        common = self.stage(code=10, to=f"{self.directory('{node}', 0)},{self.directory(0, 1)}")
        self.assertEqual([node["node"] for node in common["failed_nodes"]], [1, 2])
        self.assertIn("not all of them", common["failed_nodes"][0]["message"])
        self.assertEqual(self.moved(common), (0, 0))
        asset = self.stage(to=self.to(node=0))
        self.assertEqual(self.moved(asset), (self.size, 0), "one node for all that see both")
        self.expect_whole([0])

    def test_lists_by_the_environment_and_by_no_mistake(self):
        self.asset(big=1, small=3)
        self.mount(40, 40, nodes=1)
        for disk in range(2):  # a place of `auto` is its user's alone
            self.directory(0, disk).chmod(0o700)
        out = self.run_ranks(1, "stage", "set", "--to", "auto", SABATH_LOCAL_DIR=self.to(node=0))
        self.assertEqual(out.strip(), str(self.directory(0, 0) / "set"))
        self.assertTrue(self.directory(0, 1).joinpath(".sabath").exists())
        comma = self.directory(0, 0) / "a,b"
        out = self.run_ranks(1, "stage", "set", "--to", "auto", PBS_JOBFS=str(comma))
        self.assertEqual(out.strip(), f"{comma}/set")
        self.run_ranks(1, "stage", "set", "--to", str(comma).replace(",", ",,"))
        self.run_ranks(1, "stage", "set", "--to", comma, code=2)
        self.assertIn(",,", self.text("err", 0))
        self.expect(self.sabath.run("plan", "set", "--to", self.to(node=0)), 2)

    def test_runs_read_through_the_view(self):
        self.asset(big=2, small=5)
        self.mount(40, 40, nodes=1)
        self.stage(ranks=1)
        program = self.sabath.recipes / "models/model/sum.sh"
        program.parent.mkdir()
        program.write_text('cd "$1" && sha256sum *')
        steps = [{"argv": ["sh", "{source}/sum.sh", "{dataset}"]}]
        self.sabath.add("model", kind="model", source="model", run={"set": steps})
        place = self.home / "run"
        self.expect(self.sabath.run("run", "model", "--at", self.directory(0, 0), "--run-dir", place))
        expected = {name: sha256(data) for name, data in self.tree.items()}
        lines = (place / "output/stdout").read_text().splitlines()
        self.assertEqual({name: digest for digest, name in (line.split() for line in lines)}, expected)


if __name__ == "__main__":
    enter_own_namespace()
    main()
