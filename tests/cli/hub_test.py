#!/usr/bin/python3
"""Hugging Face's cache, out and in, and a store as a hub. Layout, hashes and answers are those of the documents; the
real libraries read them in tests/clients/hub_test.py."""

import json
import os
import pathlib
import re
import signal
import subprocess

from support.case import Case, main
from support.content import flip, seeded, sha256
from support.hub import COMMIT, FILES, LFS, Hub, cache_of, etag, git_hash, pointer
from support.program import BINARY

TOKEN = "hf_abcdefgh12345678"


class HubCase(Case):
    def setUp(self):
        super().setUp()
        self.set = {"data/a.csv": b"x\n1\n", "README.md": b"# set\n"}
        self.hub = Hub({"acme/net": FILES, "datasets/acme/set": self.set, "acme/gated": {"model.safetensors": FILES["model.safetensors"]}}, TOKEN,
                       ["acme/gated"])
        self.addCleanup(self.hub.stop)
        self.sabath.environment["HF_ENDPOINT"] = self.hub.url

    def view(self, name, *arguments, code=0):
        return self.expect(self.sabath.run("view", name, "--layout", "hf", *arguments), code)

    def check_folder(self, folder, files, revision="main"):
        """The documented layout, file by file."""
        if revision:
            self.assertEqual((folder / "refs" / revision).read_bytes(), COMMIT.encode())
        snapshot = folder / "snapshots" / COMMIT
        found = {str(p.relative_to(snapshot)): p for p in snapshot.rglob("*") if not p.is_dir()}
        self.assertEqual(sorted(found), sorted(files))
        for name, data in files.items():
            blob = folder / "blobs" / etag(name, data)
            target = os.readlink(found[name])
            self.assertEqual(os.path.normpath(found[name].parent / target), str(blob))
            self.assertFalse(os.path.isabs(target))
            self.assertTrue(found[name].read_bytes() == data, name)
        self.assertEqual(len(list((folder / "blobs").iterdir())), len({etag(n, d) for n, d in files.items()}))

    def check_listing(self, folder, files):
        tree = json.loads((folder / "trees" / f"{COMMIT}.json").read_text())
        self.assertEqual(tree["format_version"], 1)
        expected = {}
        for name, data in files.items():
            expected[name] = {"size": len(data), "blob_id": git_hash(data)}
            if name in LFS:
                expected[name] = {"size": len(data), "blob_id": git_hash(pointer(data)), "lfs_sha256": sha256(data),
                                  "lfs_size": len(data)}
        self.assertEqual(tree["files"], expected)


