#!/usr/bin/python3
"""Code that is not trusted does not run: recipes that others may write, code that moves, decisions and their end."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import zipfile

from runs import Runs, main, place
from support import program
from support.content import fragment
from support.program import finish
from support.typed import Shell

TREE = pathlib.Path(__file__).resolve().parents[2]
PROOF = "import pathlib, sys\npathlib.Path(sys.argv[1]).write_text('it ran')\n"
LOADS = "import pickle, sys\npickle.load(open(sys.argv[1], 'rb'))\n"


class Touches:
    """Its pickle makes a file where it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


class Trust(Runs):
    def setUp(self):
        super().setUp()
        self.proof = self.home / "proof"
        self.model("python3", "{source}/train.py", str(self.proof))

    def model(self, *argv, name="model", **more):
        return super().model(list(argv), name=name, code={"train.py": PROOF}, **more)

    def share(self, mode=0o777):
        """Others may write where the recipes stand."""
        (self.sabath.recipes / "models").chmod(mode)

    def ran(self):
        """Whether the program has run since it was last asked; its record is put aside."""
        shutil.rmtree(self.run_directory, ignore_errors=True)
        if not self.proof.exists():
            return False
        self.proof.unlink()
        return True

    def go(self, *arguments, code=0, by=None, name="model"):
        result = self.launch(name, *arguments, code=code)
        if by:
            self.assertEqual(self.record()["trust"]["by"], by)
        self.assertEqual(self.run_directory.exists(), code == 0, result)
        self.assertEqual(self.ran(), code == 0, result)
        return result

    def trust(self, *arguments, code=0):
        return self.expect(self.sabath.run("trust", *arguments), code)

    def trusted(self):
        return self.trust("list", "--json").record["trusted"]

    def test_own_code_needs_no_word(self):
        self.go(by="own")
        self.assertFalse((self.home / ".config").exists())
        self.assertIn("needs no trust", self.trust("add", "model").err)
        self.assertEqual(self.trusted(), [])

    def test_a_batch_job_is_refused_and_told_how(self):
        self.share()
        refused = self.go(code=4)
        source = self.sabath.recipes / "models/model"
        for part in (str(source.with_suffix(".json")), f"origin  {source}", "commit  sha256:", "others may have written",
                     f"runs    python3 '{{source}}/train.py' {self.proof}", "sabath run model --trust once"):  # fmt: skip
            self.assertIn(part, refused.err)
        error = self.launch("model", "--json", code=4).record["error"]
        self.assertEqual(error["kind"], "access")
        dry = self.launch("model", "-n")
        self.assertIn("# not trusted yet", dry.out)
        self.assertIsNone(self.launch("model", "-n", "--json").record["trust"]["by"])
        self.assertFalse(self.ran())

    def test_what_was_trusted_runs_and_nothing_else(self):
        self.share()
        self.go("--trust", "once", by="once")
        self.go(code=4)
        self.go("--trust", "commit", by="commit")
        self.go(by="commit")
        (entry,) = self.trusted()
        self.assertEqual((entry["scope"], entry["name"]), ("commit", "model"))
        file = self.sabath.recipes / "models/model.json"
        kept = file.read_text()
        for change in ({"run": {"data": [{"argv": ["sh", "-c", f"touch {self.proof}"]}]}},
                       {"env_vars": {"PYTHONPATH": "/tmp"}}, {"config": {"x": "1"}},
                       {"requirements": {"pip": ["left-pad"]}}):  # fmt: skip
            file.write_text(json.dumps({**json.loads(kept), **change}))
            self.go(code=4)
        file.write_text(kept)
        self.go(by="commit")
        place(self.sabath.recipes / "models/model/train.py", b"import this\n")  # the argv is the same, the code is not
        self.go(code=4)
        self.assertIn("is asked about again", self.trust("revoke", "model").err)
        place(self.sabath.recipes / "models/model/train.py", PROOF.encode())
        self.go(code=4)
        self.trust("revoke", "model", code=3)
        self.trust("revoke", code=2)

    def test_an_origin_is_trusted_for_what_comes_later(self):
        self.share()
        self.go("--trust", "origin", by="origin")
        place(self.sabath.recipes / "models/model/train.py", b"# later\n" + PROOF.encode())
        self.go(by="origin")
        other = super().model(["python3", "{source}/train.py", str(self.proof)], name="other", code={"train.py": PROOF})
        text = json.loads(other.read_text())
        other.write_text(json.dumps({**text, "source": "model"}))  # the trusted code, by commands of another recipe
        self.go(code=4, name="other")
        self.trust("revoke", "--all")
        self.go(code=4)

    def test_add_runs_nothing(self):
        self.share()
        added = self.trust("add", "model")
        self.assertFalse(self.ran())
        self.assertEqual(added.out.strip(), self.trusted()[0]["id"])
        self.go(by="commit")
        self.trust("revoke", added.out.strip()[:12])
        self.go(code=4)

    def test_a_terminal_is_asked(self):
        self.share()
        for typed, code, by in (("", 4, None), ("n", 4, None), ("yes", 4, None), ("o", 0, "once"), ("c", 0, "commit")):
            shell = self.at_terminal("run", "--run-dir", self.run_directory, "model")
            shown = shell.read_to(r"\[N\]o: ")
            self.assertIn("{source}/train.py", shown)
            shell.send(typed + "\n")
            self.assertEqual(self.exit_of(shell), code, typed)
            if by:
                self.assertEqual(self.record()["trust"]["by"], by)
            self.assertEqual(self.ran(), code == 0)
        shell = self.at_terminal("run", "--run-dir", self.run_directory, "model")  # trusted by now
        self.assertEqual(self.exit_of(shell), 0)

    def test_an_interrupt_is_no(self):
        self.share()
        shell = self.at_terminal("run", "--run-dir", self.run_directory, "model")
        shell.read_to(r"\[N\]o: ")
        shell.send("\x03")
        self.assertNotEqual(self.exit_of(shell), 0)
        self.assertFalse(self.ran())

    def at_terminal(self, *arguments):
        return Shell([program.BINARY, *map(str, arguments)], {**self.sabath.environment, "TERM": "dumb"}, self.home)

    def exit_of(self, shell):
        while True:  # what it prints is read, so that it can go on
            try:
                if not os.read(shell.fd, 65536):
                    break
            except OSError:  # the terminal has gone with its last program
                break
        _, status = os.waitpid(shell.pid, 0)
        os.close(shell.fd)
        return os.waitstatus_to_exitcode(status)

    def test_many_decide_at_once(self):
        for i in range(6):
            self.model("python3", "{source}/train.py", str(i), name=f"model{i}")
        self.share()
        running = [self.sabath.start("trust", "add", f"model{i % 6}") for i in range(12)]
        for process in running:
            self.expect(finish(process))
        self.assertEqual([entry["name"] for entry in self.trusted()], [f"model{i}" for i in range(6)])

    def test_decisions_that_others_made(self):
        self.share()
        self.go("--trust", "commit", by="commit")
        directory = self.home / ".config/sabath/trusted"
        (file,) = directory.glob("*.json")
        text = file.read_text()
        self.assertEqual((file.stat().st_mode & 0o777, directory.stat().st_mode & 0o777), (0o600, 0o700))
        file.chmod(0o666)
        refused = self.go(code=4)
        self.assertIn("does not count", refused.err)
        self.assertIn("does not count", self.trust("list").err)
        file.chmod(0o600)
        for hostile in (b"", b"{" * 60_000, b"\xff" * 100, text.replace("commit", "origin").encode(), os.urandom(3_000_000)):
            file.write_bytes(hostile)
            self.go(code=4)
        file.write_text(text)
        self.go(by="commit")

    def test_code_that_moves_is_asked_about(self):
        if not shutil.which("git"):
            self.skipTest("there is no git program")
        work = self.home / "others/code"
        place(work / "train.py", PROOF.encode())
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]

        def git(*words):
            return subprocess.run(["git", *identity, *words], cwd=work, check=True, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}).stdout.strip()  # fmt: skip

        git("init", "-q", "-b", "main", ".")
        git("add", "-A")
        git("commit", "-q", "-m", "one")
        commit = git("rev-parse", "HEAD")
        steps = {"data": [{"argv": ["python3", "{source}/train.py", str(self.proof)]}]}
        self.sabath.add("moving", kind="model", git={"origin": f"file://{work}", "branch": "main"}, run=steps)
        self.go(by="own", name="moving")
        work.rename(self.home / "aside")  # the store has its code from before
        self.go(by="own", name="moving")
        (self.home / "aside").rename(work)
        (self.home / "others").chmod(0o777)
        refused = self.go(code=4, name="moving")
        self.assertIn(f"commit  {commit}", refused.err)
        self.sabath.add("still", kind="model", git={"origin": f"file://{work}", "commit": commit}, run=steps)
        self.go(by="own", name="still")
        self.go("--trust", "commit", by="commit", name="moving")
        self.assertEqual(self.trusted()[0]["commit"], commit)
        git("commit", "-q", "--allow-empty", "-m", "two")
        self.expect(self.sabath.run("fetch", "-m", "moving", "--refresh"))
        later = self.go(code=4, name="moving")
        self.assertNotIn(commit, later.err)
        self.go(by="own", name="still")


