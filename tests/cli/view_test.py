#!/usr/bin/python3
"""`view --to` makes a tree outside the store: copies, links or symlinks, on any filesystem, from a store that no user may write."""

import io
import os
import pathlib
import subprocess
import tarfile

from support.case import Case, main
from support.content import fragment, read_tree, seeded, snapshot
from support.mounts import enter_own_namespace, mount, mount_memory, mounted, need_own_namespace

TREE = {"data/big": seeded(9_000_000), "data/empty": b"", "ünï code": seeded(70_000, 2), "run.sh": b"#!/bin/sh\nexit 0\n"}


def archive():
    """TREE, its script executable, and a symlink."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in TREE.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755 if name == "run.sh" else 0o644
            tar.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("latest")
        link.type, link.linkname = tarfile.SYMTYPE, "data/big"
        tar.addfile(link)
    return buffer.getvalue()


def used_blocks(point):
    """Bytes of a filesystem that are taken when all is on the disk."""
    subprocess.run(["sync", "-f", point], check=True)
    status = os.statvfs(point)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


class Fetched(Case):
    def setUp(self):
        super().setUp()
        server = self.serve({"a.tar": archive()})
        self.sabath.add("one", [fragment(server.url("a.tar"), archive(), "archive")])
        self.fetch("one")

    def view(self, to, *arguments, code=0, **variables):
        return self.expect(self.sabath.run("view", "one", "--to", to, "--json", *arguments, **variables), code)

    def expect_whole(self, to):
        found = read_tree(to)
        self.assertEqual(found.pop("latest"), TREE["data/big"])
        self.assertEqual(found, TREE)
        self.assertEqual(os.readlink(to / "latest"), "data/big")
        self.assertTrue(os.access(to / "run.sh", os.X_OK))
        self.assertEqual([p.name for p in to.parent.iterdir() if "sabath-" in p.name], [])

    def objects(self):
        return {p.stat().st_ino: p for p in (self.sabath.store / "objects").rglob("*") if p.is_file()}


class View(Fetched):
    def test_copies_are_the_users(self):
        to = self.home / "out/mine"
        record = self.view(to).record
        self.assertEqual((pathlib.Path(record["path"]), record["files"]), (to, len(TREE)))
        self.expect_whole(to)
        before = snapshot(to)
        self.assertEqual(self.view(to).record, record)  # the same call finds its own tree
        self.assertEqual(snapshot(to), before)
        for name in TREE:
            self.assertNotIn((to / name).lstat().st_ino, self.objects())
            (to / name).write_bytes(b"mine now")
        self.expect(self.sabath.run("verify"))
        self.assertIn("is there already, and is another tree", self.view(to, code=2).err)
        self.assertEqual((to / "data/big").read_bytes(), b"mine now")

    def test_a_tree_of_links_is_no_copy(self):
        for kind in ("link", "symlink"):
            to = self.home / kind
            self.view(to, "--as", kind)
            self.view(to, "--as", kind)
            if (to / "data/big").is_symlink() or (to / "data/big").stat().st_nlink > 1:  # else it shares blocks
                self.view(to, code=2)

    def test_links_cost_nothing_and_are_known(self):
        to = self.home / "linked"
        self.view(to, "--as", "link")
        self.expect_whole(to)
        for name in TREE:
            self.assertEqual((to / name).stat().st_mode & 0o222, 0, name)
        if (to / "data/big").stat().st_nlink > 1:  # else they share their blocks
            self.assertIn((to / "data/big").stat().st_ino, self.objects())
        quick = self.expect(self.sabath.run("verify", "one", "--quick", "--json")).asset
        self.assertEqual(quick["bad"], [])
        self.expect(self.sabath.run("gc", "--older-than", "0s", "--now"))
        self.assertEqual(self.objects(), {})
        self.expect_whole(to)

    def test_symlinks_lead_into_the_store(self):
        to = self.home / "links"
        self.view(to, "--as", "symlink")
        self.expect_whole(to)
        for name in ("data/big", "ünï code"):
            self.assertEqual(pathlib.Path(os.readlink(to / name)).parents[2], self.sabath.store)
        self.assertFalse((to / "run.sh").is_symlink())  # objects cannot be run

    def test_as_needs_to(self):
        self.assertIn("--to", self.expect(self.sabath.run("view", "one", "--as", "link"), 2).err)
        self.view(self.home / "x", "--as", "hardlink", code=2)
        self.assertFalse((self.home / "x").exists())


class Filesystems(Fetched):
    def setUp(self):
        need_own_namespace(self)
        super().setUp()

    def test_another_filesystem(self):
        disk = self.home / "disk"
        mount_memory(self, disk, 64)
        for kind in ("copy", "link", "symlink"):
            self.view(disk / kind, "--as", kind)
            self.expect_whole(disk / kind)
            is_link = (disk / kind / "data/big").is_symlink()
            self.assertEqual(is_link, kind == "symlink", kind)
        self.expect(self.sabath.run("verify"))

    def test_blocks_are_shared_where_they_can_be(self):
        point = pathlib.Path(mounted(self, "btrfs", self.home))
        self.addCleanup(subprocess.run, ["umount", "-l", point], check=False)
        self.sabath.store = point / "store"
        self.sabath.environment["SABATH_CACHE"] = str(self.sabath.store)
        self.fetch("one")
        for kind in ("copy", "link"):
            before = used_blocks(point)
            self.view(point / kind, "--as", kind)
            self.expect_whole(point / kind)
            self.assertEqual((point / kind / "data/big").stat().st_nlink, 1)
            self.assertLess(used_blocks(point) - before, len(TREE["data/big"]) // 4)
        (point / "copy/data/big").write_bytes(b"mine now")
        self.expect(self.sabath.run("verify"))

    def test_a_full_one_is_left_as_it_was(self):
        disk = self.home / "disk"
        mount_memory(self, disk, 4)
        for kind in ("copy", "link"):
            result = self.view(disk / "out", "--as", kind, code=5)
            self.assertIn("disk", result.err + result.out)
            self.assertEqual(list(disk.iterdir()), [])

    def test_a_store_that_is_read_only_and_stands_elsewhere(self):
        """As in a container: another path, and nothing can be written."""
        inside = self.home / "inside"
        mount(self, inside, "--bind", self.sabath.store)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(inside)], check=True)
        before = snapshot(self.sabath.store)
        for kind in ("copy", "link", "symlink"):
            self.view(self.home / kind, "--as", kind, SABATH_CACHE=str(inside))
            self.expect_whole(self.home / kind)
        self.assertTrue(os.readlink(self.home / "symlink/data/big").startswith(str(inside)))
        path = self.expect(self.sabath.run("path", "one", SABATH_CACHE=str(inside))).out.strip()
        self.assertTrue(path.startswith(str(inside)))
        self.expect_whole(pathlib.Path(path))
        self.assertEqual(snapshot(self.sabath.store), before)


if __name__ == "__main__":
    enter_own_namespace()
    main()