class View(HubCase):
    def test_in_the_store(self):
        self.fetch("hf://acme/net")
        result = self.view("net")
        cache = re.fullmatch(r"export HF_HUB_CACHE=(\S+) HF_HUB_OFFLINE=1", result.out.strip()).group(1)
        folder = self.home / cache / "models--acme--net"
        self.check_folder(folder, FILES)
        self.check_listing(folder, FILES)
        self.assertTrue((folder / ".no_exist" / COMMIT / "generation_config.json").is_file())
        self.assertFalse((folder / ".no_exist" / COMMIT / "config.json").exists())
        self.expect(self.sabath.run("verify"))
        asked = len(self.hub.requests)
        self.assertEqual(self.view("net").out, result.out)
        self.assertEqual(len(self.hub.requests), asked)

    def test_outside(self):
        self.fetch("hf://acme/net")
        self.fetch("hf://datasets/acme/set@v1")
        for how in ("copy", "link", "symlink"):
            cache = self.home / f"hub of {how}"
            for _ in range(2):  # what stands there and is right stays
                self.view("net", "--to", cache, "--as", how)
                result = self.view("set", "--to", cache, "--as", how)
            self.assertEqual(result.out, f"export HF_HUB_CACHE='{cache}' HF_HUB_OFFLINE=1\n")
            self.check_folder(cache / "models--acme--net", FILES)
            self.check_folder(cache / "datasets--acme--set", self.set, "v1")
            blob = cache / "models--acme--net" / "blobs" / sha256(FILES["model.safetensors"])
            self.assertEqual(blob.is_symlink(), how == "symlink")
        flip(self.home / "hub of copy" / "models--acme--net" / "blobs" / sha256(FILES["model.safetensors"]), 7)
        self.assertIn("is there already", self.view("net", "--to", self.home / "hub of copy", code=2).err)

    def test_a_part_is_not_told_as_the_whole(self):
        self.fetch("hf://acme/net/sub/")
        self.view("sub", "--to", self.home / "hub")
        folder = self.home / "hub" / "models--acme--net"
        self.check_folder(folder, {n: d for n, d in FILES.items() if n.startswith("sub/")})
        self.assertFalse((folder / "trees").exists())
        self.assertFalse((folder / ".no_exist").exists())

    def test_what_no_hub_gave(self):
        server = self.serve({"f.bin": FILES["model.safetensors"]})
        self.fetch(server.url("f.bin"))
        self.assertIn("datasets/OWNER/NAME", self.view("f.bin", code=2).err)
        self.view("f.bin", "--repo", "datasets/me/f", "--to", self.home / "hub")
        (snapshot,) = (self.home / "hub" / "datasets--me--f" / "snapshots").iterdir()
        self.assertEqual((snapshot / "f.bin").read_bytes(), FILES["model.safetensors"])
        for wrong in ("a/b/c", "datasets/", "../x", "a--b/c", "-x/y", "x/y.", ""):
            self.view("f.bin", "--repo", wrong, "--to", self.home / "no", code=2)
        self.assertFalse((self.home / "no").exists())

    def test_stage(self):
        self.fetch("hf://acme/net")
        result = self.expect(self.sabath.run("stage", "net", "--to", self.home / "node", "--layout", "hf"))
        self.assertEqual(result.out, f"export HF_HUB_CACHE={self.home}/node/net HF_HUB_OFFLINE=1\n")
        self.check_folder(self.home / "node" / "net" / "models--acme--net", FILES)
        self.expect(self.sabath.run("verify", "--store", self.home / "node" / ".sabath"))
        again = self.expect(self.sabath.run("stage", "net", "--to", self.home / "node", "--layout", "hf", "--json"))
        self.assertEqual(again.record["assets"][0]["bytes_from_shared"], 0)
        for wrong in (["--mode", "shard"], ["--select", "x"], ["--bypass-shared"]):
            self.expect(self.sabath.run("stage", "net", "--to", self.home / "n", "--layout", "hf", *wrong), 2)


class Document(HubCase):
    def test_the_three_ways(self):
        """The first block of docs/huggingface.md, typed as it stands, and each option that the page shows is one."""
        text = (pathlib.Path(__file__).parents[2] / "docs" / "huggingface.md").read_text()
        block = [line[4:].partition("#")[0].strip() for line in re.search(r"(?:^    .*\n)+", text, re.M)[0].splitlines()]
        self.assertEqual([line.split()[-1] for line in block], ["hf://acme/net", 'hf)"', "~/.cache/huggingface/hub", "--hf"])
        cache_of(self.home / ".cache" / "huggingface" / "hub", "datasets/acme/set", self.set)
        (self.home / "bin").mkdir()
        (self.home / "bin" / "sabath").symlink_to(os.path.abspath(BINARY))
        environment = {**self.sabath.environment, "PATH": f"{self.home}/bin:{os.environ['PATH']}"}
        script = "set -e\n" + "\n".join(block[:3]) + '\necho "$HF_HUB_OFFLINE $HF_HUB_CACHE"\n'
        result = subprocess.run(["bash", "-c", script], env=environment, cwd=self.home, capture_output=True, text=True,
                                check=False, timeout=600)
        self.assertEqual(result.returncode, 0, result)
        offline, cache = result.stdout.splitlines()[-1].split()
        self.assertEqual(offline, "1")
        self.check_folder(pathlib.Path(cache) / "models--acme--net", FILES)
        self.assertIn("datasets--acme--set", result.stdout)
        for verb, rest in re.findall(r"^    .*sabath (view|stage|adopt|serve) (.*)$", text, re.M):
            known = self.expect(self.sabath.run("help", verb)).out
            for option in re.findall(r"--[a-z-]+", rest.partition("#")[0]):
                self.assertIn(option, known, f"{verb} {option}")


