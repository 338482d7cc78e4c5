#!/usr/bin/python3
"""The verbs of the package: what they return, what they raise, what they tell while they work."""

import fnmatch
import json
import logging
import os
import pathlib
import pickle

import numpy
import sabath
from support.case import main, place
from support.content import flip, fragment
from support.package import PackageCase


def of_the_hub(paths, allow, ignore):
    """The paths that huggingface_hub.utils.filter_repo_objects takes."""

    def matches(path, patterns):
        patterns = [patterns] if isinstance(patterns, str) else patterns
        return any(fnmatch.fnmatch(path, each + "*" if each.endswith("/") else each) for each in patterns)

    return [path for path in paths if (allow is None or matches(path, allow)) and not (ignore and matches(path, ignore))]


class Verbs(PackageCase):
    def test_an_asset_is_fetched_found_and_read(self):
        data, origin = self.one(size=3_000_000)
        asset = self.session.fetch("one")
        self.assertEqual((asset.path / "d/one.bin").read_bytes(), data)
        self.assertEqual(asset.name, "one")
        self.assertRegex(asset.root, "^sha256:[0-9a-f]{64}$")
        self.assertEqual(asset.files.paths(), ["d/one.bin"])
        (_, entry) = self.session.call("manifest show", manifest=asset.root)["entries"]
        self.assertEqual(asset.manifest["d/one.bin"], sabath.FileInfo("d/one.bin", len(data), entry["digest"]))
        self.assertEqual(asset.provenance["sources"][0]["url"], origin.url("one.bin"))
        self.assertEqual(os.fspath(asset), self.session.path("one"))
        self.assertEqual(self.session.path("one", fragment="main"), os.path.join(asset, "d/one.bin"))
        seen = origin.log()
        again = sabath.Session().fetch("one")
        self.assertEqual((again.root, again.provenance["fetched_bytes"], origin.new_requests(seen)), (asset.root, 0, []))
        with self.session.open("one", "d/one.bin") as file:
            self.assertEqual((file.seek(-5, os.SEEK_END), file.read(), file.read(1)), (len(data) - 5, data[-5:], b""))

    def test_an_asset_has_the_name_of_its_recipe(self):
        data, origin = self.one(size=1000)
        self.sabath.add("net", [fragment(origin.url("one.bin"), data)], kind="model", default_dataset="one")
        place(self.home / "solo.bin", data[::-1])
        for asked, name in (("ONE", "one"), ("one@1.0", "one@1.0"), ("NET", "net"), (f"file://{self.home}/solo.bin", "solo.bin")):
            asset = self.session.fetch(asked)
            self.assertEqual((asset.name, self.session.info(name)["manifest"]), (name, asset.root))
            self.assertEqual(self.session.path(asset.name), str(asset.path))

    def test_names_of_the_hub_mean_the_same(self):
        data, origin = self.one()
        asset = self.session.fetch(
            "one", revision="1.0", local_dir=self.home / "mine", cache_dir=self.home / "other", max_workers=1
        )
        self.assertEqual((self.home / "mine/d/one.bin").read_bytes(), data)
        self.assertEqual(asset.path, self.home / "mine")
        again = self.session.fetch("one", local_dir=self.home / "mine", cache_dir=self.home / "other")
        self.assertEqual((again.path, again.root), (asset.path, asset.root))
        place(self.home / "mine/notes", b"mine")
        self.session.fetch("one", local_dir=self.home / "mine", cache_dir=self.home / "other")
        place(self.home / "mine/d/one.bin", b"changed")
        with self.assertRaisesRegex(sabath.UsageError, "is another tree"):
            self.session.fetch("one", local_dir=self.home / "mine", cache_dir=self.home / "other")
        self.assertEqual((self.home / "mine/d/one.bin").read_bytes(), b"changed")
        self.assertTrue((self.home / "other/objects").is_dir())
        self.assertFalse((self.home / "store/objects").exists())
        with self.assertRaises(sabath.NotFound):
            self.session.fetch("one", revision="2.0")
        with self.assertRaises(sabath.Offline):
            self.session.fetch("one", local_files_only=True)
        self.session.fetch("one")
        self.assertEqual(self.session.fetch("one", local_files_only=True).root, asset.root)
        seen = origin.log()
        self.assertEqual(self.session.fetch("one", force_download=True).provenance["fetched_bytes"], len(data))
        self.assertTrue(origin.new_requests(seen))

    def test_a_part_is_an_asset_of_its_own(self):
        self.many(5, lambda number: b"%d" % number)
        part = self.session.fetch("many", allow_patterns="train/0000[12].bin")
        self.assertEqual(part.files.paths(), ["train/00001.bin", "train/00002.bin"])
        self.assertEqual(part.files.read("train/00002.bin"), b"2")
        self.assertEqual(sorted(file.name for file in (part.path / "train").iterdir()), ["00001.bin", "00002.bin"])

    def test_patterns_are_the_hub_s(self):
        paths = ("a.bin", "b.json", "sub/c.bin", "sub/deep/d.json", "sub/deep/e.bin")
        for path in paths:
            place(self.home / "tree" / path, path.encode())
        place(self.home / "tree/list", "".join(f"{path}\n" for path in paths).encode())
        self.sabath.add("tree", [{"id": "all", "type": "file_list", "urls": [f"file://{self.home}/tree/list"]}])
        for allow, ignore in (("*.bin", None), (None, "*.bin"), (["*.json", "a*"], None), ("sub/", None), (None, ["sub/deep/"]),
                              ("sub/*", "*/e*"), ("s*/d*", None), ("?.bin", None), ("[ab].*", ["*.json"])):  # fmt: skip
            with self.subTest(allow=allow, ignore=ignore):
                part = self.session.fetch("tree", allow_patterns=allow, ignore_patterns=ignore)
                self.assertEqual(part.files.paths(), of_the_hub(self.session.fetch("tree").files.paths(), allow, ignore))
        with self.assertRaises(sabath.NotFound):
            self.session.fetch("tree", allow_patterns="*.h5")
        with self.assertRaisesRegex(sabath.UsageError, "more than 4"):
            self.session.fetch("tree", ignore_patterns="*a*b*c*d*e")

    def test_the_catalogue(self):
        self.one()
        self.assertEqual([asset["name"] for asset in self.session.list(stored=True)], [])
        self.session.fetch("one")
        self.assertEqual([asset["name"] for asset in self.session.list(stored=True)], ["one"])
        self.assertIn("cosmoflow", [asset["name"] for asset in self.session.list("model")])
        self.assertEqual([asset["name"] for asset in self.session.search("^one$")], ["one"])
        self.assertEqual(self.session.search("^no such thing$"), [])
        info = self.session.info("one")
        self.assertEqual(
            (info["version"], info["manifest"], info["path"]), ("1.0", self.session.fetch("one").root, self.session.path("one"))
        )
        plan = self.session.plan("one", force=True)
        self.assertEqual((plan["bytes_to_fetch"], plan["fits"]), (9_000_000, True))

    def test_a_plan_that_does_not_fit_is_no_failure(self):
        self.sabath.add("huge", [{"id": "f", "type": "file", "path": "f", "urls": ["http://127.0.0.1:9/f"], "size": 1 << 60}])
        plan = self.session.plan(["huge"])
        self.assertEqual((plan["fits"], plan["exit"]), (False, 5))
        with self.assertRaises(sabath.NoSpace) as raised:
            self.session.fetch("huge")
        self.assertEqual((raised.exception.exit_code, raised.exception.kind), (5, "space"))

    def test_verification_names_what_is_wrong(self):
        self.one()
        asset = self.session.fetch("one")
        self.assertEqual(self.session.verify("one")["assets"][0]["files"], 1)
        flip(pathlib.Path(asset.files.place("d/one.bin")[0]), 5_000_000)
        with self.assertRaisesRegex(sabath.HashMismatch, r"d/one\.bin") as raised:
            self.session.verify(["one"])
        self.assertEqual((raised.exception.exit_code, raised.exception.record["exit"]), (7, 7))
        with self.assertRaises(sabath.SabathError):
            self.session.fetch("one", local_files_only=True)

    def test_any_verb_by_its_name(self):
        self.assertEqual(self.session.call("du")["exit"], 0)
        with self.assertRaisesRegex(sabath.UsageError, '"nmes"'):
            self.session.call("fetch", nmes=["one"])
        self.assertIn("stage", self.session.library.verbs())

    def test_what_is_kept_stays(self):
        self.one(size=1000)
        asset = self.session.fetch("one")
        self.assertEqual(self.session.keep("one"), [{"name": "one", "manifest": asset.root}])
        self.assertEqual([each["name"] for each in self.session.keep()], ["one"])
        self.assertEqual([each["why"] for each in self.session.call("gc", max_size=0, force_local=True)["kept"]], ["kept"])
        self.assertEqual(self.session.unkeep("one"), [{"name": "one", "manifest": asset.root}])
        with self.assertRaisesRegex(sabath.NotFound, "one is not kept"):
            self.session.unkeep("one")
        with self.assertRaisesRegex(sabath.UsageError, 'its name is "keep" now'):
            self.session.call("pin", names=["one"])

    def test_runs_are_made_and_reported(self):
        step = {"argv": ["python3", "-c", "import sabath; sabath.log_metrics({'val loss': 0.5}, epoch=1, loss=0.25)"]}
        self.one(size=1000)
        self.sabath.add("tiny", kind="model", default_dataset="one", run={"one": [step]})
        record = self.session.run("tiny", run_dir=self.home / "run")
        self.assertEqual(record["runs"][0]["state"], "finished", record)
        told = self.session.report(str(self.home / "run"), file=str(self.home / "loss.svg"), metric=["loss"])
        self.assertEqual([series["last"] for series in told["runs"][0]["metrics"] if series["name"] == "loss"], [0.25])
        self.assertIn("<svg", (self.home / "loss.svg").read_text())
        with self.assertRaises(sabath.HashMismatch):
            self.session.report(str(self.home / "run"), expect=["loss<=0.1"])
        self.sabath.add("broken", kind="model", default_dataset="one", run={"one": [{"argv": ["false"]}]})
        with self.assertRaises(sabath.ProgramFailed) as raised:
            self.session.run("broken", run_dir=self.home / "broken")
        self.assertEqual(raised.exception.exit_code, 11)

    def test_what_is_no_number_is_not_logged(self):
        for value in ("x", None, [1], numpy.zeros(2)):
            with self.assertRaisesRegex(sabath.UsageError, "value of loss"):
                self.session.log_metrics(epoch=1, loss=value)
        os.environ["SABATH_METRICS"] = str(self.home / "metrics")
        self.addCleanup(os.environ.pop, "SABATH_METRICS")
        self.session.log_metrics(epoch=1, loss=numpy.float32(0.5), acc=numpy.array([0.25]).max(), right=True)
        line = json.loads((self.home / "metrics").read_text().partition(" ")[2])
        self.assertEqual(line["values"], {"loss": 0.5, "acc": 0.25, "right": 1})

    def test_a_dataset_is_staged(self):
        data, _ = self.one()
        record = self.session.stage("one", to=self.home / "node")
        self.assertEqual((self.home / "node/one/d/one.bin").read_bytes(), data)
        self.assertEqual(record["assets"][0]["bytes"], len(data))
        with self.assertRaises(sabath.NotFound):
            self.session.stage("none", to=self.home / "node")
        os.environ["PMI_RANK"] = "0"
        self.addCleanup(os.environ.pop, "PMI_RANK")
        with self.assertRaisesRegex(sabath.UsageError, "rank of a job"):
            self.session.stage("one", to=self.home / "node")


