"""Files of an asset, read where they stand: in a file of their own, or in a pack beside others.

No collection takes the asset's content while its `AssetFiles` is open in the process that opened it. A child made by
fork goes on with the places that its parent knows; what it must ask, it asks by a session of its own.
"""

from __future__ import annotations

import collections
import io
import os
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

from . import errors
from .locks import Lock

if TYPE_CHECKING:
    from .session import Session

DESCRIPTORS_MAX = 64  # open at a time, of places that were read last
LINE_BYTES = 8192  # looked through for the end of a line


@dataclass(frozen=True)
class FileInfo:
    """A file as the asset's manifest has it."""

    path: str
    size: int  # bytes
    digest: str  # "sha256:<hex>", as docs/manifest.md has it


class AssetFiles:
    """All files of an asset that the store holds, by their paths. Any thread may read."""

    def __init__(self, session: Session, name: str):
        """`name`: an asset's, or the root of its manifest. Raises NotFound, Offline if the store does not hold it,
        StorageError."""
        self.session, self.name = session, name
        self._asset = session.open_asset(name)
        told = self._asset.files()
        self.root: str = told["manifest"]
        self._places: List[str] = told["places"]
        self._files: Dict[str, Tuple[int, str, Optional[int], int]] = {
            file["path"]: (file["size"], file["digest"], file["place"], file["offset"] or 0) for file in told["files"]
        }
        self._descriptors = _Descriptors()

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def paths(self) -> List[str]:
        """In the manifest's order, which is that of a shard plan."""
        return list(self._files)

    def info(self, path: str) -> FileInfo:
        """Raises NotFound."""
        size, digest, _, _ = self._found(path)
        return FileInfo(path, size, digest)

    def place(self, path: str) -> Optional[Tuple[str, int]]:
        """The file on disk, and the offset in bytes, where the content stands as it is: to map it. None: it stands
        compressed, and has to be read. Raises NotFound."""
        _, _, number, offset = self._found(path)
        return None if number is None else (self._places[number], offset)

    def read(self, path: str, offset: int = 0, length: Optional[int] = None) -> bytes:
        """Up to `length` bytes from `offset` on, fewer only at the end; None: all. Raises NotFound, Offline,
        StorageError."""
        size, _, number, begin = self._found(path)
        if offset < 0 or (length is not None and length < 0):
            raise errors.UsageError(f"{path}: there are no bytes before its begin, and no less than none")
        length = max(0, size - offset if length is None else min(length, size - offset))
        if number is None:
            return self._asset.read(path, offset, length)
        try:
            return self._descriptors.read(self._places[number], begin + offset, length)
        except FileNotFoundError:  # a repair or a new pack has moved it
            return self._asset.read(path, offset, length)

    def open(self, path: str) -> AssetFile:
        """Raises NotFound."""
        return AssetFile(self, path)

    def array(self, path: str, dtype: Any = "uint8", shape: Any = None, offset: int = 0) -> Any:
        """A read-only numpy array of the bytes from `offset` on, without a copy where they stand as they are: they are
        mapped. A file that ends in .npy says dtype and shape itself. Raises NotFound, UsageError, Offline."""
        import numpy

        if path.endswith(".npy") and offset == 0 and shape is None:
            dtype, shape, order, offset = _npy_header(self.open(path))
        else:
            dtype, order = numpy.dtype(dtype), "C"
        size, place = self.info(path).size, self.place(path)
        count = (size - offset) // dtype.itemsize if shape is None else int(numpy.prod(shape, dtype="int64"))
        if offset < 0 or offset > size or count * dtype.itemsize > size - offset:
            raise errors.UsageError(f"{path} has {size} bytes: {count} of {dtype} from {offset} on are more")
        if place is None or count == 0:
            flat = numpy.frombuffer(self.read(path, offset, count * dtype.itemsize), dtype)
        else:
            flat = numpy.memmap(place[0], dtype, "r", place[1] + offset, (count,))
        return flat if shape is None else numpy.reshape(flat, shape, order)

    def close(self) -> None:
        """Lets the store collect it again, and closes what is open. Mapped arrays stay readable."""
        self._asset.close()
        self._descriptors.close()

    def __enter__(self) -> AssetFiles:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return AssetFiles, (self.session, self.name)

    def _found(self, path: str) -> Tuple[int, str, Optional[int], int]:
        found = self._files.get(path)
        if found is None:
            raise errors.NotFound(f"{self.name} has no file {path}", "its `files` are all that it has")
        return found