class InData(Runs):
    """Data from a place where others may write, read by a model of one's own."""

    def setUp(self):
        super().setUp()
        self.proof = self.home / "proof"
        self.others = self.home / "others"
        place(self.others / "plain.pkl", pickle.dumps({"a": [1, 2.5, "x", None]}))  # holds values only
        place(self.others / "readme.txt", b"text\n")
        self.others.chmod(0o777)
        self.model("python3", "{source}/load.py", "{dataset}/weights.pkl", code={"load.py": LOADS})

    def model(self, *argv, **more):
        return super().model(list(argv), run_set="set", **more)

    def offer(self, data, name="weights.pkl", **more):
        place(self.others / name, data)
        files = [path for path in sorted(self.others.iterdir()) if path.is_file()]
        self.sabath.add("set", [fragment(f"file://{path}", path.read_bytes(), name=f"f{i}", path=path.name)
                                for i, path in enumerate(files)], **more)  # fmt: skip

    def go(self, *arguments, code=0, ran=True, dataset="set"):
        result = self.launch("model", dataset, *arguments, code=code)
        loads = self.record()["assets"][1].get("loads") if code == 0 else None
        self.assertEqual(self.run_directory.exists(), code == 0, result)
        shutil.rmtree(self.run_directory, ignore_errors=True)
        self.assertEqual(self.proof.exists(), ran and code == 0, result)
        self.proof.unlink(missing_ok=True)
        return loads if code == 0 else result

    def evil(self, more=""):
        return pickle.dumps(Touches(f"{self.proof}{more}"))

    def test_a_pickle_is_never_loaded_unasked(self):
        self.offer(self.evil())
        refused = self.go(code=4)
        for part in ("set was not read", "loads   weights.pkl: pickle, imports posix.system, calls", "commit  sha256:",
                     "sabath run model --trust once"):  # fmt: skip
            self.assertIn(part, refused.err)
        self.assertNotIn("plain.pkl:", refused.err)
        (_, asset) = self.launch("model", "-n", "--json").record["runs"][0]["assets"]
        self.assertEqual(asset["loads"]["by"], None)
        self.assertIn("# set holds code", self.launch("model", "-n").out)
        self.assertEqual(self.go("--trust", "once")["by"], "once")
        self.go(code=4)
        self.assertEqual(self.go("--trust", "commit")["found"], ["weights.pkl: pickle, imports posix.system, calls"])
        self.assertEqual(self.go()["by"], "commit")
        self.offer(self.evil(".other"))  # other bytes are another root
        self.go(code=4)
        (entry,) = self.expect(self.sabath.run("trust", "add", "model", "set", "--json")).record["trusted"]
        self.assertEqual(entry["commands"], ["weights.pkl: pickle, imports posix.system, calls"])
        self.assertEqual(self.go(ran=False)["by"], "commit")
        self.assertTrue((self.home / "proof.other").exists())

    def test_what_needs_no_word(self):
        self.offer(pickle.dumps([1, 2]))
        self.assertIsNone(self.go(ran=False))
        self.offer(self.evil())
        self.others.chmod(0o755)  # one's own place
        self.assertIsNone(self.go())
        server = self.serve({"weights.pkl": self.evil(".listed")})  # but a list there names what others have
        place(self.home / "own/list.txt", f"{server.url('weights.pkl')}\n".encode())
        self.sabath.add("set", [{"id": "a", "type": "file_list", "urls": [f"file://{self.home}/own/list.txt"]}])
        self.expect(self.sabath.run("fetch", "set"))
        self.go(code=4)

    def test_where_code_hides(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("model/data.pkl", self.evil())
        header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
        header += b" " * (117 - len(header)) + b"\n"
        array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + self.evil()
        layer = io.BytesIO()
        with zipfile.ZipFile(layer, "w") as archive:
            archive.writestr("config.json", '{"config": {"layers": [{"class_name": "Lambda"}]}}')
        for name, data in (("weights.pth", packed.getvalue()), ("x.npy", array), ("m.keras", layer.getvalue()),
                           ("x.pkl.gz", gzip.compress(self.evil())), ("no_ending", self.evil()),
                           ("cut.npz", packed.getvalue()[:60])):  # fmt: skip
            with self.subTest(name):
                self.offer(data, name=name)
                self.assertIn(f"loads   {name}", self.go(code=4).err)
                (self.others / name).unlink()


    def test_an_older_verdict_counts_for_nothing(self):
        """What an older gate did not see is looked at again."""
        self.offer(self.evil())
        self.go(code=4)
        (note,) = [file for file in self.sabath.store.rglob("*")
                   if file.is_file() and not file.is_symlink() and b"code in data" in file.read_bytes()[:200]]  # fmt: skip
        self.assertNotIn("code in data 1\n", note.read_text())
        note.chmod(0o644)
        note.write_text(f"sabath code in data 1\n{hashlib.sha256(b'').hexdigest()}\n")  # it found nothing
        self.go(code=4)


class Shipped(Runs):
    def test_no_shipped_model_asks(self):
        names = [file.stem for file in sorted((TREE / "recipes").glob("models/*.json"))]
        shown = self.expect(self.sabath.run("info", "--json", "--kind", "model", *names)).record["assets"]
        by = {asset["name"]: asset["runs_by"] for asset in shown if asset["run"]}
        self.assertGreater(len(by), 5)
        self.assertEqual(set(by.values()), {"shipped"}, by)


if __name__ == "__main__":
    main()
