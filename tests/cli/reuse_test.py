#!/usr/bin/python3
"""Content of the store is not fetched again: whole files, and chunks of a new version. The server's log is the witness.

SABATH_REUSE_MIB: size of the updated file, default 256.
"""

import os
import shutil
import subprocess
import tempfile

from support.case import Case, main, place, remove
from support.content import fragment
from support.mounts import mounted
from support.program import Sabath

CHUNK = 4 << 20
MIB = int(os.environ.get("SABATH_REUSE_MIB", "256"))


def chunk(number):
    """4 MiB that no other number has, quickly made."""
    return number.to_bytes(8, "little") * (CHUNK // 8)


def write_chunks(file, numbers, tail=b""):
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "wb") as out:
        for number in numbers:
            out.write(chunk(number))
        out.write(tail)


def used_bytes(directory):
    """Of the whole filesystem: shared blocks count once."""
    os.sync()
    status = os.statvfs(directory)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def asked_bytes(server, requests):
    """What stands in the log as ranges. On a busy machine a late lane's bytes are asked for twice, and count once."""
    chunks = set()
    total = 0
    for request in requests:
        size = (server.root / request.uri.lstrip("/")).stat().st_size
        begin, end = 0, size
        if request.range:
            first, _, last = request.range.removeprefix("bytes=").partition("-")
            begin, end = int(first), min(size, int(last) + 1 if last else size)
        at = begin
        while at < end:
            chunk_end = min((at // CHUNK + 1) * CHUNK, size)
            if (request.uri, at // CHUNK) not in chunks:
                chunks.add((request.uri, at // CHUNK))
                total += chunk_end - at // CHUNK * CHUNK
            at = chunk_end
    return total


class Reuse(Case):
    def pinned(self, name, server, root, **recipe):
        """A recipe of the files below `root` of the server, pinned by a manifest that the server has, too."""
        manifest = server.root / f"{name}.manifest"
        made = self.expect(self.sabath.run("manifest", "create", server.root / root, "-o", manifest, "--json"))
        files = sorted(p for p in (server.root / root).rglob("*") if p.is_file())
        fragments = [
            fragment(server.url(f"{root}/{p.relative_to(server.root / root)}"), name=f"f{i}",
                     path=str(p.relative_to(server.root / root)))
            for i, p in enumerate(files)
        ]
        pin = {"digest": made.record["manifest"], "urls": [server.url(f"{name}.manifest")]}
        self.sabath.add(name, fragments, manifest=pin, **recipe)

    def fetch_counted(self, name, server, *arguments):
        """The record, and how many bytes of content the server was asked for, each counted once."""
        before = server.log()
        asset = self.fetch(name, *arguments)
        asked = [request for request in server.new_requests(before) if not request.uri.endswith(".manifest")]
        return asset, asked_bytes(server, asked)

    def test_update_of_a_large_file(self):
        server = self.serve()
        count = MIB // 4
        numbers = list(range(count))
        write_chunks(server.root / "v1" / "data.bin", numbers, b"the end")
        changed = max(1, count // 100)
        for i in range(changed):
            numbers[(i * 97 + 5) % count] = 1_000_000 + i
        write_chunks(server.root / "v2" / "data.bin", numbers, b"the end")
        self.pinned("big", server, "v1")
        self.fetch_counted("big", server)
        self.pinned("big", server, "v2")
        planned = self.plan("big")
        (told,) = planned["assets"]
        asset, sent = self.fetch_counted("big", server)
        self.assertEqual(asset["reused"], {"source": 0, "content": 0, "chunk": told["by_chunk_bytes"], "partial": 0})
        self.assertEqual(asset["reused_bytes"], told["by_chunk_bytes"])
        self.assertEqual(planned["bytes_to_fetch"], sent)
        part = sent / asset["bytes"]
        print(f"update of {MIB} MiB, {changed} of {count} chunks changed: {sent} bytes fetched, {part:.2%}", flush=True)
        self.assertLessEqual(part, 0.02)
        self.assertGreaterEqual(asset["reused_bytes"], asset["bytes"] - (changed + 1) * CHUNK)
        self.assertEqual(subprocess.run(["cmp", f"{asset['path']}/data.bin", server.root / "v2/data.bin"]).returncode, 0)

    def plan(self, name, *arguments):
        """The plan's record: nothing of the content is asked for."""
        return self.expect(self.sabath.run("plan", "--json", name, *arguments)).record

    def test_the_plan_says_each_level_before_a_byte_moves(self):
        server = self.serve()
        write_chunks(server.root / "a" / "x", range(4))
        place(server.root / "a" / "small", b"here already")
        write_chunks(server.root / "b" / "x", [9, 1, 2, 1, 8], b"end")
        place(server.root / "b" / "same", b"here already")
        self.pinned("a", server, "a")
        self.pinned("b", server, "b")
        self.fetch_counted("a", server)
        before = server.log()
        planned = self.plan("b")
        (told,) = planned["assets"]
        self.assertEqual([request.uri for request in server.new_requests(before)], ["/b.manifest"])
        self.assertEqual(planned["requests"], 1)
        self.assertEqual((told["by_content"]["bytes"], told["by_chunk_bytes"]), (12, 3 * CHUNK))
        self.assertEqual(planned["bytes_to_fetch"], 2 * CHUNK + 3)
        self.assertIn("are chunks that are here", self.expect(self.sabath.run("plan", "b")).out)
        self.assertEqual(self.plan("b", "--force")["assets"][0]["by_chunk_bytes"], 0)
        asset, sent = self.fetch_counted("b", server)
        self.assertEqual(planned["bytes_to_fetch"], sent)
        self.assertEqual(asset["reused"], {"source": 0, "content": 12, "chunk": 3 * CHUNK, "partial": 0})
        again = self.fetch("b")
        self.assertEqual(again["reused"], {"source": asset["bytes"], "content": 0, "chunk": 0, "partial": 0})

    def test_the_plan_counts_what_an_earlier_try_left_once(self):
        server = self.serve()
        write_chunks(server.root / "a" / "x", [0, 1])
        write_chunks(server.root / "b" / "x", [1, 2, 3, 4])
        self.pinned("a", server, "a")
        self.pinned("b", server, "b")
        self.fetch_counted("a", server)
        write_chunks(server.root / "b" / "x", [1, 2, 7, 4])  # chunk 2 is not what the manifest says
        self.expect(self.sabath.fetch("b"), 7)
        planned = self.plan("b")
        (told,) = planned["assets"]
        here = told["in_partials_bytes"] + told["by_chunk_bytes"]  # the fetch may have ended before the last good chunk
        self.assertIn(here, (CHUNK, 2 * CHUNK, 3 * CHUNK))
        self.assertGreater(told["in_partials_bytes"], 0)
        write_chunks(server.root / "b" / "x", [1, 2, 3, 4])
        asset, sent = self.fetch_counted("b", server)
        self.assertEqual(planned["bytes_to_fetch"], sent)
        self.assertEqual(sent + here, 4 * CHUNK)
        self.assertEqual(asset["reused"]["chunk"], told["by_chunk_bytes"])
        self.assertGreaterEqual(asset["reused"]["partial"], told["in_partials_bytes"])  # and what scratch held

    def test_a_plan_without_its_manifest_says_so(self):
        server = self.serve()
        write_chunks(server.root / "a" / "x", [0, 1])
        self.pinned("a", server, "a")
        (server.root / "a.manifest").write_bytes(b"something else")
        planned = self.plan("a")
        self.assertEqual(len(planned["warnings"]), 1)
        self.assertIn("a.manifest", planned["warnings"][0])
        self.assertEqual(self.plan("a", "--offline")["requests"], 0)

    def share_nine_of_ten(self, name="origin"):
        """Two assets; the second has nine chunks of the first at other places. The room that it took."""
        server = self.serve(name=name)
        write_chunks(server.root / "a" / "x.bin", range(10), b"tail")
        write_chunks(server.root / "b" / "sub" / "y.bin", [99, *range(9, 0, -1)], b"tail")
        self.pinned("a", server, "a")
        self.pinned("b", server, "b")
        _, first = self.fetch_counted("a", server)
        self.assertEqual(first, 10 * CHUNK + 4)
        before = used_bytes(self.sabath.store)
        asset, second = self.fetch_counted("b", server)
        self.expect_tree(asset["path"], {"sub/y.bin": (server.root / "b/sub/y.bin").read_bytes()})
        self.assertLessEqual(second, CHUNK + 4)
        return used_bytes(self.sabath.store) - before

    def test_two_assets_that_share_chunks(self):
        self.share_nine_of_ten()

    def test_shared_chunks_are_stored_once_where_blocks_can_be_shared(self):
        for kind in ("btrfs", "xfs"):
            with self.subTest(kind):
                with tempfile.TemporaryDirectory(prefix="sabath-test-") as home:
                    point = mounted(self, kind, home)
                    try:
                        self.sabath = Sabath(point)
                        more = self.share_nine_of_ten(kind)
                    finally:
                        subprocess.run(["umount", point], check=True)
                    print(f"{kind}: the second asset of 40 MiB takes {more / CHUNK:.1f} chunks more", flush=True)
                    self.assertLess(more, 3 * CHUNK)  # its own chunk, and some metadata

    def test_a_renamed_file_and_one_of_another_asset(self):
        server = self.serve()
        write_chunks(server.root / "a" / "old-name", range(3))
        write_chunks(server.root / "b" / "new" / "name", range(3))
        place(server.root / "b" / "small", b"x")
        place(server.root / "a" / "little", b"x")
        self.pinned("a", server, "a")
        self.pinned("b", server, "b")
        self.fetch_counted("a", server)
        asset, sent = self.fetch_counted("b", server)
        self.assertEqual((sent, asset["reused_bytes"]), (0, 3 * CHUNK + 1))

    def test_a_damaged_holder_is_not_copied(self):
        server = self.serve()
        write_chunks(server.root / "a" / "x", range(5))
        write_chunks(server.root / "b" / "x", [7, *range(1, 5)])
        self.pinned("a", server, "a")
        self.pinned("b", server, "b")
        self.fetch_counted("a", server)
        (holder,) = [p for p in (self.sabath.store / "objects").rglob("*") if p.is_file() and p.stat().st_size > CHUNK]
        holder.chmod(0o644)
        with open(holder, "r+b") as file:
            file.seek(2 * CHUNK + 77)
            file.write(b"rot")
        holder.chmod(0o444)
        asset, sent = self.fetch_counted("b", server)
        self.expect_tree(asset["path"], {"x": (server.root / "b/x").read_bytes()})
        self.assertLessEqual(sent, 2 * CHUNK)
        self.fetch("a")
        self.expect(self.sabath.run("verify", "a"))

    def test_force_copies_nothing(self):
        server = self.serve()
        write_chunks(server.root / "a" / "x", range(3))
        write_chunks(server.root / "b" / "x", [8, 1, 2])
        self.pinned("a", server, "a")
        self.pinned("b", server, "b")
        self.fetch_counted("a", server)
        _, sent = self.fetch_counted("b", server, "--force")
        self.assertEqual(sent, 3 * CHUNK)

    def test_the_server_is_not_needed_for_what_is_here(self):
        server = self.serve()
        write_chunks(server.root / "a" / "x", range(4))
        write_chunks(server.root / "b" / "x", [3, 2, 1, 0, 0])
        self.pinned("a", server, "a")
        self.pinned("b", server, "b")
        self.fetch_counted("a", server)
        pin = server.root / "b.manifest"
        kept = self.home / "b.manifest"
        shutil.copy(pin, kept)
        server.stop()
        asset = self.fetch("b", "--manifest", kept)
        self.assertEqual(asset["fetched_bytes"], 0)
        remove(server.root)


if __name__ == "__main__":
    main()
