#!/usr/bin/python3
"""A store in the lower layer of an overlay (an image that has data in it): no directory of it can be renamed there, but
what lies in it is removed, collected, taken back and gone on with."""

import os

from support.case import Case, main
from support.content import fragment, seeded
from support.mounts import enter_own_namespace, mount, mount_memory, need_own_namespace
from support.origin import body_bytes, poll
from support.program import finish

MIB = 1 << 20
FILES = {"a": seeded(3000, 1), "d/b": seeded(5 * MIB, 2)}
SLOW = seeded(16 * MIB, 3)


class LowerLayer(Case):
    def setUp(self):
        super().setUp()
        need_own_namespace(self)
        layers = self.home / "layers"
        mount_memory(self, layers, 300)
        self.lower, self.upper, self.work, self.merged = (layers / name for name in ("lower", "upper", "work", "merged"))
        for layer in (self.lower, self.upper, self.work):
            layer.mkdir()
        self.server = self.serve({path.replace("/", "-"): data for path, data in FILES.items()})
        self.sabath.add("image", [fragment(self.server.url(path.replace("/", "-")), data, name=path[-1], path=path) for path, data in FILES.items()])
        self.at(self.lower / "store", "fetch", "image")

    def at(self, store, *arguments, code=0):
        return self.expect(self.sabath.run(*arguments, SABATH_CACHE=str(store)), code)

    def start_container(self):
        options = f"lowerdir={self.lower},upperdir={self.upper},workdir={self.work},redirect_dir=off"
        mount(self, self.merged, "-t", "overlay", "overlay", "-o", options)
        self.store = self.merged / "store"
        (view,) = (self.store / "views").iterdir()
        with self.assertRaises(OSError):  # EXDEV: or it proves nothing
            os.rename(view, self.store / "moved")

    def test_rm_frees_it(self):
        self.start_container()
        self.at(self.store, "rm", "image")
        self.assertEqual(list((self.store / "views").iterdir()), [])
        self.assertEqual([p for p in (self.store / "objects").rglob("*") if p.is_file()], [])
        self.at(self.store, "path", "image", code=9)
        self.at(self.store, "fetch", "image")
        self.expect_tree(self.at(self.store, "path", "image").out.strip(), FILES)

    def test_a_collection_is_taken_back_or_deleted(self):
        self.start_container()
        self.at(self.store, "gc", "--max-size", "1")
        self.at(self.store, "path", "image", code=9)
        self.at(self.store, "gc", "--undo")
        self.expect_tree(self.at(self.store, "path", "image").out.strip(), FILES)
        self.at(self.store, "gc", "--max-size", "1", "--now")
        self.assertEqual(list((self.store / "trash").iterdir()), [])
        self.at(self.store, "verify")

    def test_a_fetch_that_broke_off_in_the_image_goes_on(self):
        slow = self.serve({"slow": SLOW}, name="slow", extra="limit_rate 2m;")
        self.sabath.add("slow", [fragment(slow.url("slow"))])
        store = self.lower / "store"
        process = self.sabath.start("fetch", "slow", "--lanes", "1", SABATH_CACHE=str(store))
        journals = lambda: [p.stat().st_size for p in (store / "partial").rglob("journal.*")]  # noqa: E731
        self.assertTrue(poll(lambda: any(size > 128 for size in journals())))  # header, claim, a chunk
        process.kill()
        finish(process)
        self.start_container()
        seen = slow.log()
        asset = self.at(self.store, "fetch", "--json", "slow").asset
        self.assertGreaterEqual(asset["reused"]["partial"], 4 * MIB)
        self.assertLess(body_bytes(slow.new_requests(seen)), len(SLOW))
        self.expect_tree(asset["path"], {"slow": SLOW})


if __name__ == "__main__":
    enter_own_namespace()
    main()
