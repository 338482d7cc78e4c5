#!/usr/bin/python3
"""The real huggingface_hub, safetensors and transformers on what SABATH lays out, adopts and serves.
`scripts/setup clients` installs them."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

from support import clients
from support.case import SKIPPED, Case, main
from support.content import flip, sha256
from support.hub import COMMIT, FILES, Hub

TOKEN = "hf_abcdefgh12345678"
CLIENTS = str(clients.PYTHON)

PREAMBLE = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
import huggingface_hub as hub
out = {}
def tried(act):
    try:
        return act()
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
"""


class Clients(Case):
    def setUp(self):
        super().setUp()
        self.files = dict(FILES)
        self.hub = Hub({"acme/net": self.files, "datasets/acme/set": {"data/a.csv": b"x\n1\n"}, "acme/gated": {"model.safetensors": FILES["model.safetensors"]}},
                       TOKEN, ["acme/gated"])
        self.addCleanup(self.hub.stop)
        self.sabath.environment["HF_ENDPOINT"] = self.hub.url

    def python(self, code, prefix=(), **variables):
        """What `out` holds when the real library has run this code."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home / "clienthome"), "HF_HUB_DISABLE_TELEMETRY": "1",
                       "HF_HUB_DISABLE_PROGRESS_BARS": "1", **variables}
        result = subprocess.run([*prefix, CLIENTS, "-c", PREAMBLE + code + "\nprint(json.dumps(out))"], env=environment,
                                capture_output=True, text=True, check=False, timeout=600, cwd=self.home)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout.splitlines()[-1])

    def laid_out(self, name, *arguments):
        result = self.expect(self.sabath.run("view", name, "--layout", "hf", *arguments))
        return re.fullmatch(r"export HF_HUB_CACHE=(\S+) HF_HUB_OFFLINE=1\n", result.out).group(1)

    OFFLINE = """
out["file"] = hub.hf_hub_download("acme/net", "config.json")
out["deep"] = hub.hf_hub_download("acme/net", "sub/weights 1.bin", revision=COMMIT)
out["all"] = hub.snapshot_download("acme/net")
out["set"] = hub.snapshot_download("acme/set", repo_type="dataset")
out["optional"] = hub.try_to_load_from_cache("acme/net", "generation_config.json") is hub._CACHED_NO_EXIST
out["missing"] = tried(lambda: hub.hf_hub_download("acme/net", "nope.json"))
info = hub.scan_cache_dir()
out["warnings"] = [str(w) for w in info.warnings]
out["repos"] = sorted([r.repo_type, r.repo_id, r.nb_files, sorted(v.commit_hash for v in r.revisions)] for r in info.repos)
"""

    def check_offline(self, cache, prefix=()):
        out = self.python(self.OFFLINE.replace("COMMIT", repr(COMMIT)), prefix, HF_HUB_CACHE=cache, HF_HUB_OFFLINE="1")
        self.assertEqual(pathlib.Path(out["file"]).read_bytes(), FILES["config.json"])
        self.assertTrue(pathlib.Path(out["deep"]).read_bytes() == FILES["sub/weights 1.bin"])
        self.expect_tree(out["all"], self.files)
        self.expect_tree(out["set"], {"data/a.csv": b"x\n1\n"})
        self.assertTrue(out["optional"])
        self.assertIn("LocalEntryNotFoundError", out["missing"])
        self.assertEqual(out["warnings"], [])
        self.assertEqual(out["repos"], [["dataset", "acme/set", 1, [COMMIT]], ["model", "acme/net", len(FILES), [COMMIT]]])

    def test_a_view_offline(self):
        self.fetch("hf://acme/net")
        self.fetch("hf://datasets/acme/set")
        for how in ("copy", "link", "symlink"):
            cache = self.home / how
            self.laid_out("net", "--to", cache, "--as", how)
            self.laid_out("set", "--to", cache, "--as", how)
            self.check_offline(str(cache))
        # Read-only, as the store of a group is.
        subprocess.run(["chmod", "-R", "a-w", self.home / "copy"], check=True)
        self.check_offline(str(self.home / "copy"))
        subprocess.run(["chmod", "-R", "u+w", self.home / "copy"], check=True)
        verdict = subprocess.run([CLIENTS, "-m", "huggingface_hub.cli.hf", "cache", "ls", "--cache-dir", self.home / "copy"],
                                 capture_output=True, text=True, check=False, timeout=300,
                                 env={"PATH": os.environ["PATH"], "HOME": str(self.home), "HF_HUB_OFFLINE": "1"})
        self.assertIn("acme/net", verdict.stdout, verdict)

    def test_no_socket_offline(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        self.fetch("hf://acme/net")
        self.fetch("hf://datasets/acme/set")
        cache, log = self.home / "hub", self.home / "trace"
        self.laid_out("net", "--to", cache)
        self.laid_out("set", "--to", cache)
        self.check_offline(str(cache), ["strace", "-f", "-qq", "-e", "trace=socket,connect", "-o", log])
        opened = [line for line in log.read_text().splitlines() if "AF_INET" in line]
        self.assertEqual(opened, [])

    def test_a_part_offline(self):
        self.fetch("hf://acme/net/sub/")
        out = self.python('out["file"] = hub.hf_hub_download("acme/net", "sub/weights 1.bin")\n'
                          'out["none"] = tried(lambda: hub.hf_hub_download("acme/net", "config.json"))',
                          HF_HUB_CACHE=self.laid_out("sub"), HF_HUB_OFFLINE="1")
        self.assertTrue(pathlib.Path(out["file"]).read_bytes() == FILES["sub/weights 1.bin"])
        self.assertIn("LocalEntryNotFoundError", out["none"])

    def start(self, *arguments):
        process = self.sabath.start("serve", "--hf", "--listen", "127.0.0.1:0", *arguments)
        self.addCleanup(self.end, process)
        process.stderr.readline()
        return process, re.search(r"HF_ENDPOINT=(\S+)", process.stderr.readline()).group(1)

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        return process.communicate(timeout=300)

    ONLINE = """
