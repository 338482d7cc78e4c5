"""An asset that a store holds."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional

from .files import AssetFile, AssetFiles, FileInfo
from .locks import Lock

if TYPE_CHECKING:
    from .session import Session

    _PathLike = os.PathLike[str]
else:
    _PathLike = os.PathLike


class Asset(_PathLike):
    """An asset that `fetch` brought. Any thread; it can be pickled, and stands for a path where one is wanted."""

    def __init__(self, session: Session, name: str, record: Optional[Dict[str, Any]] = None):
        self.session, self.name = session, name
        self.provenance: Dict[str, Any] = record or {}  # where it came from and why it is believed: docs/records.md
        self._files: Optional[AssetFiles] = None
        self._lock = Lock()

    @property
    def root(self) -> str:
        """Its identity, "sha256:<hex>": the root of its manifest."""
        return self.provenance.get("manifest") or self.files.root

    @property
    def files(self) -> AssetFiles:
        """Its files, by path. Raises Offline if the store does not hold it."""
        with self._lock:
            if self._files is None:
                self._files = AssetFiles(self.session, self.provenance.get("manifest") or self.name)
            return self._files

    @property
    def manifest(self) -> Mapping[str, FileInfo]:
        """Size and hash of each file, by path."""
        return {path: self.files.info(path) for path in self.files}

    @property
    def path(self) -> pathlib.Path:
        """The directory that training reads. Files that stand in packs are copied out of them first, once. Raises
        Offline, NoSpace, StorageError."""
        if not self.provenance.get("path"):
            self.provenance["path"] = self.session.view(self.provenance.get("manifest") or self.name)
        return pathlib.Path(self.provenance["path"])

    def open(self, path: str) -> AssetFile:
        """A file of it, in binary. Raises NotFound, Offline."""
        return self.files.open(path)

    def array(self, path: str, **options: Any) -> Any:
        """A read-only numpy array of a file: see AssetFiles.array()."""
        return self.files.array(path, **options)

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Asset({self.name!r}, root={self.root!r})"

    def __reduce__(self) -> Any:
        return Asset, (self.session, self.name, self.provenance)
