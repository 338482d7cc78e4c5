#!/usr/bin/python3
"""Every verb of the program once, in the order of a person's days: what says "this build works on this machine".

`sabath help all` lists the verbs. One of them that was not called here fails the test.
"""

import pathlib
import re
import signal
import subprocess
import sys

import h5py
import numpy
from support import program, ranks
from support.case import Case, main, place
from support.content import fragment, seeded
from support.universe import universe

DATA = {"train/a.bin": seeded(5_000_001, 1), "train/b.bin": seeded(70_000, 2), "facts.csv": b"a,b\n1,2\n"}
STEP = 'for epoch in 1 2 3; do echo "epoch=$epoch loss=0.$((9 - epoch))"; done'


def relu(source, target):
    """`target = max(source, 0)` for x[n,3], as the bytes of a graph: ModelProto{ir_version 8, graph, opset 13}."""

    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data

    def value(name):
        shape = field(1, field(2, b"n")) + field(1, b"\x08\x03")
        return field(1, name) + field(2, field(1, b"\x08\x01" + field(2, shape)))

    node = field(1, source) + field(2, target) + field(4, b"Relu")
    graph = field(1, node) + field(2, b"g") + field(11, value(source)) + field(12, value(target))
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x0d")


class EveryVerb(Case):
    def setUp(self):
        super().setUp()
        self.called = set()
        self.two_ranks = [] if ranks.why_not() else [*ranks.MPIRUN, "-n", "2"]
        self.server = self.serve(DATA)
        parts = [fragment(self.server.url(path), data, name=path.replace("/", "-"), path=path) for path, data in DATA.items()]
        script = {"id": "upper", "description": "Capital letters", "argv": ["sh", "-c", 'tr a-z A-Z <"$0" >"$1"', "{input}",
                  "{output}/{stem}.up"], "per": "file", "inputs": ["*.csv"], "outputs": ["*.up"]}  # fmt: skip
        self.sabath.add("set", parts, licence="MIT", citation=["@misc{set}"], supporting=[script])
        place(self.sabath.recipes / "models/net/step.sh", STEP.encode())
        self.sabath.add("net", kind="model", source="net", default_dataset="set",
                        run={"set": [{"argv": ["sh", "{source}/step.sh"]}]})  # fmt: skip

    def do(self, verb, *arguments, code=0, says="", **options):
        """`sabath VERB ARGUMENTS`, which ends with `code` and says `says`: its standard output."""
        self.called.add(verb)
        result = self.expect(self.sabath.run(*verb.split(), *arguments, **options), code)
        self.assertIn(says, result.out + result.err)
        return result.out

    def test_every_verb(self):
        for days in (self.data, self.bundles, self.nodes, self.catalogues, self.manifests, self.files, self.runs,
                     self.models, self.service, self.machine, self.care):  # fmt: skip
            with self.subTest(days.__name__):
                days()
        verbs = set(re.findall(r"^  ([a-z][a-z0-9]*(?: [a-z-]+)?)  ", self.do("help", "all"), re.M))
        self.assertGreater(len(verbs), 30)
        self.assertEqual(verbs, self.called)

    def data(self):
        self.do("list", says="set")
        self.do("search", "set", says="set")
        self.do("plan", "-d", "set", says="5.07 MB")
        self.do("path", "set", code=9)
        self.do("fetch", "-d", "set", says="verified")
        self.expect_tree(pathlib.Path(self.do("path", "set").strip()), DATA)
        self.do("fetch", "-d", "set", "--offline")
        self.do("verify")
        self.do("view", "set", "--to", self.home / "mine")
        self.expect_tree(self.home / "mine", DATA)
        self.do("info --where", "set", says=str(self.sabath.store))
        self.do("info", "set", says="MIT")
        self.do("cite", "set", says="@misc")
        self.do("fair", "set")
        for number, launcher in enumerate([[], self.two_ranks] if self.two_ranks else [[]]):
            store = self.home / f"store-{number}"
            fetched = self.sabath.run("--store", store, "fetch", "-d", "set", prefix=launcher, **ranks.LIBMPI)
            self.assertIn("verified", self.expect(fetched).err)
            self.expect(self.sabath.run("--store", store, "verify"))

    def bundles(self):
        other = ["--store", self.home / "other"]
        self.do("export --missing", "set", "-o", self.home / "set.want", *other)
        self.do("export", "--want", self.home / "set.want", "-o", self.home / "set.tar")
        self.do("import", self.home / "set.tar", "set", *other)
        self.do("fetch", "-d", "set", "--offline", *other)
        self.expect_tree(pathlib.Path(self.do("path", "set", *other).strip()), DATA)

    def nodes(self):
        """Two pretended nodes where there is an MPI, else this one."""
        nodes = ["--to", self.home / "node{node}", "--emulate-nodes", 2] if self.two_ranks else ["--to", self.home / "node0"]
        self.do("stage", "set", *nodes, prefix=self.two_ranks, **ranks.LIBMPI)
        for node in range(2 if self.two_ranks else 1):
            self.expect_tree(self.home / f"node{node}" / "set", DATA)
        self.do("unstage", "set", *nodes, prefix=self.two_ranks, **ranks.LIBMPI)
        self.assertFalse((self.home / "node0" / "set").exists())

    def catalogues(self):
        own = self.home / "lab"
        own.mkdir()
        self.do("catalogue new", "climate", "--url", self.server.url("facts.csv"), "licence=MIT", SABATH_RECIPES=str(own))
        self.do("catalogue edit", "climate", "licence=CC0-1.0", SABATH_RECIPES=str(own))
        self.do("fetch", "climate", SABATH_RECIPES=str(own))
        self.do("catalogue pin", "climate", SABATH_RECIPES=str(own))
        self.do("catalogue export", self.home / "public", SABATH_RECIPES=str(own))
        self.do("catalogue subscribe", f"file://{self.home}/public/index.json", "--as", "lab")
        self.do("catalogue list", says="lab")
        self.do("catalogue update")
        self.do("info", "lab/climate", says="CC0-1.0")
        self.do("catalogue unsubscribe", "lab")
        self.do("catalogue rm", "climate", "--why", "a test", SABATH_RECIPES=str(own))

    def manifests(self):
        mine, manifest = self.home / "mine", self.home / "mine.manifest"
        self.do("manifest create", mine, "-o", manifest)
        self.do("manifest show", manifest, says="facts.csv")
        self.do("manifest verify", manifest, mine)
        self.do("manifest diff", manifest, "set")
        self.do("manifest export", "set", "--metalink", self.home / "set.meta4", "--url", self.server.url())
        (mine / "facts.csv").write_bytes(b"a,b\n1,3\n")
        self.do("manifest verify", manifest, mine, code=7, says="facts.csv")

    def files(self):
        numpy.save(self.home / "x.npy", numpy.arange(12, dtype="<f4").reshape(3, 4))
        self.do("inspect", self.home / "x.npy", says="<f4 (3, 4)")
        file, part = self.home / "u.hdf5", self.home / "part.hdf5"
        full = universe(file, 8)
        self.do("hdf5 inspect", file, says="full")
        self.do("hdf5 hash", file, says="hdf5-v1:")
        self.do("hdf5 select", file, "full[:,:,:,0]", "-o", part)
        with h5py.File(part) as selected:
            numpy.testing.assert_array_equal(selected["full"][...], full[:, :, :, 0])

    def runs(self):
        self.do("apply --list", "set", says="upper")
        self.do("log", "epoch=3", "loss=0.125", says='"loss":0.125')
        self.do("apply", "set", "upper", says="/")
        self.do("run", "net", "--run-dir", self.home / "one")
        self.do("job", "net", "--scheduler", "slurm", says="#SBATCH")
        self.do("trust add", "net")
        self.do("trust list")
        self.do("trust revoke", "net", code=3)  # code of one's own needs no decision
        self.do("run", "net", "--run-dir", self.home / "two")
        self.do("report", self.home / "one", says="loss")
        self.do("compare", self.home / "one", self.home / "two", says="loss")
        self.do("sample", "--to", self.home / "samples", "--", "sleep", "0.2")

    def models(self):
        """What runs a model is no package of Debian: without it these say what to get. tests/clients has it."""
        place(self.home / "one.onnx", relu(b"x", b"y"))
        place(self.home / "two.onnx", relu(b"y", b"z"))
        inputs = ["--data", self.home / "x.npy"]
        self.do("infer", "one.onnx,two.onnx", "-i", inputs[1], "-o", "y.npy", code=6, says="there is no ONNX Runtime")
        self.do("convert", "one.onnx,two.onnx", "--merge", *inputs, "-o", "both", code=6, says="there is no ONNX Runtime")
        place(self.home / "search.yaml", b"general_args:\n  task: search\nmodel_args:\n  query: set\n")
        self.do("task", self.home / "search.yaml", "-n")

    def service(self):
        self.called.add("serve")
        process = self.sabath.start("serve", "--listen", "127.0.0.1:0")
        url = re.search(r"sabath://\S+?:\d+", process.stderr.readline()).group()
        self.sabath.add("served", [fragment(url, data, name=path.replace("/", "-"), path=path) for path, data in DATA.items()])
        self.expect(self.sabath.run("--store", self.home / "third", "fetch", "-d", "served"))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)

    def machine(self):
        self.do("fetchers", says="https")
        self.do("config", says=str(self.sabath.store))
        self.do("job --answer", code=12, says="no call")
        self.do("doctor")
        here = self.home / "here.json"
        self.do("site detect", "--patience", "120", "-o", here)
        self.do("site show", here, says="architecture")
        self.do("site diff", here, here)
        self.do("site solve", "python>=3", "--site", here, says="python")
        explicit = self.home / "explicit.txt"
        explicit.write_text(f"@EXPLICIT\nhttps://conda.example/linux-64/numpy-2.1.0-h_0.conda#{'a' * 64}\n")
        self.do("env lock", explicit, "--platform", "x86_64", "-o", self.home / "conda-lock.yml", says="numpy")
        self.do("env pack", "tools", self.home, code=2, says="python3")
        self.do("env list")
        self.do("env image", "tools", code=3, says="tools")
        self.do("env show", "tools", code=3, says="tools")
        self.do("env diff", "tools", "tools", code=3, says="tools")
        self.do("demo", "-o", self.home / "demo", "--quiet")
        library = pathlib.Path(program.BINARY).parent.parent / "lib/libsabath.so"
        if library.exists():
            called = subprocess.run([sys.executable, "-c", "import sabath; print(sabath.path('set'))"], text=True, check=True,
                                    env={**self.sabath.environment, "SABATH_LIBRARY": str(library),
                                         "PYTHONPATH": str(pathlib.Path(__file__).parents[2] / "python")}, capture_output=True)  # fmt: skip
            self.expect_tree(pathlib.Path(called.stdout.strip()), DATA)

    def care(self):
        """The stores are well, a flipped byte is found and mended, and what is removed is gone."""
        self.expect_well(self.sabath.store)
        self.expect_well(self.home / "demo/store")
        self.do("init", "--store", self.home / "new")
        self.do("adopt", self.home / "mine", "--name", "mine")
        self.do("keep", "set")
        self.do("unkeep", "set")
        self.do("du")
        wrong = max((self.sabath.store / "objects").rglob("*.*"), key=lambda file: file.stat().st_size)
        wrong.chmod(0o644)
        with open(wrong, "r+b") as file:
            file.write(bytes([file.read(1)[0] ^ 1]))
        self.do("verify", "--repair", code=0)
        self.expect_tree(pathlib.Path(self.do("path", "set").strip()), DATA)
        self.do("rm", "mine")
        self.do("path", "mine", code=9)

    def expect_well(self, store):
        """After all verbs: those that care for a store find it well, twice, and move nothing."""
        notes = sorted(file for room in ("refs", "indexes", "alias") for file in (store / room).rglob("*"))
        self.assertNotEqual(notes, [])
        for verb, *options in 2 * (("verify",), ("gc", "--dry-run"), ("doctor",), ("du",)):
            self.do(verb, *options, "--store", store)
            self.assertEqual(list((store / "quarantine").glob("*")), [], verb)
        self.assertEqual([file for file in notes if not file.exists()], [])


if __name__ == "__main__":
    main()