out["file"] = hub.hf_hub_download("acme/net", "sub/weights 1.bin")
out["all"] = hub.snapshot_download("acme/net")
out["again"] = hub.snapshot_download("acme/net", revision=COMMIT)
out["set"] = hub.snapshot_download("acme/set", repo_type="dataset")
out["listed"] = sorted(hub.list_repo_files("acme/net"))
out["sha"] = hub.model_info("acme/net").sha
out["exists"] = [hub.file_exists("acme/net", "config.json"), hub.file_exists("acme/net", "nope")]
out["tree"] = sorted(e.path for e in hub.list_repo_tree("acme/net", "sub"))
out["nope"] = tried(lambda: hub.hf_hub_download("acme/net", "nope.json"))
out["gated"] = tried(lambda: hub.hf_hub_download("acme/gated", "model.safetensors"))
out["gated_all"] = tried(lambda: hub.snapshot_download("acme/gated"))
out["other"] = tried(lambda: hub.snapshot_download("acme/other"))
info = hub.scan_cache_dir()
out["warnings"] = [str(w) for w in info.warnings]
"""

    def test_a_store_as_the_hub(self):
        self.fetch("hf://acme/net")
        self.fetch("hf://datasets/acme/set")
        self.sabath.environment["HF_TOKEN"] = TOKEN
        self.fetch("hf://acme/gated")
        server, endpoint = self.start()
        asked = len(self.hub.requests)
        cache = self.home / "client"
        secret = "hf_clientsOwnTokenXYZ"
        out = self.python(self.ONLINE.replace("COMMIT", repr(COMMIT)), HF_ENDPOINT=endpoint, HF_HUB_CACHE=str(cache),
                          HF_TOKEN=secret)
        self.assertTrue(pathlib.Path(out["file"]).read_bytes() == FILES["sub/weights 1.bin"])
        self.expect_tree(out["all"], self.files)
        self.assertEqual(out["again"], out["all"])
        self.assertEqual(out["listed"], sorted(FILES))
        self.assertEqual(out["sha"], COMMIT)
        self.assertEqual(out["exists"], [True, False])
        self.assertEqual(out["tree"], ["sub/weights 1.bin"])
        self.assertIn("EntryNotFoundError", out["nope"])
        for what in ("gated", "gated_all", "other"):
            self.assertIn("RepositoryNotFoundError", out[what])
            self.assertIn("sabath fetch hf://acme/", out[what])
        self.assertEqual(out["warnings"], [])
        self.assertEqual(len(self.hub.requests), asked)
        log = "".join(self.end(server))
        self.assertNotIn(secret, log)
        # Its cache has the blobs that ours would have, and can be adopted.
        blobs = {p.name for p in (cache / "models--acme--net" / "blobs").iterdir()}
        self.laid_out("net", "--to", self.home / "ours")
        self.assertEqual(blobs, {p.name for p in (self.home / "ours" / "models--acme--net" / "blobs").iterdir()})
        for tree in ("trees",):
            theirs = json.loads((cache / "models--acme--net" / tree / f"{COMMIT}.json").read_text())
            ours = json.loads((self.home / "ours" / "models--acme--net" / tree / f"{COMMIT}.json").read_text())
            self.assertEqual(ours, theirs)

    def test_its_own_cache_adopted(self):
        """Downloaded by the real library from the imitated hub."""
        cache = self.home / "hub"
        self.python('out["x"] = hub.snapshot_download("acme/net")\n'
                    'out["y"] = hub.hf_hub_download("acme/set", "data/a.csv", repo_type="dataset")',
                    HF_ENDPOINT=self.hub.url, HF_HUB_CACHE=str(cache))
        asked = len(self.hub.requests)
        record = self.expect(self.sabath.run("adopt", "--layout", "hf", cache, "--json")).record
        self.assertEqual([a["unchecked"] for a in record["assets"]], [0, 0])
        self.assertEqual([a["name"] for a in record["assets"]], ["datasets--acme--set", "acme--net"])
        self.expect(self.sabath.run("fetch", "acme--net"))
        self.expect_tree(self.expect(self.sabath.run("path", "acme--net")).out.strip(), self.files)
        self.assertEqual(len(self.hub.requests), asked)
        (blob,) = (cache / "models--acme--net" / "blobs").glob(sha256(FILES["model.safetensors"]))
        flip(blob, 9)
        again = self.expect(self.sabath.run("adopt", "--layout", "hf", cache, "--json", "--store", self.home / "s2"), 7)
        self.assertIn(blob.name, json.dumps(again.record))

    @clients.needs("safetensors", "numpy")
    def test_tensors_and_models(self):
        made = self.home / "made"
        made.mkdir()
        self.python(f"""
