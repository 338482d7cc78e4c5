#!/usr/bin/python3
"""A member of a shared store moves, copies, removes and puts back the notes of another: that costs a fetch at most, and
never brings a wrong byte, other code, or a question left out."""

import os
import pathlib
import pickle
import shutil
import stat

from support.accounts import ALICE, GROUP, MALLORY, Members
from support.bare import TREE
from support.case import main, place
from support.content import fragment, sha256, tar_bytes

KEPT_BY_ALL = ("objects", "packs", "manifests", "pins", "used", "facts", "leases", "reservations", "records", "trash",
               "quarantine")  # fmt: skip
NO_NOTES = ("objects", "packs", "views", "tmp", "partial", "git", "format", "records")


class Touches:
    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.system, (f"touch {self.file}",)


class Notes(Members):
    def setUp(self):
        super().setUp()
        self.proof = self.home / f"home-{ALICE}/proof"

    def fill(self):
        """Two assets of each kind that leaves notes, and what each must be."""
        good, bad = b"print('the tool')\n", f"open('{self.proof}', 'w')\n".encode()
        load = b"import pathlib, pickle, sys\nfor f in pathlib.Path(sys.argv[1]).iterdir(): pickle.loads(f.read_bytes())\n"
        files = {
            "one": b"one\n" * 99,
            "two": b"two\n" * 99,
            "free1": b"first",
            "free2": b"other",
            "clean.pkl": pickle.dumps([1, 2]),
            "evil.pkl": pickle.dumps(Touches(self.proof)),
            "tool.tar": tar_bytes({"train.py": good}),
            "plots.tar": tar_bytes({"train.py": bad}),
            "reader.tar": tar_bytes({"train.py": load}),
            "part1.tar": tar_bytes({"a/x": b"part 1", "b/y": b"-" * 5000}),
            "part2.tar": tar_bytes({"a/x": b"PART 2", "b/y": b"-" * 5000}),
        }
        self.origin = self.serve(files, name="notes")
        sure = lambda file, kind="file": [fragment(self.origin.url(file), files[file], kind=kind)]  # noqa: E731
        for name in ("one", "two"):
            self.sabath.add(name, sure(name))
        for name in ("free1", "free2"):
            self.sabath.add(name, [fragment(self.origin.url(name))])
        for name in ("clean", "evil"):
            self.sabath.add(name, [fragment(self.origin.url(f"{name}.pkl"))])
        for name in ("part1", "part2"):
            self.sabath.add(name, [fragment(self.origin.url(f"{name}.tar"), kind="archive")])
        step = {"argv": ["python3", "{model.main}/train.py", "{dataset}"]}
        self.sabath.add("plots", sure("plots.tar", "archive"))
        self.sabath.add("tool", sure("tool.tar", "archive"), kind="model", run={"one": [step]})
        self.sabath.add("reader", sure("reader.tar", "archive"), kind="model", run={n: [step] for n in ("clean", "evil")})
        self.right = {"one": {"one": files["one"]}, "two": {"two": files["two"]}, "free1": {"free1": b"first"},
                      "free2": {"free2": b"other"}, "plots": {"train.py": bad}}  # fmt: skip

    def learn(self):
        for name in (*self.right, "clean", "evil"):
            self.as_user(ALICE, "fetch", name)
        for number in (1, 2):
            self.as_user(ALICE, "fetch", f"part{number}", "--select", "a/*")
        self.as_user(ALICE, "keep", "one")
        self.as_user(ALICE, "keep", "two")
        for name in ("free1", "free2"):
            self.as_user(ALICE, "apply", name, "gzip", "--as", f"{name}-gz")
        self.expect_runs()

    def expect_right(self):
        """Each asset is itself, or is missing and comes again."""
        for name, tree in self.right.items():
            found = self.as_user(ALICE, "path", name, code=None)
            self.assertIn(found.exit, (0, 9, 12), found)  # 12: its manifest is another asset's; the fetch mends it
            if found.exit == 0:
                self.expect_tree(found.out.strip(), tree)
        trees = {**self.right, "part1": {"a/x": b"part 1"}, "part2": {"a/x": b"PART 2"}}
        for words in (tuple(self.right), ("part1", "part2", "--select", "a/*")):
            for asset in self.as_user(ALICE, "fetch", "--json", *words).record["assets"]:
                self.expect_tree(asset["path"], trees[asset["name"]])
        for name in ("free1", "free2"):
            made = self.as_user(ALICE, "fetch", "--json", "--offline", f"{name}-gz", code=None)
            self.assertIn(made.exit, (0, 3, 9, 12), made)
            if made.exit == 0:
                self.assertEqual(os.listdir(made.asset["path"]), [f"{name}.gz"])

    def launch(self, *arguments, code=0):
        directory = self.home / f"home-{ALICE}/run"
        shutil.rmtree(directory, ignore_errors=True)
        self.as_user(ALICE, "run", "--run-dir", directory, *arguments, code=code)
        return directory / "work"

    def expect_runs(self, *models):
        if "reader" in (models or ("reader",)):
            self.launch("reader", "clean")
            self.launch("reader", "evil", code=4)
        if "tool" in (models or ("tool",)):
            self.launch("tool")
        self.assertFalse(self.proof.exists())

    def notes(self):
        """Of Alice in the store, by the kind of note: the room, or for logs and names the room and the folder."""
        kinds = {}
        for file in sorted(self.store.rglob("*")):
            status = file.lstat()
            room = file.relative_to(self.store).parts[0]
            belongs = stat.S_ISREG(status.st_mode) and status.st_uid == ALICE
            if belongs and room.split(".")[0] not in NO_NOTES:
                kinds.setdefault(room, []).append(file)
        return kinds

    def test_between_every_pair_of_a_kind(self):
        """As root moves them, so that their owner stays: what a note says is not believed under another name."""
        self.fill()
        self.learn()
        kinds = self.notes()
        rooms = [f"{room}.{ALICE}" for room in ("refs", "indexes", "alias", "verified", "arrivals", "recipes")]
        for room in rooms:
            self.assertGreater(len(kinds.get(room, ())), 1, f"{room}: {sorted(kinds)}")
        copy = self.home / "copy"
        for room, files in kinds.items():
            shutil.rmtree(copy, ignore_errors=True)
            os.system(f"cp -a {self.store / room} {copy}")
            for shift in range(1, len(files)):
                before = [(file.read_bytes(), file.lstat()) for file in files]
                for number, file in enumerate(files):
                    data, status = before[(number + shift) % len(files)]
                    file.unlink()
                    file.write_bytes(data)
                    os.chown(file, status.st_uid, status.st_gid)
                    file.chmod(stat.S_IMODE(status.st_mode))
                with self.subTest(room=room, shift=shift):
                    self.expect_right()
                    self.expect_runs(*{"refs": ("tool",), "indexes": ("reader",)}.get(room.split(".")[0], ("none",)))
                shutil.rmtree(self.store / room)
                os.system(f"cp -a {copy} {self.store / room}")
        self.expect_right()
        self.expect_runs()

    def test_a_member_reaches_no_note_of_another(self):
        self.fill()
        self.learn()
        kinds = self.notes()
        before = {file: file.read_bytes() for files in kinds.values() for file in files}
        script = self.home / "reach.sh"
        script.write_text("""
cd "$1"; shift
for file; do
  rm -f "$file"; mv -f "$file" mine; cp -f /etc/hostname "$file"; ln "$file" mine2; ln -sf /etc/hostname "$file"
  d=$(dirname "$file"); mkdir "$d/x"; touch "$d/x"; mv "$d" away; mv "$(dirname "$d")" "$(dirname "$d").x"
  chmod 777 "$d" "$file"
done 2>/dev/null
true
""")
        script.chmod(0o755)
        own = [str(file) for room, files in kinds.items() for file in files if room not in KEPT_BY_ALL]
        os.system(f"setpriv --reuid={MALLORY} --regid={GROUP} --clear-groups sh {script} {self.store} {' '.join(own)}")
        self.assertEqual({f: f.read_bytes() for f in map(pathlib.Path, own)}, {pathlib.Path(f): before[pathlib.Path(f)] for f in own})
        self.expect_right()
        self.expect_runs()

    def test_what_all_members_may_remove_costs_a_fetch_at_most(self):
        """Rooms for all: moved under each other's names, replaced by an older version, and removed, by the member."""
        self.fill()
        self.learn()
        member = f"setpriv --reuid={MALLORY} --regid={GROUP} --clear-groups sh -c"
        older = self.home / "older"
        older.mkdir(mode=0o777)
        os.chown(older, MALLORY, GROUP)
        for room in ("pins", "used", "facts", "manifests", "objects"):
            files = [file for file in sorted((self.store / room).rglob("*")) if file.is_file()]
            with self.subTest(room):
                for first, second in zip(files, files[1:]):
                    os.system(f"{member} 'mv -f {first} {older}/f; mv -f {second} {first}; mv -f {older}/f {second}' 2>/dev/null")
                self.expect_right()
                self.expect_runs()
                for file in [file for file in (self.store / room).rglob("*") if file.is_file()]:
                    os.system(f"{member} 'rm -f {file}' 2>/dev/null")
                self.expect_right()
        for strange in ("leases/f+1", "reservations/f+1", "pins/" + "0" * 64 + ".0", "refs/00/" + "0" * 62 + ".json"):
            place(self.store / strange, b"")
            (self.store / strange).unlink()
            os.system(f"{member} 'mkfifo {self.store / strange}'")
        for command in (("gc", "--dry-run"), ("gc", "--grace", "0s"), ("du", "one")):
            self.as_user(ALICE, *command)
        self.assertEqual(self.as_user(ALICE, "verify", "--json", code=8).asset["bad"], [])  # 8: what was removed is missing

    def test_a_symlink_instead_of_a_room_leads_nowhere(self):
        """A member plants them; the user who cares for the store loses no file."""
        self.fill()
        mine = self.home / "mine"
        place(mine / "sub/thesis.txt", b"mine\n")
        os.system(f"chown -R {ALICE}:{GROUP} {mine}; touch -d 2020-01-01 {mine}/sub/thesis.txt")
        member = f"setpriv --reuid={MALLORY} --regid={GROUP} --clear-groups"
        care = (("verify",), ("gc", "--grace", "0s", "--idle", "1s"), ("du",))
        for room in ("refs.61099", "indexes.61099", "refs", "alias", "trash", "quarantine", "pins", "facts"):
            with self.subTest(room):
                self.assertFalse((self.store / room).is_symlink())
                if (self.store / room).exists():
                    continue
                os.system(f"{member} ln -s {mine} {self.store / room}")
                common = "." not in room and room not in ("refs", "alias")  # the rooms of all: they would be written
                for command in care:
                    result = self.as_user(ALICE, *command, code=70 if common else 0)
                    if common:
                        self.assertIn(f"{room} is no directory: user {MALLORY} put it there", result.err)
                self.assertEqual((mine / "sub/thesis.txt").read_bytes(), b"mine\n")
                (self.store / room).unlink()
        self.expect_right()

    def test_a_ref_of_other_checksums_is_not_taken(self):
        """Its name would be right; the bytes are hashed again, and none moves."""
        self.fill()
        self.as_user(ALICE, "fetch", "one")
        seen = self.origin.log()
        for file in (self.store / f"refs.{ALICE}").rglob("*.json"):
            self.assertIn(sha256(b"one\n" * 99), file.read_text())
        asset = self.as_user(ALICE, "fetch", "--json", "one").asset
        self.assertEqual((asset["fetched_bytes"], asset["trusted_by"]), (0, "checksum"))
        self.assertEqual(self.origin.new_requests(seen), [])


if __name__ == "__main__":
    main()
