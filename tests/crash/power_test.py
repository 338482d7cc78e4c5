#!/usr/bin/python3
"""Power that goes at random moments of a command: what was not synced is there, torn, or lost. No object is ever wrong.

disk_model.py says what may be lost. For each moment several disks are made: the worst of each kind, and random ones. On
each, every file under objects/ and views/ has the right bytes, a reader gets right bytes or a refusal, and the next run
succeeds. After the command has ended, all that it said to be there is there. Evidence of before is not believed on
these disks (their inodes have other numbers), so objects and views are looked at by the test itself. SABATH_SEED repeats
a run; SABATH_CRASH_ROUNDS is a number of moments, at most 40.
"""

import pathlib
import random
import shutil

import disk_model
from support.at_call import CHUNK, ROUNDS, SEED, StoreCase, skip_unless_traceable
from support.case import main, use_memory


MOMENTS = min(40, max(3, ROUNDS))  # of each command, besides its end
KINDS = "make,write,size,mode,mkdir,remove,rename,link,clone,sync"
CONTENT, PARTIAL = 7, 8  # exit codes: wrong bytes; some are not there
REFUSED = (3, 9, 12)  # no store yet, not in it, damaged
FETCH = ("fetch", "-q", "mixed", "--lanes", 1)


class Power(StoreCase):
    def lose_power(self, name, command=FETCH, template=None, kept=False, assets=("mixed",), moments=MOMENTS):
        """`kept`: when the command has ended, the assets are there after every loss that ext4 and XFS allow."""
        user = self.new_store(name, template)
        base = user.store if template else pathlib.Path("/nonexistent")
        disk = disk_model.Disk(base, [])
        record = user.home / "changes"
        self.at(user, ("--ops", KINDS, "--record", record), command, code=0)
        disk.changes = disk_model.parse(record.read_bytes())
        choose = random.Random(SEED)
        end = len(disk.changes)
        moments = sorted(choose.sample(range(1, end), min(moments, end - 1))) + [end]
        disks = [(moment, way) for moment in moments for way in range(len(WAYS))]

        def look(one):
            self.look(disk, user, command, *one, assets, kept and one[0] == end and one[1] in AS_EXT4)

        self.each(disks, look)
        syncs = sum(change[0].startswith("sync") for change in disk.changes)
        print(f"{name}: {end} changes, {syncs} of them syncs; {len(moments)} moments, {len(disks)} disks", flush=True)

    def look(self, disk, recorded, command, moment, way, assets, kept):
        choose = random.Random(SEED * 1000003 + moment * 31 + way)
        names, bytes_of = WAYS[way]
        user = self.new_store(f"{recorded.home.name}-{moment}-{way}")
        tree = disk.after(moment, names, choose)
        tree.lay_out(user.store, bytes_of(choose))
        last = disk.changes[moment - 1]
        self.expect_nothing_wrong(user, f"after {last[:3]}")
        for asset in assets:
            read = user.fetch(asset, "--offline")
            self.assertIn(read.exit, (0,) if kept else (0, *REFUSED), f"after {last[:3]}\n{read.out}\n{read.err}")
            if read.exit == 0:
                self.expect_right(user, asset, read.asset["path"])
        if (user.store / "format").exists():
            # What is published names nothing that is lost; what was being put aside or taken back may be missed.
            lacks = () if command[0] == "fetch" else (PARTIAL,)
            self.assertIn(user.run("verify", "-q").exit, (0, CONTENT, *lacks))
        if command[0] != "fetch":
            self.expect(user.run(*command))
        self.expect_whole(user, assets)
        for asset in self.packed.keys() & set(assets):
            self.expect_right(user, asset, None)
        self.expect(user.run("verify", "-q"))
        shutil.rmtree(user.home)

    def expect_right(self, user, asset, path):
        """What a reader gets; what is packed has no view until one is made of it."""
        if path is None:
            path = user.home / f"view-{asset}"
            self.expect(user.run("view", "-q", asset, "--to", path))
        self.expect_tree(path, self.packed.get(asset, self.tree))
        if asset in self.packed:
            shutil.rmtree(path)

    def test_fetch(self):
        self.lose_power("fetch", kept=True)

    def test_fetch_of_known_chunks(self):
        manifest = self.home / "mixed.manifest"
        self.expect(self.new_store("known-source").fetch("mixed"))
        tree = self.home / "tree"
        shutil.copytree(self.new_store("again").fetch("mixed").asset["path"], tree)
        self.expect(self.sabath.run("manifest", "create", tree, "-o", manifest))
        self.lose_power("known", (*FETCH, "--manifest", manifest), kept=False)

    def test_a_view_is_mended(self):
        template = self.fetched("view")
        view = pathlib.Path(template.fetch("mixed").asset["path"])
        (view / "small.bin").unlink()
        (view / "in/run.sh").unlink()
        self.lose_power("mended", template=template, kept=True)

    def test_collection_and_its_end(self):
        template = self.fetched("collect", "other")
        how = ("gc", "-q", "--older-than", "0s", "--grace", "0s", "--partials", "0s", "--force-local")
        self.lose_power("collected", how, template)
        self.expect(template.run(*how))
        self.lose_power("undone", ("gc", "-q", "--undo"), template)
        self.lose_power("emptied", ("gc", "-q", "--window", "0s"), template)

    def test_packs(self):
        """Written, written anew without what is not wanted any more, and without what is damaged."""
        self.add_packed()
        few = max(1, MOMENTS // 5)
        fetch = ("fetch", "-q", "first", "--lanes", 1)
        self.lose_power("packed", fetch, kept=True, assets=("first",), moments=few)
        template = self.new_store("packs")
        for name in ("first", "second"):
            self.expect(template.fetch(name))
        (pack, *_) = sorted((template.store / "packs").iterdir())
        bent = self.new_store("bent", template)
        flip(bent.store / "packs" / pack.name, 5000)
        self.expect(bent.run("verify", "-q"), CONTENT)
        both = ("first", "second")
        self.lose_power("packs-repaired", ("verify", "-q", "--repair"), bent, kept=True, assets=both, moments=few)
        self.expect(template.run("keep", "second"))
        how = ("gc", "-q", "--older-than", "0s", "--grace", "0s", "--partials", "0s", "--force-local")
        self.lose_power("repacked", how, template, assets=both, moments=few)
        self.lose_power("repacked-now", (*how, "--now"), template, assets=("second",), moments=few)

    def test_repair(self):
        template = self.fetched("damaged")
        (found,) = (template.store / "objects").glob(f"*/*.{len(self.files['large.bin'])}")
        flip(found, CHUNK + 9)
        self.expect(template.run("verify", "-q"), CONTENT)
        self.lose_power("repaired", ("verify", "-q", "--repair"), template, kept=True)


def flip(file, offset):
    file.chmod(0o644)
    with open(file, "r+b") as data:
        data.seek(offset)
        data.write(b"\xff\x00\xff")


WAYS = (
    (disk_model.all_names, lambda choose: disk_model.dropped),
    (disk_model.all_names, lambda choose: disk_model.zeros),
    (disk_model.all_names, disk_model.torn),
    (disk_model.journal, disk_model.torn),
    (disk_model.directories, lambda choose: disk_model.kept),
    (disk_model.directories, disk_model.torn),
)

AS_EXT4 = range(4)  # of WAYS; only there does one sync keep all names that were made before it

if __name__ == "__main__":
    skip_unless_traceable()
    use_memory()
    main()
