#!/usr/bin/python3
"""The promises of the options of `fetch`."""

import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from support.case import Case, main, place
from support.content import archive_bytes, fragment, seeded, small_tree, snapshot
from support.origin import poll
from support.program import finish, interrupt

MIB = 1 << 20


class Local(Case):
    """--path and --link: a file that is here already, verified and never believed."""

    def setUp(self):
        super().setUp()
        self.data = seeded(5_000_000)
        self.server = self.serve({"f.bin": self.data})
        self.sabath.add("one", [fragment(self.server.url("f.bin"), self.data)])
        self.file = self.home / "mine" / "another name.bin"
        place(self.file, self.data)

    def test_path(self):
        """Under the fragment's name in the view, not under the user's."""
        asset = self.fetch("one", "--path", self.file)
        self.expect_tree(asset["path"], {"f.bin": self.data})
        self.assertEqual(self.server.log(), [])
        self.file.unlink()
        self.expect(self.sabath.run("verify"))

    def test_link(self):
        asset = self.fetch("one", "--link", self.file)
        self.expect_tree(asset["path"], {"f.bin": self.data})
        self.assertEqual(self.server.log(), [])
        self.assertEqual(self.file.read_bytes(), self.data)
        self.assertEqual(self.sabath.run("path", "one").lines, [asset["path"]])
        self.assertEqual(self.fetch("one")["fetched_bytes"], 0)

    def test_wrong_bytes_are_refused(self):
        place(self.file, self.data[:-1] + b"?")
        for option in ("--path", "--link"):
            with self.subTest(option):
                asset = self.fetch("one", option, self.file, code=7)
                self.assertEqual(asset["failures"][0]["kind"], "content")
                self.assertEqual(self.sabath.visible(), [])
                self.assertEqual(self.file.read_bytes()[-1:], b"?")

    def test_wrong_length_is_refused(self):
        place(self.file, self.data + b"!")
        self.fetch("one", "--path", self.file, code=7)
        self.assertEqual(self.sabath.visible(), [])

    def test_no_such_file(self):
        self.assertNotEqual(self.sabath.fetch("one", "--path", self.home / "none").exit, 0)
        self.assertEqual(self.server.log(), [])

    def test_one_of_two_fragments(self):
        """What is given is taken in the order of the recipe; the rest is fetched."""
        place(self.server.root / "g.bin", b"more")
        self.sabath.add("two", [fragment(self.server.url(n), name=n) for n in ("f.bin", "g.bin")])
        asset = self.fetch("two", "--path", self.file)
        self.expect_tree(asset["path"], {"f.bin": self.data, "g.bin": b"more"})
        self.assertEqual([request.uri for request in self.server.log()], ["/g.bin"])

    def test_archive(self):
        packed = archive_bytes("tar.gz", small_tree())
        place(self.home / "mine/a.tgz", packed)
        self.sabath.add("archive", [fragment(self.server.url("a.tgz"), packed, kind="archive")])
        asset = self.fetch("archive", "--path", self.home / "mine/a.tgz")
        self.expect_tree(asset["path"], small_tree())
        self.assertEqual(self.server.log(), [])


