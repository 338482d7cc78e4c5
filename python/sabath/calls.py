"""One call of a verb that may take long: with events, and so that Ctrl-C ends it within a moment."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, Optional

from .library import LISTENER, NO_LISTENER, Library
from .progress import Listener, ProgressCallback

STOP_AGAIN_SECONDS = 0.1


def call(library: Library, settings: Dict[str, Any], verb: str, request: Dict[str, Any],
         progress: Optional[ProgressCallback] = None) -> Dict[str, Any]:  # fmt: skip
    """The record. The call has a session of its own, so that its events and a stop are its own. Raises what the library
    does, what `progress` raises, and KeyboardInterrupt."""
    session = library.open(settings)
    try:
        return _call_in(library, session, verb, request, progress)
    finally:
        library.close(session)


def _call_in(library: Library, session: int, verb: str, request: Dict[str, Any],
             progress: Optional[ProgressCallback]) -> Dict[str, Any]:  # fmt: skip
    def stop() -> None:
        library.stop(session)

    listener = Listener(progress, stop)
    heard = LISTENER(lambda user, event: listener.hear(event))  # lives as long as the library may call it
    library.listen(session, heard)
    try:
        return dict(interruptible(lambda: library.call(session, verb, request), stop))
    finally:
        library.listen(session, NO_LISTENER)
        if listener.failure is not None:
            raise listener.failure


def interruptible(work: Callable[[], Any], stop: Callable[[], None]) -> Any:
    """Returns and raises as `work` does. Python runs signal handlers in the main thread, and only while it is not in C:
    so there a helper works, and the main thread waits. If the wait is interrupted, `stop` ends the work first."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    done = threading.Event()
    outcome: Dict[str, Any] = {}

    def helper() -> None:
        try:
            outcome["result"] = work()
        except BaseException as failure:
            outcome["failure"] = failure
        finally:
            done.set()

    thread = threading.Thread(target=helper, name="sabath")
    thread.start()
    try:
        done.wait()
    except BaseException:
        stop()
        while not done.wait(STOP_AGAIN_SECONDS):
            stop()  # the work may have begun after the first one
        raise
    finally:
        thread.join()
    if "failure" in outcome:
        raise outcome.pop("failure")
    return outcome["result"]
