#!/usr/bin/python3
"""A message says what happened and the next step; where that is a command, it is typed here, as it stands, and works."""

import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess

from support import program
from support.case import Case, main, place
from support.content import fragment, seeded, small_tree
from support.mounts import enter_own_namespace, mount, need_own_namespace
from support.program import Result


class Hints(Case):
    def setUp(self):
        super().setUp()
        self.tree = small_tree()
        for name, data in self.tree.items():
            place(self.home / "own data" / name, data)

    def typed(self, line, code=0):
        """As a person types it, with `sabath` in PATH."""
        path = f"{pathlib.Path(program.BINARY).parent}:{self.sabath.environment['PATH']}"
        done = subprocess.run(["sh", "-c", line], cwd=self.home, env={**self.sabath.environment, "PATH": path},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip
        return self.expect(Result(done.returncode, done.stdout, done.stderr), code)

    def hint(self, result, code, *says, step=None, **values):
        """The command in the failure's hint; `values` stand for its words in capitals."""
        self.expect(result, code)
        self.assertEqual(result.err.count("error: "), 1, result)
        for text in says:
            self.assertIn(text, result.err)
        line = re.search(r"hint: (.*)", result.err).group(1)
        commands = re.findall(r"`(sabath [^`]+)`", line)
        self.assertTrue(commands, line)
        if step is not None:
            self.assertEqual(commands[0], step)
        return re.sub(r"\b(NAME|DIR|FILE)\b", lambda word: values[word[0].lower()], commands[0])


class Names(Hints):
    def test_a_name_that_no_recipe_has(self):
        del self.sabath.environment["SABATH_RECIPES"]  # a new shell
        result = self.sabath.run("path", "myuniverses")
        line = self.hint(result, 3, 'no recipe named "myuniverses"', "SABATH_RECIPES", step="sabath list")
        self.typed(line)

    def test_a_version_that_there_is_not(self):
        server = self.serve({"f": b"1"})
        for version in ("1", "2"):
            self.sabath.add("sea", [fragment(server.url("f"))], version=version).rename(self.sabath.recipes / f"datasets/sea{version}.json")
        self.sabath.add("lake", [fragment(server.url("f"))])
        self.assertIn("there is sea@1, sea@2", self.expect(self.sabath.run("info", "sea@9"), 3).err)
        self.assertIn("the recipe of lake states no version: say its name alone", self.expect(self.sabath.run("info", "lake@9"), 3).err)

    def test_a_path_that_is_none(self):
        for name in ("./nope.json", "lab/climat"):
            self.typed(self.hint(self.sabath.run("fetch", name), 3, f"there is no recipe file {name}", step="sabath list"))
        self.sabath.add("climate", [fragment("http://data.example/f.bin")])
        published = self.home / "published"
        self.expect(self.sabath.run("catalogue", "export", published))
        self.expect(self.sabath.run("catalogue", "subscribe", f"file://{published}/index.json", "--as", "lab"))
        self.assertIn('did you mean "lab/climate"?', self.expect(self.sabath.run("info", "lab/climat"), 3).err)

    def test_a_setting_without_its_sign(self):
        self.sabath.add("net", kind="model", run={"one": [{"argv": ["true"]}]})
        said = self.expect(self.sabath.run("run", "net", "0.1", "--set", "lr"), 2).err
        self.assertIn("--set lr is no setting", said)

    def test_an_option_that_is_none_comes_before_a_name_that_lacks(self):
        said = self.expect(self.sabath.run("run", "--hlep"), 2).err
        self.assertIn("no such option: '--hlep'", said)
        self.assertIn("did you mean --help?", said)


class OwnData(Hints):
    def test_a_directory_is_adopted(self):
        data = self.home / "own data"
        for line in (["fetch", "./own data"], ["fetch", f"file://{data}/".replace(" ", "%20")], ["fetch", "./own data", "--name", "mine"]):
            step = f"sabath adopt '{data}' --name NAME"
            self.typed(self.hint(self.sabath.run(*line), 2, step=step, name="mine"))
        self.expect_tree(self.typed("sabath path mine").lines[-1], self.tree)

    def test_a_file_is_fetched_by_its_url(self):
        for name, data in (("large file.bin", seeded(5 << 20)), ("small.csv", b"a,b\n1,2\n")):
            place(self.home / name, data)
            step = "sabath fetch " + f"file://{self.home}/{name}".replace(" ", "%20")
            done = self.typed(self.hint(self.sabath.run("fetch", f"./{name}"), 2, "is a file of data, and no recipe", step=step))
            place_of = pathlib.Path(done.lines[-1])
            (file,) = place_of.iterdir()
            self.assertEqual(file.read_bytes(), data)

    def test_what_was_adopted_and_changed_is_named(self):
        self.expect(self.sabath.run("adopt", self.home / "own data", "--name", "mine"))
        file = sorted(name for name, data in self.tree.items() if data)[0]
        place(self.home / "own data" / file, b"other bytes than those that were adopted")
        said = self.expect(self.sabath.run("path", "mine"), 9).err
        self.assertIn(f"{self.home}/own data/{file}, which was adopted, has changed since", said)

    def test_what_was_adopted_and_changed_comes_back(self):
        data = self.home / "own data"
        file = sorted(name for name, data in self.tree.items() if data)[0]
        for i, (code, verb) in enumerate(((9, "path"), (9, "view"), (4, "fetch"))):
            self.expect(self.sabath.run("adopt", data, "--name", "mine"))
            self.tree[file] = f"the bytes of change {i}".encode()
            place(data / file, self.tree[file])
            result = self.sabath.run(verb, "mine")
            self.typed(self.hint(result, code, step="sabath rm --forget mine"))
            (adopt,) = re.findall(r"`(sabath adopt [^`]+)`", result.err)
            self.assertEqual(adopt, f"sabath adopt '{data}' --name mine")
            self.typed(adopt)
            self.expect_tree(self.typed("sabath path mine").lines[-1], self.tree)
            self.expect(self.sabath.run("rm", "--forget", "mine"))
        self.expect(self.sabath.run("adopt", data, "--name", "mine"))
        kept = (data / file).read_bytes()
        place(data / file, b"changed, and put back")
        said = self.expect(self.sabath.run("verify", "mine"), 7).err
        (line,) = re.findall(r"`(sabath path [^`]+)`", said)
        self.hint(self.sabath.run(*shlex.split(line)[1:]), 9, step="sabath rm --forget mine")
        place(data / file, kept)

    def test_an_import(self):
        missing = self.sabath.run("import", "nosuch.tar")
        self.expect(self.sabath.run("adopt", self.home / "own data", "--name", "mine"))
        self.assertEqual(self.hint(missing, 3, "there is no file nosuch.tar"), "sabath export")
        place(self.home / "figure.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>")
        result = self.sabath.run("import", "figure.svg")
        self.hint(result, 12, "this is no bundle", step="sabath export")
        self.assertNotIn("in the recipe", result.err)


class Runs(Hints):
    def model(self, *argv, name="net", over="mine", **more):
        self.sabath.add(name, kind="model", run={over: [{"argv": list(argv)}]}, **more)

    def test_staged_data_that_changed_are_staged_again(self):
        self.expect(self.sabath.run("adopt", self.home / "own data", "--name", "mine"))
        self.model("ls", "{dataset}", default_dataset="mine")
        node = self.home / "a node"
        run = ("run", "net", "--at", node, "--trust", "once")
        self.typed(self.hint(self.sabath.run(*run), 9, "mine is not staged", step=f"sabath stage mine --to '{node}'"))
        file = next(path for path in sorted((node / "mine").resolve().rglob("*")) if path.is_file() and path.stat().st_size)
        os.chmod(file, 0o644)
        place(file, b"other")
        self.typed(self.hint(self.sabath.run(*run), 7, "mine is not what was verified: 1 file is wrong",
                             step=f"sabath stage mine --to '{node}'"))  # fmt: skip
        self.expect(self.sabath.run(*run))

    def test_a_program_that_failed_is_an_error(self):
        self.expect(self.sabath.run("adopt", self.home / "own data", "--name", "mine"))
        self.model("python3", "-c", "import no_such_module", default_dataset="mine")
        said = self.expect(self.sabath.run("run", "net", "--trust", "once"), 11).err
        self.assertNotIn("warning:", said)
        self.assertRegex(said, r"error: `[^`]*python3[^`]*` ended with 1\n  hint: SABATH_PYTHON names a Python that has the module")
        self.assertIn("ModuleNotFoundError", said)
        self.assertEqual(said.count("\n  hint: "), 1)
        self.assertRegex(said.splitlines()[-1], "all that it said is in .*/output$")

    def test_the_launchers_sentence_is_not_lost(self):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        self.expect(self.sabath.run("adopt", self.home / "own data", "--name", "mine"))
        self.sabath.add("net", kind="model", default_dataset="mine", run={"mine": [{"argv": ["true"], "parallel": True}]})
        variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        result = self.sabath.run("run", "net", "--ranks", "4096", "--launcher", "mpirun", "--trust", "once", **variables)
        if "not enough slots" not in "".join(file.read_text() for file in self.home.glob("run_*/output/std*")):
            self.skipTest("this launcher says it otherwise")
        self.assertIn("the launcher has fewer slots than ranks were asked for: say fewer by --ranks", self.expect(result, 11).err)

    def test_a_dataset_of_which_no_recipe_is_known(self):
        """As of cosmoflow-nano in a fresh store: its recipe says where its universes come from."""
        self.model("true", over="elsewhere", default_dataset="elsewhere", access={"kind": "public", "steps": ["`sabath list --kind model` first"]})
        self.typed(self.hint(self.sabath.run("run", "net", "--trust", "once"), 3, "net runs on elsewhere, of which no recipe is known here",
                             step="sabath list --kind model"))  # fmt: skip
        self.typed(self.hint(self.sabath.run("fetch", "net"), 3, step="sabath list --kind model"))
        self.model("true", over="elsewhere", name="bare", default_dataset="elsewhere")
        self.typed(self.hint(self.sabath.run("run", "bare", "--trust", "once"), 3, step="sabath info bare"))

    def test_code_beside_its_recipe_is_not_fetched(self):
        place(self.sabath.recipes / "models/code/train.py", b"print(1)\n")
        self.model("python3", "{source}/train.py", source="code", default_dataset="mine")
        self.expect(self.sabath.run("adopt", self.home / "own data", "--name", "mine"))
        line = self.hint(self.sabath.run("fetch", "-m", "net"), 2, "is beside its recipe: there is nothing to fetch",
                         step="sabath run net")  # fmt: skip
        self.typed(line + " --trust once")


class Places(Hints):
    def test_nothing_listens_there(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # bound, never listening
            self.sabath.add("one", [fragment(f"http://127.0.0.1:{unused.getsockname()[1]}/f.bin")])
            said = self.expect(self.sabath.run("fetch", "one"), 6).err
        self.assertIn("hint: no server listens there: check host and port", said)
        self.assertNotIn("if this machine needs a proxy", said)

    def test_a_host_that_git_cannot_find(self):
        for name, origin in (("a", "git://no-such-host.invalid/tree.git"), ("b", "ssh://git@no-such-host.invalid/tree.git")):
            if shutil.which("ssh") or not origin.startswith("ssh"):
                self.sabath.add(name, kind="model", git={"origin": origin})
                said = self.expect(self.sabath.run("fetch", "-m", name), 6).err
                self.assertIn("hint: check the host name and this machine's name service", said)

    def test_memory_is_said_before_a_job_is_ended_for_it(self):
        self.expect(self.sabath.run("adopt", self.home / "own data", "--name", "mine"))
        on_disk = self.expect(self.sabath.run("stage", "mine", "--to", self.home / "disk")).err
        need_own_namespace(self)
        mount(self, self.home / "ram", "-t", "tmpfs", "-o", "size=16m", "tmpfs")
        said = self.expect(self.sabath.run("stage", "mine", "--to", self.home / "ram")).err
        self.assertRegex(said, rf"warning: {re.escape(str(self.home))}/ram is memory: the .* of mine count against the memory of the job")
        if subprocess.run(["stat", "-fc", "%T", self.home], capture_output=True, text=True).stdout.strip() != "tmpfs":
            self.assertNotIn("is memory", on_disk)

    def test_content_that_was_learnt_by_other_settings_is_taken(self):
        """On the login node by a rewrite, in the job without it."""
        server = self.serve({"f.bin": b"content"})
        self.sabath.add("one", [fragment("http://no-such-host.invalid/f.bin")])
        rewrite = "http://no-such-host.invalid/=" + server.url("")
        path = self.expect(self.sabath.run("fetch", "one", "--rewrite", rewrite)).lines[-1]
        self.sabath.add("reads", kind="model", default_dataset="one", run={"one": [{"argv": ["ls", "{dataset}"]}]})
        for line in (["fetch", "one"], ["stage", "one", "--to", self.home / "node"], ["run", "reads", "--trust", "once"]):
            said = self.expect(self.sabath.run(*line), 6).err
            self.assertIn("hint: one is here whole, but it was learnt by other settings: the same command with --offline takes it", said)
            self.expect(self.sabath.run(*line, "--offline"))
        self.assertEqual(self.typed("sabath fetch --offline one").lines[-1], path)

    def test_a_token_that_was_refused(self):
        self.expect(self.sabath.run("adopt", self.home / "own data", "--name", "mine"))
        root = self.sabath.run("path", "mine").lines[-1].rsplit("/", 1)[-1]
        token = self.home / "token"
        token.write_text("right\n")
        token.chmod(0o600)
        serving = self.sabath.start("serve", "--listen", "127.0.0.1:0", "--token", token)
        self.addCleanup(serving.communicate)
        self.addCleanup(serving.terminate)
        where = re.search(r"127\.0\.0\.1:\d+", serving.stderr.readline()).group(0)
        self.sabath.add("theirs", [fragment(f"sabath://{where}", path="f")],
                        manifest={"digest": f"sha256:{root}", "urls": [f"sabath://{where}"]})  # fmt: skip
        there = {"SABATH_CACHE": str(self.home / "another")}
        said = self.expect(self.sabath.run("fetch", "theirs", **there), 4).err
        self.assertIn("the store wants a token", said)
        said = self.expect(self.sabath.run("fetch", "theirs", SABATH_TOKEN=f"sabath://{where} wrong", **there), 4).err
        self.assertIn("a login was sent, and refused", said)


if __name__ == "__main__":
    enter_own_namespace()
    main()