class Belief(Case):
    """--force believes nothing, --refresh asks, --offline may not."""

    def setUp(self):
        super().setUp()
        self.data = seeded(5_000_000)
        self.server = self.serve({"f.bin": self.data})
        self.sabath.add("one", [fragment(self.server.url("f.bin"))])

    def test_force_moves_again(self):
        first = self.fetch("one")
        before = self.server.log()
        asset = self.fetch("one", "--force")
        self.expect_moved(asset, len(self.data), self.server.new_requests(before))
        self.assertEqual(asset["path"], first["path"])
        self.expect_log(asset, self.server.new_requests(before))
        self.expect_tree(asset["path"], {"f.bin": self.data})

    def test_force_of_a_pinned_asset_reads_it_again(self):
        """Files that still have the pinned hash need not move; rotten ones do."""
        data = seeded(20 * MIB)
        place(self.home / "tree/f.bin", data)
        place(self.server.root / "f.bin", data)
        manifest = self.home / "f.manifest"
        self.expect(self.sabath.run("manifest", "create", self.home / "tree", "-o", manifest))
        file = pathlib.Path(self.fetch("one", "--manifest", manifest)["path"]) / "f.bin"
        self.assertEqual(self.fetch("one", "--manifest", manifest, "--force")["fetched_bytes"], 0)
        file.chmod(0o644)
        with file.open("r+b") as rotten:
            rotten.seek(9 * MIB)
            rotten.write(b"rot")
        asset = self.fetch("one", "--manifest", manifest, "--force")
        self.assertGreater(asset["fetched_bytes"], 0)
        self.expect_tree(asset["path"], {"f.bin": data})

    def test_refresh_of_what_did_not_change(self):
        first = self.fetch("one")
        before = self.server.log()
        asset = self.fetch("one", "--refresh")
        requests = self.server.new_requests(before)
        self.assertEqual(len(requests), 1, requests)
        self.assertEqual(asset["path"], first["path"])
        self.assertLess(asset["fetched_bytes"], MIB)

    def test_refresh_of_what_changed(self):
        first = self.fetch("one")
        new = seeded(4_000_000, 9)
        place(self.server.root / "f.bin", new)
        self.assertEqual(self.fetch("one")["path"], first["path"])
        asset = self.fetch("one", "--refresh")
        self.expect_tree(asset["path"], {"f.bin": new})
        self.assertEqual(self.sabath.run("path", "one").lines, [asset["path"]])
        self.expect_tree(first["path"], {"f.bin": self.data})

    def test_refresh_of_a_list_finds_what_changed_behind_it(self):
        place(self.server.root / "list.txt", b"f.bin\n")
        self.sabath.add("list", [fragment(self.server.url("list.txt"), kind="file_list")])
        self.fetch("list")
        new = seeded(4_000_000, 9)
        place(self.server.root / "f.bin", new)
        asset = self.fetch("list", "--refresh")
        self.expect_tree(asset["path"], {"list.txt": b"f.bin\n", "f.bin": new})

    def test_offline_says_what_is_missing(self):
        asset = self.fetch("one", "--offline", code=9)
        self.assertEqual(asset["failures"][0]["kind"], "offline")
        place(self.server.root / "g.bin", b"more")
        self.sabath.add("two", [fragment(self.server.url(n), name=n) for n in ("f.bin", "g.bin")])
        path = self.fetch("two")["path"]
        for file in [*(self.sabath.store / "objects").rglob("*"), pathlib.Path(path) / "g.bin"]:
            if file.is_file() and file.stat().st_size == 4:
                file.parent.chmod(0o755)
                file.unlink()
        asset = self.fetch("two", "--offline", code=9)
        self.assertIn("g.bin", " ".join(failure["message"] for failure in asset["failures"]))
        self.assertNotIn("f.bin", " ".join(failure["message"] for failure in asset["failures"]))

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_offline_opens_no_socket(self):
        if subprocess.run(["strace", "-o", "/dev/null", "true"], check=False, capture_output=True).returncode:
            self.skipTest("strace may not trace here")
        self.sabath.add("never", [fragment(self.server.url("g.bin"))])
        self.fetch("one")
        # LeakSanitizer traces too, and only one may.
        leaks = self.sabath.environment.get("ASAN_OPTIONS", "")
        self.sabath.environment["ASAN_OPTIONS"] = f"{leaks}:detect_leaks=0"
        trace = self.home / "trace"
        prefix = ("strace", "-f", "-o", str(trace), "-e", "trace=socket,connect")
        for name, code in (("one", 0), ("never", 9)):
            with self.subTest(name):
                self.fetch(name, "--offline", code=code, prefix=prefix)
                calls = [line for line in trace.read_text().splitlines() if "socket(" in line or "connect(" in line]
                self.assertEqual([line for line in calls if "AF_INET" in line], [])
                self.fetch(name, code=code, prefix=prefix, SABATH_OFFLINE="1")
                self.assertNotIn("AF_INET", trace.read_text())


