"""A small hub of Hugging Face's kind for tests, and what its documents say of a cache: written from these, not from SABATH."""

import hashlib
import json
import re
import urllib.parse

from support.content import seeded, sha256
from support.spoken import Spoken

COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
FILES = {
    "README.md": b"# net\n",
    "config.json": b'{"model_type": "bert"}',
    "empty.txt": b"",
    "sub/weights 1.bin": seeded(9_000_001, 5),
    "model.safetensors": seeded(300_000, 6),
}
LFS = ("model.safetensors", "sub/weights 1.bin")


def git_hash(data, kind="blob"):
    """git's name of an object: `git hash-object`."""
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()


def pointer(data):
    """The pointer file of Git LFS, by its specification."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(data)}\nsize {len(data)}\n".encode()


def etag(name, data):
    return sha256(data) if name in LFS else git_hash(data)


class Hub:
    """Serves repositories: "acme/net", "datasets/acme/set" -> files. `locked` ones ask for a token."""

    def __init__(self, repositories, token="", locked=()):
        self.repositories, self.token, self.locked = repositories, token, set(locked)
        self.server = Spoken({"*": self.speak})
        self.url = self.server.url().rstrip("/")
        self.requests = self.server.requests

    def stop(self):
        self.server.stop()

    def speak(self, request):
        path, _, _ = request.path.partition("?")
        api = re.fullmatch(r"/api/(models|datasets)/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+)(?:/(.+))?)?", path)
        content = re.fullmatch(r"/(datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if not api and not content:
            return 404, {}, b""
        kind = "datasets/" if (api.group(1) == "datasets" if api else content.group(1)) else ""
        name = kind + (api or content).group(2)
        files = self.repositories.get(name)
        if files is None:
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        # A gated repository is listed for all, and given to none without a token.
        if content and name in self.locked and request.headers.get("Authorization") != f"Bearer {self.token}":
            return 401, {"X-Error-Code": "GatedRepo"}, b"log in"
        if content:
            data = files.get(urllib.parse.unquote(content.group(4)))
            return (404, {}, b"") if data is None else self.content(urllib.parse.unquote(content.group(4)), data)
        if api.group(3) != "tree":
            return 200, {"Content-Type": "application/json"}, json.dumps({"id": name, "sha": COMMIT}).encode()
        entries = []
        below = f"{urllib.parse.unquote(api.group(5))}/" if api.group(5) else ""
        for path, data in files.items():
            if not path.startswith(below):
                continue
            entry = {"type": "file", "oid": git_hash(data), "size": len(data), "path": path}
            if path in LFS:
                entry["oid"] = git_hash(pointer(data))
                entry["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": len(pointer(data))}
            entries.append(entry)
        return 200, {"Content-Type": "application/json"}, json.dumps(entries).encode()

    @staticmethod
    def content(name, data):
        linked = {"X-Linked-Etag": f'"{sha256(data)}"', "X-Linked-Size": str(len(data))} if name in LFS else {}
        return 200, {"ETag": f'"{etag(name, data)}"', "X-Repo-Commit": COMMIT, **linked}, data


def cache_of(directory, name, files, commit=COMMIT, revision="main"):
    """A cache as huggingface_hub makes it: blobs by their ETags, relative symlinks, a ref without a line end."""
    kind, _, repository = name.rpartition("datasets/")
    folder = directory / f"{'datasets' if kind or name.startswith('datasets/') else 'models'}--{repository.replace('/', '--')}"
    for path, data in files.items():
        blob = folder / "blobs" / etag(path, data)
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(data)
        link = folder / "snapshots" / commit / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to("../" * (path.count("/") + 2) + f"blobs/{blob.name}")
    ref = folder / "refs" / revision
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(commit)
    return folder
