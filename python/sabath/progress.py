"""The progress of a call: counts for a callback or a bar, and lines for the log "sabath"."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Optional

log = logging.getLogger("sabath")


@dataclass(frozen=True)
class Progress:
    """The progress of a call on one asset."""

    asset: str = ""
    phase: str = ""  # "resolve", "fetch", "extract", "publish", "verify"
    bytes_done: int = 0  # received or reused, of this asset
    bytes_total: Optional[int] = None  # None: not known yet
    files_done: int = 0
    files_total: int = 0


ProgressCallback = Callable[[Progress], None]
_LEVELS = {"Warning": logging.WARNING, "Message": logging.INFO, "Note": logging.DEBUG}


class Listener:
    """Hears the events of one call, from any thread. An exception of the callback is kept in `failure`, and `stop` is called."""

    def __init__(self, callback: Optional[ProgressCallback], stop: Callable[[], None]):
        self.callback, self.stop = callback, stop
        self.failure: Optional[BaseException] = None
        self.progress = Progress()
        self.lock = threading.Lock()  # of progress, and of who calls back

    def hear(self, event: bytes) -> None:
        if self.callback is None and event.startswith(b'{"event":"Bytes'):
            return  # the most frequent one, and no callback counts
        try:
            self._take(json.loads(event))
        except BaseException as failure:  # it must not reach the lane that called; call() raises it
            self.failure = self.failure or failure
            self.stop()

    def _take(self, event: Dict[str, Any]) -> None:
        kind = event["event"]
        if kind in _LEVELS:
            log.log(_LEVELS[kind], "%s", event["text"])
        elif kind == "SourceFailed":
            log.info("source %s failed: %s", event["source"], event["reason"])
        if self.callback is None or self.failure:
            return
        with self.lock:
            after = advanced(self.progress, event)
            if after is not self.progress:
                self.progress = after
                self.callback(after)


def advanced(before: Progress, event: Dict[str, Any]) -> Progress:
    """The counts after an event; `before` itself if nothing changed."""
    kind = event["event"]
    if kind == "AssetStarted":
        return Progress(event["name"], "", 0, event["bytes_total"], 0, event["files_total"])
    if kind == "TotalKnown":
        return replace(before, bytes_total=event["bytes_total"], files_total=event["files_total"])
    if kind in ("BytesReceived", "BytesReused"):
        return replace(before, bytes_done=before.bytes_done + event["bytes"])
    if kind == "FileDone":
        return replace(before, files_done=before.files_done + 1)
    if kind == "PhaseChanged":
        return replace(before, phase=event["phase"])
    return before


class Bar:
    """A bar of tqdm (or a class like it) for each asset of a call."""

    def __init__(self, tqdm_class: Any):
        self.tqdm_class = tqdm_class
        self.bar: Any = None
        self.asset = ""

    def __call__(self, progress: Progress) -> None:
        if progress.asset != self.asset or self.bar is None:
            self.close()
            self.asset = progress.asset
            self.bar = self.tqdm_class(total=progress.bytes_total, desc=progress.asset, unit="B", unit_scale=True)
        self.bar.total = progress.bytes_total
        self.bar.update(progress.bytes_done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def bar_of(progress: Any, tqdm_class: Any) -> Any:
    """The callback for the progress: `progress` itself if it is a function; a bar if it is True or `tqdm_class` is given,
    and tqdm is there; else None."""
    if callable(progress):
        return progress
    if progress is not True and tqdm_class is None:
        return None
    if tqdm_class is None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            log.info("there is no tqdm: no bar is shown")
            return None
        tqdm_class = tqdm
    return Bar(tqdm_class)