class Adopt(HubCase):
    def adopt(self, directory, code=0, *arguments):
        return self.expect(self.sabath.run("adopt", "--layout", "hf", directory, "--json", *arguments), code).record

    def test_a_cache(self):
        cache = self.home / "hub"
        cache_of(cache, "acme/net", FILES)
        old = "0" * 40
        cache_of(cache, "acme/net", {**FILES, "config.json": b"{}"}, old, "v0")
        cache_of(cache, "datasets/acme/set", self.set)
        record = self.adopt(cache)
        names = {asset["name"]: asset for asset in record["assets"]}
        self.assertEqual(sorted(names), ["acme--net", f"acme--net-{old[:12]}", "datasets--acme--set"])
        self.assertEqual(self.hub.requests, [])
        self.assertEqual(names["acme--net"]["commit"], COMMIT)
        self.assertEqual(sorted(self.expect(self.sabath.run("list", "--stored", "--names")).lines), sorted(names))
        path = self.expect(self.sabath.run("path", "acme--net")).out.strip()
        self.expect_tree(path, FILES)
        self.expect(self.sabath.run("verify", "acme--net"))
        self.assertEqual(self.adopt(cache), record)
        self.view("acme--net", "--to", self.home / "out", "--as", "symlink")
        self.check_folder(self.home / "out" / "models--acme--net", FILES)
        # What lies in LFS is known by its hash, and does not come again.
        self.fetch("hf://acme/net")
        contents = [line for line, _, _ in self.hub.requests if "/resolve/" in line]
        self.assertEqual([line for line in contents if "safetensors" in line or "weights" in line], [])

    def test_a_flipped_blob_is_named(self):
        cache = self.home / "hub"
        folder = cache_of(cache, "acme/net", FILES)
        cache_of(cache, "datasets/acme/set", self.set)
        for name in ("model.safetensors", "config.json"):
            blob = folder / "blobs" / etag(name, FILES[name])
            flip(blob, 3)
            record = self.adopt(cache, 7)
            (bad,) = [asset for asset in record["assets"] if "failure" in asset]
            self.assertIn(blob.name, bad["failure"]["message"])
            self.assertEqual(bad["repository"], "acme/net")
            self.expect(self.sabath.run("path", "acme--net"), 3)
            self.expect(self.sabath.run("fetch", "datasets--acme--set"))
            flip(blob, 3)
        self.adopt(cache)

    def test_hostile_caches(self):
        secret = self.home / "secret"
        secret.write_bytes(b"secret")
        folder = cache_of(self.home / "hub", "acme/net", FILES)
        (folder / "snapshots" / COMMIT / "leak").symlink_to(secret)
        (bad,) = self.adopt(self.home / "hub", 12)["assets"]
        self.assertIn("out of the cache", bad["failure"]["message"])
        (folder / "snapshots" / COMMIT / "leak").unlink()
        (folder / "snapshots" / COMMIT / "lost").symlink_to("../../blobs/" + "1" * 40)
        (bad,) = self.adopt(self.home / "hub", 7)["assets"]
        self.assertIn("leads to no file", bad["failure"]["message"])
        self.assertIn("is no cache of the hub", self.expect(self.sabath.run("adopt", "--layout", "hf", secret), 2).err)
        result = self.expect(self.sabath.run("adopt", "--layout", "hf", self.home / "hub", "--name", "x"), 2)
        self.assertIn("--name is not for", result.err)