import numpy, safetensors.numpy
safetensors.numpy.save_file({{"w": numpy.arange(12, dtype="f4").reshape(3, 4)}}, {str(made / "model.safetensors")!r})
""")
        self.files["model.safetensors"] = (made / "model.safetensors").read_bytes()
        self.fetch("hf://acme/net")
        out = self.python("""
import safetensors.numpy
tensors = safetensors.numpy.load_file(hub.hf_hub_download("acme/net", "model.safetensors"))
out["w"] = tensors["w"].tolist()
""", HF_HUB_CACHE=self.laid_out("net"), HF_HUB_OFFLINE="1")
        self.assertEqual(out["w"], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
        if clients.missing("transformers"):
            self.skipTest("transformers is not installed there: its configuration was not loaded")
        out = self.python("""
from transformers import AutoConfig
out["type"] = AutoConfig.from_pretrained("acme/net").model_type
""", HF_HUB_CACHE=self.laid_out("net"), HF_HUB_OFFLINE="1")
        self.assertEqual(out["type"], "bert")

    @clients.needs("transformers", "tokenizers")
    def test_a_tokenizer(self):
        """It looks for a dozen optional files; offline from a view, and from a served store."""
        made = self.home / "made"
        self.python(f"""
import tokenizers, transformers
words = tokenizers.Tokenizer(tokenizers.models.WordLevel({{"[UNK]": 0, "a": 1, "b": 2}}, unk_token="[UNK]"))
words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]").save_pretrained({str(made)!r})
""")
        for file in made.iterdir():
            self.files[file.name] = file.read_bytes()
        self.fetch("hf://acme/net")
        read = 'from transformers import AutoTokenizer\nout["ids"] = AutoTokenizer.from_pretrained("acme/net")("b a c")["input_ids"]'
        self.assertEqual(self.python(read, HF_HUB_CACHE=self.laid_out("net"), HF_HUB_OFFLINE="1")["ids"], [2, 1, 0])
        server, endpoint = self.start()
        asked = len(self.hub.requests)
        cache = self.home / "client"
        self.assertEqual(self.python(read, HF_ENDPOINT=endpoint, HF_HUB_CACHE=str(cache))["ids"], [2, 1, 0])
        self.assertEqual(len(self.hub.requests), asked)
        self.end(server)
        self.assertEqual(self.python(read, HF_HUB_CACHE=str(cache), HF_HUB_OFFLINE="1")["ids"], [2, 1, 0])


if __name__ == "__main__":
    if why := clients.missing("huggingface_hub"):
        print(f"SKIP: {why}")
        sys.exit(SKIPPED)
    main()
