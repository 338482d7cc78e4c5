"""Mutexes that a child made by fork finds open: the threads that held them stayed with its parent."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any


class Lock:
    """threading.Lock, for `with`."""

    _all: Any = weakref.WeakSet()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()

    @classmethod
    def open_all(cls) -> None:
        for each in cls._all:
            each._lock = threading.Lock()


os.register_at_fork(after_in_child=Lock.open_all)