class Failures(PackageCase):
    def test_each_kind_has_its_class(self):
        kinds = {"not_found": sabath.NotFound, "access": sabath.NeedsLogin, "space": sabath.NoSpace, "network": sabath.Unreachable,
                 "content": sabath.HashMismatch, "offline": sabath.Offline, "usage": sabath.UsageError, "invalid": sabath.Invalid,
                 "terminated": sabath.Interrupted, "storage": sabath.StorageError, "internal": sabath.InternalError}  # fmt: skip
        for kind, made in kinds.items():
            failure = sabath.errors.of_failure({"kind": kind, "message": "m", "hint": "h"}, 1)
            self.assertEqual((type(failure), failure.kind, failure.message, failure.hint), (made, kind, "m", "h"))
            again = pickle.loads(pickle.dumps(failure))
            self.assertEqual((type(again), again.kind, str(again), again.exit_code), (made, kind, "m (h)", 1))
        self.assertEqual(pickle.loads(pickle.dumps(sabath.NotYet("convert"))).verb, "convert")

    def test_what_a_fetch_may_meet(self):
        data = b"x" * 1000
        origin = self.serve({"f": data}, extra="location = /secret { return 403; }")
        self.sabath.add("wrong", [{**fragment(origin.url("f"), data), "checksum": {"sha256": "0" * 64}}])
        self.sabath.add("login", [{"id": "f", "type": "file", "urls": [origin.url("secret")]}],
                        access={"kind": "login", "steps": ["Register at the portal.", "Put the key into keys.json."]})  # fmt: skip
        self.sabath.add("gone", [{"id": "f", "type": "file", "urls": [origin.url("gone")]}])
        (self.sabath.recipes / "datasets/torn.json").write_text('{"schema": 1,')
        for name, made, code in (
            ("wrong", sabath.HashMismatch, 7),
            ("gone", sabath.Unreachable, 6),
            ("torn", sabath.Invalid, 12),
        ):
            with self.assertRaises(made) as raised:
                self.session.fetch(name)
            self.assertEqual(raised.exception.exit_code, code, raised.exception)
        with self.assertRaises(sabath.NeedsLogin) as raised:
            self.session.fetch("login")
        self.assertTrue(any("Register at the portal." in step for step in raised.exception.steps), raised.exception.steps)
        with self.assertRaisesRegex(sabath.NotFound, "wrnog") as raised:
            self.session.fetch("wrnog")
        self.assertIn("wrong", raised.exception.hint)

    def test_settings_that_make_no_sense(self):
        with self.assertRaisesRegex(sabath.UsageError, "stroe"):
            sabath.Session(stroe="/x").path("one")

    def test_a_library_that_is_not_there(self):
        answer = self.run_python(
            "import json, sabath\n"
            "try: sabath.list()\n"
            "except sabath.ProgramFailed as failure: print(json.dumps([failure.message, failure.hint, failure.exit_code]))",
            SABATH_LIBRARY="/no/such/libsabath.so.0",
        )
        self.assertIn("/no/such/libsabath.so.0", answer[0])
        self.assertIn("SABATH_LIBRARY", answer[1])
        self.assertEqual(answer[2], 11)