class Manners(Case):
    def setUp(self):
        super().setUp()
        self.data = seeded(2 * MIB)
        self.server = self.serve({"f.bin": self.data})
        self.sabath.add("one", [fragment(self.server.url("f.bin"), self.data)])

    def test_dry_run_touches_nothing(self):
        before = snapshot(self.home)
        asset = self.fetch("one", "--dry-run")
        self.assertEqual((asset["to_fetch_bytes"], asset["fetched_bytes"]), (len(self.data), 0))
        self.assertFalse(self.sabath.store.exists())
        self.fetch("one")
        requests = self.server.log()
        before = snapshot(self.sabath.store)
        asset = self.fetch("one", "--dry-run")
        self.assertEqual((asset["to_fetch_bytes"], asset["reused_bytes"]), (0, len(self.data)))
        self.assertEqual(snapshot(self.sabath.store), before)
        self.assertEqual(self.server.log(), requests)

    def test_limit_rate(self):
        asset = self.fetch("one", "--limit-rate", "1M")
        self.assertGreater(asset["seconds"], 1.5)
        self.assertLess(asset["seconds"], 15)  # of 8 Mbit/s, were it bits
        self.expect_tree(asset["path"], {"f.bin": self.data})

    def test_quiet(self):
        result = self.expect(self.sabath.run("fetch", "-q", "one"))
        self.assertEqual(result.err, "")
        self.assertEqual(len(result.lines), 1)
        self.assertTrue(pathlib.Path(result.lines[0]).is_dir())

    def test_quiet_still_says_why_it_failed(self):
        (self.server.root / "f.bin").unlink()
        result = self.sabath.run("fetch", "-q", "one")
        self.assertEqual((result.exit, result.out), (6, ""))
        self.assertIn("404", result.err)

    def test_lanes_are_connections(self):
        for lanes in (1, 3):
            self.fetch("one", "--force", "--lanes", lanes)

    def test_several_at_once_on_one_line(self):
        self.sabath.add("two", [fragment(self.server.url("f.bin"), path="g.bin")])
        result = self.expect(self.sabath.fetch("one", "-d", "two"))
        self.assertEqual([asset["name"] for asset in result.record["assets"]], ["one", "two"])

    def test_one_fails_and_the_other_is_there(self):
        self.sabath.add("gone", [fragment(self.server.url("none.bin"))])
        result = self.sabath.fetch("gone", "one")
        self.assertEqual(result.exit, 6)
        gone, one = result.record["assets"]
        self.assertIsNone(gone["path"])
        self.expect_tree(one["path"], {"f.bin": self.data})


