"""`sabath://NAME/path` for fsspec, and so for pandas, xarray, zarr and pyarrow: the files of fetched assets, read-only.

Importing this module registers the protocol; where the package is installed, fsspec finds it by itself. Nothing is
fetched: an asset that the store lacks raises sabath.Offline.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set, Tuple

from fsspec import register_implementation
from fsspec.spec import AbstractFileSystem

from . import errors
from .files import AssetFiles
from .locks import Lock
from .session import Session

Info = Dict[str, Any]
ASSETS_MAX = 64  # open at a time


class SabathFileSystem(AbstractFileSystem):
    """A store's assets as directories. `settings`: those of a Session. Any thread."""

    protocol = "sabath"
    root_marker = ""

    def __init__(self, session: Optional[Session] = None, **settings: Any):
        options = {key: settings.pop(key) for key in list(settings) if key in _FSSPEC_OPTIONS}
        super().__init__(**options)
        self.session = session or Session(**settings)
        self._assets: Dict[str, _Tree] = {}
        self._lock = Lock()

    def ls(self, path: str, detail: bool = True, **_: Any) -> List[Any]:
        name, inner = self._split(path)
        if not name:
            found = [_directory(asset) for asset in sorted(self._stored())]
        else:
            tree = self._tree(name)
            found = [tree.file(inner)] if inner in tree.files else tree.entries(inner)
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **_: Any) -> Info:
        name, inner = self._split(path)
        return self._tree(name).info(inner) if name else _directory("")

    def exists(self, path: str, **_: Any) -> bool:
        try:
            self.info(path)
        except (FileNotFoundError, errors.NotFound, errors.Offline):
            return False
        return True

    def cat_file(self, path: str, start: Optional[int] = None, end: Optional[int] = None, **_: Any) -> bytes:
        """The bytes [start, end) of a file; a negative number counts from its end."""
        files, inner = self._file(path)
        if start is None and end is None:
            return files.read(inner)
        first, last, _step = slice(start, end).indices(files.info(inner).size)
        return files.read(inner, first, max(0, last - first))

    def checksum(self, path: str) -> str:
        files, inner = self._file(path)
        return files.info(inner).digest

    def created(self, path: str) -> Any:
        raise NotImplementedError("an asset has no times: `checksum` tells whether a file is the same")

    modified = created

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        if mode != "rb":
            raise errors.UsageError(f"{path}: assets are read-only, and cannot be opened with {mode}")
        files, inner = self._file(path)
        return files.open(inner)

    def _refused(self, path: Any, *_: Any, **__: Any) -> Any:
        raise errors.UsageError(f"{path}: assets are read-only", "copy what is to be changed: `get`")

    mkdir = makedirs = rmdir = rm = rm_file = cp_file = mv = touch = put_file = pipe_file = _refused

    def _stored(self) -> Set[str]:
        """The assets that the store has, as directories or in packs."""
        listed = self.session.list()
        return {each["name"] for each in listed if each["present"] or self.session.has(each["name"])}

    def _file(self, path: str) -> Tuple[AssetFiles, str]:
        name, inner = self._split(path)
        tree = self._tree(name) if name else None
        if tree is None or inner not in tree.files:
            raise FileNotFoundError(path)
        return tree.files, inner

    def _split(self, path: str) -> Tuple[str, str]:
        name, _, inner = self._strip_protocol(path).strip("/").partition("/")
        return name, inner

    def _tree(self, name: str) -> _Tree:
        found = self._assets.get(name)
        if found is None:
            with self._lock:
                found = self._assets.get(name)
                if found is None:
                    found = _Tree(name, AssetFiles(self.session, name))
                    if len(self._assets) >= ASSETS_MAX:
                        del self._assets[next(iter(self._assets))]
                    self._assets[name] = found
        return found


_FSSPEC_OPTIONS = (
    "use_listings_cache",
    "listings_expiry_time",
    "max_paths",
    "skip_instance_cache",
    "asynchronous",
    "loop",
    "batch_size",
)


class _Tree:
    """An asset's files, with the directories that their paths mean."""

    def __init__(self, name: str, files: AssetFiles):
        self.name, self.files = name, files
        self._children: Dict[str, Dict[str, None]] = {"": {}}
        for path in files:
            while path:
                parent = path.rpartition("/")[0]
                siblings = self._children.setdefault(parent, {})
                if path in siblings:
                    break
                siblings[path] = None
                path = parent

    def info(self, path: str) -> Info:
        if path in self.files:
            return self.file(path)
        if path in self._children:
            return _directory(f"{self.name}/{path}".rstrip("/"))
        raise FileNotFoundError(f"{self.name}/{path}")

    def file(self, path: str) -> Info:
        file = self.files.info(path)
        return {"name": f"{self.name}/{path}", "size": file.size, "type": "file", "digest": file.digest}

    def entries(self, path: str) -> List[Info]:
        if path not in self._children:
            raise FileNotFoundError(f"{self.name}/{path}")
        return [self.info(each) for each in self._children[path]]


def _directory(name: str) -> Info:
    return {"name": name, "size": 0, "type": "directory"}


register_implementation("sabath", SabathFileSystem, clobber=True)