class Bars:
    """As tqdm's class, as far as it is used."""

    made = []

    def __init__(self, total, desc, unit, unit_scale):
        self.total, self.desc, self.n, self.closed = total, desc, 0, False
        Bars.made.append(self)

    def update(self, n):
        self.n += n

    def close(self):
        self.closed = True


class Progress(PackageCase):
    def test_it_is_counted_and_shown(self):
        self.one()
        seen = []
        self.session.fetch("one", progress=seen.append)
        self.assertEqual([each.bytes_done for each in seen], sorted(each.bytes_done for each in seen))
        last = seen[-1]
        self.assertEqual((last.asset, last.bytes_done, last.bytes_total, last.files_done), ("one", 9_000_000, 9_000_000, 1))
        self.session.fetch("one", force_download=True, tqdm_class=Bars)
        (bar,) = Bars.made
        self.assertEqual((bar.n, bar.total, bar.desc, bar.closed), (9_000_000, 9_000_000, "one", True))

    def test_a_bar_of_tqdm(self):
        try:
            import tqdm  # noqa: F401
        except ImportError:
            self.skipTest("this Python has no tqdm")
        self.one(size=1_000_000)
        process = self.python("import sabath; sabath.fetch('one', progress=True)")
        out, err = process.communicate(timeout=300)
        self.assertEqual((process.returncode, out), (0, ""), err)
        self.assertRegex(err, r"one: 100%.*1\.00M")

    def test_what_it_raises_ends_the_call(self):
        self.one(size=40_000_000, http="limit_rate 5m;")

        def refuse(progress):
            if progress.bytes_done:
                raise ZeroDivisionError("enough")

        with self.assertRaisesRegex(ZeroDivisionError, "enough"):
            self.session.fetch("one", progress=refuse)
        self.assertEqual(self.session.list(stored=True), [])

    def test_nothing_is_printed_and_messages_are_logged(self):
        self.one()
        with self.assertLogs("sabath", logging.DEBUG) as log:
            self.session.fetch("one")
            logging.getLogger("sabath").debug("at least one")
        self.assertTrue(log.records)
        process = self.python("import sabath; sabath.fetch('one', force_download=True); sabath.verify(); sabath.list()")
        out, err = process.communicate(timeout=300)
        self.assertEqual((process.returncode, out, err), (0, "", ""))


if __name__ == "__main__":
    main()