class Together(Case):
    """More than one process, or one that is asked to stop."""

    def setUp(self):
        super().setUp()
        self.size = 48 * MIB
        self.data = seeded(self.size)
        self.server = self.serve({"f.bin": self.data}, extra="limit_rate 3m;")
        self.sabath.add("one", [fragment(self.server.url("f.bin"), self.data)])

    def manifest(self):
        file = self.home / "f.manifest"
        place(self.home / "tree/f.bin", self.data)
        self.expect(self.sabath.run("manifest", "create", self.home / "tree", "-o", file))
        return file

    def test_a_model_whose_code_stands_beside_its_recipe(self):
        """Nothing of it is fetched but its dataset; alone it has no source."""
        server = self.serve({"f": b"1"})
        self.sabath.add("points", [fragment(server.url("f"))])
        self.sabath.add("line", kind="model", source="code", default_dataset="points", run={"points": [{"argv": ["true"]}]})
        (self.sabath.recipes / "models/code").mkdir()
        self.assertEqual(self.fetch("line")["name"], "points")
        self.fetch("-m", "line", code=2)

    def test_two_processes(self):
        for name, arguments in (("whole", ()), ("chunks", ("--manifest", self.manifest()))):
            with self.subTest(name):
                shutil.rmtree(self.sabath.store, ignore_errors=True)
                processes = [self.sabath.start("fetch", "--json", "one", *arguments) for _ in range(2)]
                for process in processes:
                    asset = self.expect(finish(process)).asset
                    self.expect_tree(asset["path"], {"f.bin": self.data})
                self.expect(self.sabath.run("verify"))
                self.assertEqual(self.sabath.run("du", "--json").record["partial_bytes"], 0)

    def test_signals(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for arguments in ((), ("--manifest", self.manifest())):
                with self.subTest(signal=number, arguments=arguments):
                    shutil.rmtree(self.sabath.store, ignore_errors=True)
                    process = self.sabath.start("fetch", "--json", "one", *arguments)
                    self.assertTrue(poll(lambda: bytes_here(self.sabath.store) > 9 * MIB))
                    result = interrupt(process, number)
                    self.assertEqual(result.exit, code, result.err)
                    self.assertLess(result.seconds, 60)
                    self.assertEqual(result.record["exit"], code)
                    before = self.server.log()
                    asset = self.fetch("one", *arguments)
                    self.assertGreater(asset["reused_bytes"], 8 * MIB)
                    self.expect_moved(asset, self.size - asset["reused_bytes"], self.server.new_requests(before))
                    self.expect_tree(asset["path"], {"f.bin": self.data})

    def test_what_was_whole_before_a_kill_is_kept(self):
        """Of an asset of several files, and of a list, not only of the file that was on its way."""
        small = {f"s/{i}.bin": seeded(3 * MIB, i) for i in range(8)}
        for name, data in small.items():
            place(self.server.root / name, data)
        place(self.server.root / "s/list.txt", "".join(f"{i}.bin\n" for i in range(8)).encode())
        files = [fragment(self.server.url(name), name=name) for name in ("f.bin", "s/0.bin", "s/1.bin")]
        for entry in files:
            entry["id"] = entry["id"].replace("/", "-")
        cases = {"files": files, "list": [fragment(self.server.url("s/list.txt"), kind="file_list")]}
        for name, fragments in cases.items():
            with self.subTest(name):
                self.sabath.add(name, fragments)
                before = self.server.log()
                process = self.sabath.start("fetch", name, "--lanes", 1, "--limit-rate", "16M")
                self.assertTrue(poll(lambda: len(self.sabath.visible()) >= 2))
                process.kill()
                finish(process)
                asset = self.fetch(name)
                self.assertGreater(asset["reused_bytes"], 2 * MIB)
                uris = [request.uri for request in self.server.new_requests(before) if request.status == 200]
                self.assertLessEqual(len(uris) - len(set(uris)), 2, uris)

    def test_another_rewrite_rule_goes_on_with_what_is_here(self):
        """A mirror that went away, or a test server on another port, costs nothing."""
        data = {"checksum": fragment("http://site.invalid/f.bin", self.data)["checksum"], "size": self.size}
        self.sabath.add("one", [fragment("http://site.invalid/f.bin", **data)])
        rule = f"http://site.invalid/={self.server.url()}"
        process = self.sabath.start("fetch", "--json", "one", "--rewrite", rule)
        self.assertTrue(poll(lambda: bytes_here(self.sabath.store) > 9 * MIB))
        interrupt(process, signal.SIGTERM)
        other = self.serve(name="other", root=self.server.root)
        asset = self.fetch("one", "--rewrite", f"http://site.invalid/={other.url()}")
        self.assertGreater(asset["reused_bytes"], 8 * MIB)
        self.expect_log(asset, other.log())
        self.expect_tree(asset["path"], {"f.bin": self.data})

    def test_a_second_signal_ends_it_at_once(self):
        process = self.sabath.start("fetch", "one")
        self.assertTrue(poll(lambda: bytes_here(self.sabath.store) > 4 * MIB))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(interrupt(process, signal.SIGINT).exit, 130)

    def test_a_launcher_sends_its_signal_twice(self):
        """Slurm does, to the step and by srun: it is one stop, which ends with a record."""
        process = self.sabath.start("fetch", "--json", "one")
        self.assertTrue(poll(lambda: bytes_here(self.sabath.store) > 4 * MIB))
        process.send_signal(signal.SIGTERM)
        time.sleep(0.01)
        result = interrupt(process, signal.SIGTERM)
        self.assertEqual(result.exit, 143)
        self.assertEqual(result.record["exit"], 143)


def bytes_here(store):
    """Of chunks that are whole, by the journals' records of type 3: room may be taken before the bytes come."""
    journals = [file.read_bytes() for file in (store / "partial").rglob("journal.*") if file.exists()]
    done = sum(journal[at + 12] == 3 for journal in journals for at in range(0, len(journal) - 63, 64))
    return done * 4 * MIB



if __name__ == "__main__":
    main()
