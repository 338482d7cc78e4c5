"""Disks that are full, without inodes, without permission, and file-size limits: exit 5, before byte one where it can be
known. Each disk is a small tmpfs in a mount namespace of this test's own, which ends with it."""
import io
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tarfile
import tempfile
import threading

from support import program
from support.ground import FaultCase, Ground, main, seeded_bytes
from support.mounts import enter_own_namespace, mount, need_own_namespace
from support.origin import poll
from support.spoken import Spoken, page

MIB = 1 << 20


class SmallDisk(FaultCase):
    """A store on a disk of 8 MiB."""

    options = "size=8m"

    def setUp(self):
        need_own_namespace(self)
        directory = pathlib.Path(tempfile.mkdtemp(prefix="sabath-disk-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.disk = directory / "disk"
        mount(self, self.disk, "-t", "tmpfs", "-o", self.options, "tmpfs")
        self.ground = Ground(self, directory / "user")
        self.ground.store = self.disk / "store"
        self.ground.have_before(self.server.url("/ok?size=5000&seed=7"), self.before)

    def enlarge(self, options):
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.disk)], check=True)


class Bytes(SmallDisk):
    def test_size_of_the_recipe_is_refused_before_byte_one(self):
        origin = Spoken({"/f": page(bytes(1000))})
        self.addCleanup(origin.stop)
        self.ground.recipe("bad", self.ground.fragment(origin.url("/f"), size=64 * MIB))
        self.ground.refused(5, "bad", str(64 * MIB), "are free", hint="--store")
        self.assertEqual(origin.requests, [])

    def test_size_of_the_server_is_refused_before_byte_one(self):
        url = self.server.url(f"/ok?size={64 * MIB}")
        self.ground.recipe("bad", self.ground.fragment(url))
        result = self.ground.refused(5, str(64 * MIB), "are free", hint="--store")
        self.assertEqual(list((self.ground.store / "partial").glob("*/data")), [], result)

    def test_unknown_size_ends_mid_way_and_goes_on_where_there_is_room(self):
        url = self.server.url(f"/chunked?size={12 * MIB}")
        self.ground.recipe("bad", self.ground.fragment(url))
        self.ground.refused(5, "No space left", hint="free")
        self.enlarge("size=64m")
        self.ground.succeeds("bad")
        self.ground.verified()

    def test_what_an_interrupted_fetch_left_is_named_and_freed(self):
        origin = Spoken({"/half": self.half_of(6 * MIB), "/next": page(seeded_bytes(5 * MIB))})
        self.addCleanup(origin.stop)
        self.ground.recipe("half", self.ground.fragment(origin.url("/half")))
        self.ground.recipe("next", self.ground.fragment(origin.url("/next"), size=5 * MIB))
        asked = subprocess.Popen([program.BINARY, "fetch", "half"], env=self.ground.environment(),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(asked.kill)
        partials = self.ground.store / "partial"
        poll(lambda: sum(file.stat().st_blocks * 512 for file in partials.glob("*/*/data")) >= 4 * MIB)
        asked.kill()
        asked.wait()
        refused = self.ground.run("fetch", "next")
        self.assertEqual(refused.exit, 5, refused)
        found = re.search(r"; (\S+) holds (\S+ MB) of an interrupted fetch: the command that began it goes on with it, "
                          r"or `sabath (gc --partials \d+[smhd] --now)` frees it\n", refused.err)  # fmt: skip
        self.assertTrue(found, refused.err)
        self.assertEqual(pathlib.Path(found[1]), next(partials.iterdir()))
        freed = self.ground.run(*found[3].split())  # as it says
        self.assertEqual(freed.exit, 0, freed)
        self.ground.succeeds("next", seeded_bytes(5 * MIB))

    def half_of(self, size):
        def answer(request):
            request.send_response(200)
            request.send_header("Content-Length", str(size))
            request.end_headers()
            request.wfile.write(bytes(range(256)) * (4 * MIB // 256) + bytes(MIB // 2))
            request.wfile.flush()
            self.held.wait()
            request.close_connection = True
            return 200, {}, b""

        self.held = threading.Event()
        self.addCleanup(self.held.set)
        return answer

    def test_an_archive_that_grows_too_large(self):
        import archives_test
        origin = Spoken({"/f.tar": page(archives_test.bomb(64 * MIB), Content_Type="application/x-tar")})
        self.addCleanup(origin.stop)
        self.ground.recipe("bad", self.ground.fragment(origin.url("/f.tar"), "archive"))
        self.ground.refused(5)  # by the guard, or by the disk itself a moment later
        self.enlarge("size=256m")
        self.ground.succeeds("bad")

    def test_a_full_disk_still_serves_what_it_has(self):
        filler = self.disk / "filler"
        try:
            filler.write_bytes(bytes(16 * MIB))
        except OSError:
            pass
        self.ground.succeeds("before", self.before)
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok?size=50000")))
        self.ground.refused(5, hint="--store")
        filler.unlink()
        self.ground.succeeds("bad", seeded_bytes(50_000))

    def test_file_size_limit(self):
        self.enlarge("size=64m")
        self.ground.recipe("bad", self.ground.fragment(self.server.url(f"/ok?size={5 * MIB}")))

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))
        self.ground.refused(5, "File too large", hint="ulimit -f", preexec_fn=limit)
        self.ground.succeeds("bad")


class ReadOnly(SmallDisk):
    """The disk itself becomes read-only, as one that is damaged does."""

    options = "size=64m"

    def test_what_is_there_is_served_and_nothing_is_added(self):
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok?size=50000")))
        self.enlarge("ro")
        self.addCleanup(self.enlarge, "rw")
        self.ground.succeeds("before", self.before)
        self.ground.refused(70, "Read-only file system", hint="read-only")
        self.assertEqual(self.ground.run("gc", "--json", "--dry-run").exit, 70)
        self.enlarge("rw")
        self.ground.succeeds("bad", seeded_bytes(50_000))
        self.ground.verified()


class Inodes(SmallDisk):
    options = "size=64m,nr_inodes=150"

    def setUp(self):
        super().setUp()
        self.files = 200
        self.origin = Spoken({f"/{i}": page(b"file %d" % i) for i in range(self.files)})
        self.addCleanup(self.origin.stop)
        self.origin.table["/list"] = page("".join(f"{i}\n" for i in range(self.files)))
        self.ground.recipe("bad", self.ground.fragment(self.origin.url("/list"), "file_list"))

    def test_too_few_are_refused_before_the_first_file(self):
        result = self.ground.fetch("bad")
        self.assertEqual(result.exit, 5, result)
        self.ground.clean(result)
        self.assertIn("inodes", result.err)
        self.assertEqual([line for line, _, _ in self.origin.requests], ["GET /list"])
        self.assertFalse([name for name in self.ground.visible() if name.startswith("views/") and "f.bin" not in name])
        self.ground.verified()

    def test_as_many_as_files_do_not_suffice(self):
        """Directories take inodes as well: at any place where it ends, it ends well."""
        for inodes in (230, 300, 450, 600):
            self.enlarge(f"size=64m,nr_inodes={inodes}")
            result = self.ground.fetch("bad")
            self.assertIn(result.exit, (0, 5), result)
            if result.exit == 5:
                self.assertIn("inodes", result.err)
            self.ground.clean(result)
            self.ground.verified()
        self.enlarge("size=64m,nr_inodes=5000")
        self.ground.succeeds("bad")


class FewInodes(SmallDisk):
    """Files by the thousand on a disk with room for some hundreds: they stand in packs, and no more is asked for."""

    options = "size=64m,nr_inodes=500"
    files = 3000

    def test_of_a_list(self):
        origin = Spoken({f"/{i}": page(b"file %d" % i) for i in range(self.files)})
        self.addCleanup(origin.stop)
        origin.table["/list"] = page("".join(f"{i}\n" for i in range(self.files)))
        self.ground.recipe("bad", self.ground.fragment(origin.url("/list"), "file_list"))
        self.ground.succeeds("bad")
        self.ground.verified()

    def test_of_an_archive(self):
        """How many files it has shows only when a thousand have come: until then each is one."""
        self.enlarge("size=64m,nr_inodes=1600")
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for i in range(self.files):
                entry = tarfile.TarInfo(f"{i}")
                entry.size = len(b"file %d" % i)
                tar.addfile(entry, io.BytesIO(b"file %d" % i))
        origin = Spoken({"/a.tar": page(buffer.getvalue())})
        self.addCleanup(origin.stop)
        self.ground.recipe("bad", self.ground.fragment(origin.url("/a.tar"), "archive"))
        self.ground.succeeds("bad")
        self.ground.verified()


class Permission(FaultCase):
    """Another user's store: what is in it can be used, nothing can be added."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "true"], check=False,
                                               capture_output=True).returncode != 0:
            self.skipTest("needs root and setpriv, to become another user")
        self.ground.directory.chmod(0o755)
        self.ground.store.chmod(0o755)  # its owner has opened it: a store is made for one user
        self.stranger = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        self.ground.environment()

    def as_stranger(self):
        self.ground.prefix = self.stranger

    def test_what_is_there_is_served(self):
        self.as_stranger()
        self.ground.succeeds("before", self.before)
        self.ground.verified()

    def test_nothing_can_be_added(self):
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok")))
        self.as_stranger()
        self.ground.refused(70, "Permission denied", str(self.ground.store), hint="permissions")
        self.ground.prefix = []
        self.ground.succeeds("bad")

    def test_no_store_can_be_made(self):
        self.as_stranger()
        place = self.ground.directory / "none" / "store"
        self.ground.fails(70, "Permission denied", str(place.parent), hint="permissions",
                          command=("fetch", "--json", "before", "--store", place))

    def test_a_recipe_that_may_not_be_read(self):
        self.ground.recipe("bad", self.ground.fragment(self.server.url("/ok"))).chmod(0)
        self.as_stranger()
        self.ground.fails(70, "Permission denied", "bad.json")
        self.ground.succeeds("before", self.before)


if __name__ == "__main__":
    enter_own_namespace()
    main()