class AssetFile(io.BufferedIOBase):
    """A file of an asset, open for reading: for h5py.File(), numpy.load(), zipfile and the like. One thread; others open
    their own."""

    mode = "rb"

    def __init__(self, files: AssetFiles, path: str):
        super().__init__()
        self._files, self.name, self._at = files, path, 0
        self._size = files.info(path).size
        self._whole: Optional[bytes] = None  # what stands compressed is small, and unpacked once

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"there is nothing before the begin of {self.name}")
        self._at = base + offset
        return self._at

    def read(self, size: Optional[int] = -1) -> bytes:
        """Up to `size` bytes, fewer only at the end; -1: all that follow."""
        data = self._bytes(self._size if size is None or size < 0 else size)
        self._at += len(data)
        return data

    read1 = read

    def readinto(self, room: Any) -> int:
        data = self.read(memoryview(room).nbytes)
        memoryview(room).cast("B")[: len(data)] = data
        return len(data)

    readinto1 = readinto

    def readline(self, size: Optional[int] = -1) -> bytes:
        length = self._size if size is None or size < 0 else size
        begin, line = self._at, b""
        while len(line) < length and not line.endswith(b"\n"):
            part = self._bytes(min(LINE_BYTES, length - len(line)))
            part = part[: part.find(b"\n") + 1 or len(part)]
            if not part:
                break
            line += part
            self._at = begin + len(line)
        return line

    def _bytes(self, length: int) -> bytes:
        if self.closed:
            raise ValueError(f"{self.name} is closed")
        if self._whole is None and self._files.place(self.name) is None:
            self._whole = self._files.read(self.name)
        if self._whole is not None:
            return self._whole[self._at : self._at + length]
        return self._files.read(self.name, self._at, length)


class HeldAsset:
    """An asset that the library holds open. Any thread."""

    def __init__(self, session: Session, name: str):
        self._session, self._name, self._library = session, name, session.library
        self._lock = Lock()
        self._open()

    def _open(self) -> None:
        handle = self._session.with_handle(lambda session: self._library.open_asset(session, self._name))
        self._closing = weakref.finalize(self, _close_asset, self._library, handle, os.getpid())
        self._handle: Optional[int] = handle
        self._pid = os.getpid()

    def files(self) -> Dict[str, Any]:
        return self._library.files_of(self._checked())

    def read(self, path: str, offset: int, length: int) -> bytes:
        if self._pid != os.getpid():  # the library's threads stayed with the parent
            self._reopen()
        return self._library.read(self._checked(), path, offset, length)

    def close(self) -> None:
        self._handle = None
        self._closing()

    def _checked(self) -> int:
        if self._handle is None:
            raise ValueError(f"{self._name} is closed")
        return self._handle

    def _reopen(self) -> None:
        with self._lock:
            if self._pid != os.getpid():
                self._closing.detach()
                self._open()


class _Descriptors:
    """Files on disk, open while they are read often. A child made by fork reads by its parent's: pread has no position."""

    def __init__(self) -> None:
        self._open: collections.OrderedDict[str, _Descriptor] = collections.OrderedDict()
        self._lock = Lock()

    def read(self, file: str, offset: int, length: int) -> bytes:
        descriptor = self._taken(file)
        data = os.pread(descriptor.number, length, offset)
        while 0 < len(data) < length:
            more = os.pread(descriptor.number, length - len(data), offset + len(data))
            if not more:
                break
            data += more
        if len(data) != length:
            raise errors.HashMismatch(f"{file} ends before byte {offset + length}", "`sabath verify --repair` mends it")
        return data

    def _taken(self, file: str) -> _Descriptor:
        with self._lock:
            found = self._open.get(file)
            if found is None:
                found = self._open[file] = _Descriptor(file)
                if len(self._open) > DESCRIPTORS_MAX:
                    self._open.popitem(last=False)  # it is closed when no thread reads by it any more
            else:
                self._open.move_to_end(file)
            return found

    def close(self) -> None:
        with self._lock:
            self._open.clear()


class _Descriptor:
    def __init__(self, file: str):
        self.number = os.open(file, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


def _close_asset(library: Any, handle: int, pid: int) -> None:
    if pid == os.getpid():  # a child must not end what its parent holds
        library.close_asset(handle)


def _npy_header(file: AssetFile) -> Tuple[Any, Any, str, int]:
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise errors.UsageError(f"{file.name} holds Python objects, which only a pickle can read")
    return dtype, shape, "F" if fortran else "C", file.tell()
