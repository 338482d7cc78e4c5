"""Ctrl-C and SIGTERM end a run by an exception, so that everything is taken down; while something is being set up, they
wait until it can be taken down. Only the main thread may use this."""
import contextlib
import signal

_signals = (signal.SIGINT, signal.SIGTERM)
_state = {"deferred": 0, "pending": None}


def _end(number, _):
    if _state["deferred"]:
        _state["pending"] = number
        return
    for each in _signals:  # taking down is not interrupted
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)


def install():
    for each in _signals:
        signal.signal(each, _end)


@contextlib.contextmanager
def deferred():
    _state["deferred"] += 1
    try:
        yield
    finally:
        _state["deferred"] -= 1
        if not _state["deferred"] and _state["pending"]:
            _end(_state["pending"], None)