class Serve(HubCase):
    def start(self, *arguments):
        process = self.sabath.start("serve", "--hf", "--listen", "127.0.0.1:0", *arguments)
        self.addCleanup(self.end, process)
        process.stderr.readline()
        self.endpoint = re.search(r"HF_ENDPOINT=(\S+)", process.stderr.readline()).group(1)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        return process.communicate(timeout=300)

    def ask(self, path, *options):
        command = ["curl", "-q", "-s", "-i", "--path-as-is", *options, self.endpoint + path]
        result = subprocess.run(command, capture_output=True, check=False, timeout=300)
        head, _, body = result.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if ": " in line)
        return int(head.split()[1]), {name.lower(): value for name, value in fields.items()}, body

    def test_content(self):
        self.fetch("hf://acme/net")
        self.start()
        asked = len(self.hub.requests)
        for revision in ("main", COMMIT):
            for name, data in FILES.items():
                path = f"/acme/net/resolve/{revision}/" + name.replace(" ", "%20")
                status, head, body = self.ask(path)
                self.assertEqual((status, head["etag"]), (200, f'"{etag(name, data)}"'))
                self.assertTrue(body == data, name)
                self.assertEqual(head["x-repo-commit"], COMMIT)
                linked = (f'"{sha256(data)}"', str(len(data))) if name in LFS else (None, None)
                self.assertEqual((head.get("x-linked-etag"), head.get("x-linked-size")), linked)
                status, head, body = self.ask(path, "--head")
                self.assertEqual((status, int(head["content-length"]), body), (200, len(data), b""))
        status, head, body = self.ask("/acme/net/resolve/main/model.safetensors", "-r", "10-19")
        self.assertEqual((status, body), (206, FILES["model.safetensors"][10:20]))
        status, _, _ = self.ask("/acme/net/resolve/main/config.json", "-H",
                                f'If-None-Match: "{git_hash(FILES["config.json"])}"')
        self.assertEqual(status, 304)
        self.assertEqual(len(self.hub.requests), asked)

    def test_listings(self):
        self.fetch("hf://acme/net")
        self.start()
        for path in ("/api/models/acme/net", "/api/models/acme/net/revision/main", f"/api/models/acme/net/revision/{COMMIT}"):
            status, head, body = self.ask(path)
            self.assertEqual((status, head["x-repo-commit"], json.loads(body)["sha"]), (200, COMMIT, COMMIT))
            self.assertEqual([s["rfilename"] for s in json.loads(body)["siblings"]], sorted(FILES))
        _, _, body = self.ask("/api/models/acme/net/tree/main?recursive=true&expand=false")
        files = {entry["path"]: entry for entry in json.loads(body)}
        self.assertEqual(files.pop("sub")["oid"], self.git_tree("sub/"))
        self.assertEqual(sorted(files), sorted(FILES))
        for name, data in FILES.items():
            in_lfs = {"oid": sha256(data), "size": len(data), "pointerSize": len(pointer(data))}
            self.assertEqual(files[name].get("lfs"), in_lfs if name in LFS else None)
            self.assertEqual(files[name]["oid"], git_hash(pointer(data) if name in LFS else data))
        _, _, body = self.ask("/api/models/acme/net/tree/main")
        self.assertEqual([e["path"] for e in json.loads(body)], ["README.md", "config.json", "empty.txt",
                                                                 "model.safetensors", "sub"])
        _, _, body = self.ask("/api/models/acme/net/tree/main/sub")
        self.assertEqual([e["path"] for e in json.loads(body)], ["sub/weights 1.bin"])
        self.assertEqual(self.ask("/api/models/acme/net/tree/main/nope")[0], 404)

    def git_tree(self, below):
        """By git itself: the hash of a directory."""
        work = self.home / "work"
        subprocess.run(["git", "init", "-q", work], check=True)
        for name, data in FILES.items():
            if name.startswith(below):
                file = work / name.removeprefix(below)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(pointer(data) if name in LFS else data)
        subprocess.run(["git", "-C", work, "add", "-A"], check=True)
        return subprocess.run(["git", "-C", work, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()

    def test_what_is_not_here(self):
        self.fetch("hf://acme/net/sub/")
        self.start()
        for path, code in (
            ("/api/models/acme/other", "RepoNotFound"),
            ("/acme/other/resolve/main/x", "RepoNotFound"),
            ("/datasets/acme/net/resolve/main/x", "RepoNotFound"),
            ("/acme/net/resolve/v9/config.json", "RevisionNotFound"),
            ("/acme/net/resolve/main/config.json", "EntryNotFound"),
            ("/api/models/acme/net", "RevisionNotFound"),
            ("/api/models/acme/net/tree/main", "RevisionNotFound"),
        ):
            status, head, body = self.ask(path)
            self.assertEqual((status, head["x-error-code"]), (404, code), path)
            self.assertIn("sabath fetch hf://", json.loads(body)["error"])
            self.assertNotIn("x-repo-commit", head)
        self.assertEqual(self.ask("/acme/net/resolve/main/sub/weights%201.bin")[0], 200)

    def test_only_what_came_without_credentials(self):
        self.sabath.environment["HF_TOKEN"] = TOKEN
        self.fetch("hf://acme/gated")
        self.fetch("hf://acme/net")
        del self.sabath.environment["HF_TOKEN"]
        # The listing is for all, and the file is here: that proves nothing.
        asked = len(self.hub.requests)
        self.fetch("hf://acme/gated", "--refresh")
        self.assertEqual([line for line, _, _ in self.hub.requests[asked:] if "/resolve/" in line], [])
        server = self.start()
        for name in ("gated", "net"):
            status, head, _ = self.ask(f"/acme/{name}/resolve/main/model.safetensors")
            self.assertEqual((status, head["x-error-code"]), (404, "RepoNotFound"))
        self.fetch("hf://datasets/acme/set")  # while it serves
        self.assertEqual(self.ask("/datasets/acme/set/resolve/main/README.md")[0], 200)
        self.end(server)
        server = self.start("--allow", "acme/gated")
        self.assertEqual(self.ask("/acme/gated/resolve/main/model.safetensors")[0], 200)
        self.assertEqual(self.ask("/acme/net/resolve/main/config.json")[0], 404)
        self.fetch("hf://acme/net", "--refresh")  # its small files come again, now without a token
        self.assertEqual(self.ask("/acme/net/resolve/main/config.json")[0], 200)

    def test_hostile_paths_and_tokens(self):
        self.fetch("hf://acme/net")
        server = self.start()
        secret = "hf_zyxwvutsrq987654"
        for path in ("/acme/net/resolve/main/../../../etc/passwd", "/acme/net/resolve/main/%2e%2e/%2e%2e/x",
                     "/acme/net/resolve/main/a%zz", "/acme/net/resolve/main/a%2", "/acme/net/resolve/main/",
                     "/acme/net/resolve/-x/config.json", "/acme/net/resolve/..%2f/config.json", "/acme//resolve/main/x",
                     "/a--b/net/resolve/main/x", "/api/models/../net", "/api/other/acme/net", "/api/models/acme/net/tree",
                     "/" + "a" * 200 + "/net/resolve/main/x", "/acme/net/resolve/main/config.json/", "//", "/api/"):
            self.assertEqual(self.ask(path)[0], 404, path)
        self.assertEqual(self.ask("/acme/net/resolve/main/x%00y")[0], 400)
        path = f"/acme/net/resolve/main/config.json?token={secret}"
        self.assertEqual(self.ask(path, "-H", f"Authorization: Bearer {secret}")[0], 200)
        self.assertEqual(self.ask("/acme/net/resolve/main/config.json", "-X", "POST", "-d", "x")[0], 405)
        out, err = self.end(server)
        self.assertNotIn(secret, out + err)
        self.assertIn("/acme/net/resolve/main/config.json 200", out)
        kept = subprocess.run(["grep", "-r", secret, self.sabath.store], capture_output=True, check=False)
        self.assertEqual(kept.stdout, b"")

    def test_pages_and_ourselves_as_client(self):
        files = {f"d{i % 7}/f{i}.txt": b"%d" % (i % 50) for i in range(1050)}
        self.hub.repositories["datasets/acme/many"] = files
        self.fetch("hf://datasets/acme/many")
        self.start()
        other = self.home / "other"
        result = self.expect(self.sabath.run("fetch", "hf://datasets/acme/many", "--store", other, "--view", "--json",
                                             HF_ENDPOINT=self.endpoint))
        self.expect_tree(result.record["assets"][0]["path"], files)
        asked = [line for line, _, _ in self.hub.requests]
        self.assertEqual(len(asked), len(set(asked)))


if __name__ == "__main__":
    main()
