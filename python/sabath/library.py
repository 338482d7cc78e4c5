"""libsabath.so, found and opened: its C functions (include/sabath/sabath.h) with Python's types. Any thread may call.

The first of these that is there is opened: what SABATH_LIBRARY names; a copy in this package; the library of the build
or the installation that this package lies in; that of the build beside which pip installed it; that of the program
(SABATH_PROGRAM, or `sabath` in PATH) or of this Python; the system's.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import shutil
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from . import errors
from .locks import Lock

NAME = "libsabath.so.0"
INTERFACE = "sabath_deal"  # the newest function that this package calls
LISTENER = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
NO_LISTENER = LISTENER()

# name: what it returns, what it takes; those that may fail take a place for the error behind
_FUNCTIONS: Dict[str, Any] = {
    "sabath_version": (c_char_p, []),
    "sabath_verbs": (c_void_p, []),
    "sabath_open": (c_void_p, [c_char_p, POINTER(c_void_p)]),
    "sabath_close": (None, [c_void_p]),
    "sabath_listen": (None, [c_void_p, LISTENER, c_void_p]),
    "sabath_call": (c_void_p, [c_void_p, c_char_p, c_char_p, POINTER(c_void_p)]),
    "sabath_stop": (None, [c_void_p]),
    "sabath_free": (None, [c_void_p]),
    "sabath_asset_open": (c_void_p, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "sabath_asset_files": (c_void_p, [c_void_p, POINTER(c_void_p)]),
    "sabath_asset_file": (c_void_p, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "sabath_asset_close": (None, [c_void_p]),
    "sabath_file_size": (c_int64, [c_void_p]),
    "sabath_file_read": (c_int64, [c_void_p, c_uint64, c_void_p, c_size_t, POINTER(c_void_p)]),
    "sabath_file_close": (None, [c_void_p]),
    "sabath_deal": (c_int, [c_char_p, c_size_t, c_uint64, c_uint32, POINTER(c_uint32), POINTER(c_void_p)]),
}


def _libraries_below(prefix: str) -> Iterator[str]:
    for folder in ("lib", "lib64", "lib/*-linux-gnu"):
        yield from sorted(glob.glob(os.path.join(glob.escape(prefix), folder, NAME)))


def _noted_build(package: str) -> str:
    """The build that python/setup.py noted."""
    try:
        with open(os.path.join(package, "beside.txt"), encoding="utf-8", errors="surrogateescape") as file:
            return file.read().rstrip("\n")
    except OSError:
        return os.path.join(package, "no build")


def candidates() -> Iterator[str]:
    """Files that may be the library, the best first."""
    if os.environ.get("SABATH_LIBRARY"):
        yield os.environ["SABATH_LIBRARY"]
        return
    package = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(package, NAME)
    yield os.path.join(package, "lib", NAME)
    yield from _libraries_below(os.path.join(package, "..", "..", "build", "release"))
    yield from _libraries_below(os.path.join(package, "..", "..", "..", ".."))  # PREFIX/share/sabath/python/sabath
    yield from _libraries_below(_noted_build(package))
    program = os.environ.get("SABATH_PROGRAM") or shutil.which("sabath")
    if program:
        yield from _libraries_below(os.path.dirname(os.path.dirname(os.path.realpath(program))))
    yield from _libraries_below(sys.prefix)
    yield NAME


class Library:
    """The functions of libsabath.so. Texts are str, requests and records are what JSON has; failures are raised."""

    def __init__(self, file: str):
        self.file = file
        self._calls = ctypes.CDLL(file)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._calls, name)
            function.restype, function.argtypes = result, arguments

    _opened: Optional[Library] = None
    _lock = Lock()

    @classmethod
    def opened(cls) -> Library:
        """The library of this process, opened by the first call. Raises ProgramFailed if there is none."""
        with cls._lock:
            if cls._opened is None:
                cls._opened = cls._find()
            return cls._opened

    @classmethod
    def _find(cls) -> Library:
        tried: List[str] = []
        for file in candidates():
            try:
                return cls(file)
            except OSError as error:  # it is not there, or is no library of this machine
                tried.append(str(error))
            except AttributeError:
                tried.append(f"{file}: an older version, without {INTERFACE}")
        hint = (
            "build it (cmake --build DIR --target sabath-library), "
            "or let the environment variable SABATH_LIBRARY name the file"
        )
        raise errors.ProgramFailed(f"there is no {NAME}: {'; '.join(tried)}", hint)

    @property
    def version(self) -> str:
        return str(self._calls.sabath_version().decode())

    def verbs(self) -> List[str]:
        return list(self._taken(self._calls.sabath_verbs()))

    def open(self, settings: Dict[str, Any]) -> int:
        return int(self._checked(self._calls.sabath_open, json.dumps(settings).encode()))

    def close(self, session: int) -> None:
        self._calls.sabath_close(session)

    def call(self, session: int, verb: str, request: Dict[str, Any]) -> Any:
        return self._taken(self._checked(self._calls.sabath_call, session, verb.encode(), json.dumps(request).encode()))

    def stop(self, session: int) -> None:
        self._calls.sabath_stop(session)

    def listen(self, session: int, listener: Any) -> None:
        """`listener`: a LISTENER that lives until NO_LISTENER takes its place."""
        self._calls.sabath_listen(session, listener, None)

    def open_asset(self, session: int, name: str) -> int:
        return int(self._checked(self._calls.sabath_asset_open, session, name.encode()))

    def files_of(self, asset: int) -> Dict[str, Any]:
        return dict(self._taken(self._checked(self._calls.sabath_asset_files, asset)))

    def close_asset(self, asset: int) -> None:
        self._calls.sabath_asset_close(asset)

    def read(self, asset: int, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes of a file from `offset` on, from a file of its own or a pack."""
        file = self._checked(self._calls.sabath_asset_file, asset, path.encode())
        try:
            room = ctypes.create_string_buffer(max(0, min(length, self._calls.sabath_file_size(file) - offset)))
            got = self._checked(self._calls.sabath_file_read, file, offset, room, len(room), failed=-1)
            return room.raw[:got]
        finally:
            self._calls.sabath_file_close(file)

    def deal(self, paths: Sequence[str], seed: int, shares: int) -> Sequence[int]:
        """The share of each path: docs/staging.md."""
        owners = (c_uint32 * len(paths))()
        names = "\0".join(paths).encode() + b"\0"
        if names.count(b"\0") != max(len(paths), 1):
            raise errors.UsageError("a path has a NUL")
        self._checked(self._calls.sabath_deal, names, len(paths), seed, shares, owners, failed=-1)
        return memoryview(owners).cast("B").cast("I")

    def _checked(self, function: Callable[..., Any], *arguments: Any, failed: Any = None) -> Any:
        error = c_void_p()
        result = function(*arguments, byref(error))
        if result != failed:
            return result
        told = self._taken(error.value) if error.value else {}
        raise errors.of_failure(told.get("error", {"message": "there is no memory left"}), told.get("exit", 70))

    def _taken(self, text: int) -> Any:
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            self._calls.sabath_free(text)
