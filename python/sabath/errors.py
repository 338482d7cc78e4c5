"""The failures, as exceptions: one for each kind of failure that docs/exit-codes.md has.

An exception has `message` (what was attempted, on what, what came back), `hint` (what to do next, may be empty),
`exit_code` (that of the program `sabath`), `kind` (the word of the records), and `record`: what was done all the same,
as docs/records.md has it, or None.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Type


class SabathError(Exception):
    """Any failure of SABATH."""

    kind = "internal"
    exit_code = 70

    def __init__(self, message: str, hint: str = "", *, kind: str = "", exit_code: int = 0, record: Any = None):
        super().__init__(message)
        self.message, self.hint, self.record = message, hint, record
        self.kind, self.exit_code = kind or self.kind, exit_code or self.exit_code

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> Any:
        state = {"kind": self.kind, "exit_code": self.exit_code, "record": self.record}
        return _again, (type(self), self.message, self.hint, state)


class UsageError(SabathError, ValueError):
    """An argument or the configuration does not make sense."""

    kind, exit_code = "usage", 2


class NotYet(SabathError, NotImplementedError):
    """The papers name it, and this version of SABATH has no such verb: `verb` is its name."""

    kind, exit_code = "usage", 2

    def __init__(self, verb: str):
        super().__init__(f"this version of SABATH has no verb `{verb}` yet", "`sabath help` lists what there is")
        self.verb = verb

    def __reduce__(self) -> Any:
        return NotYet, (self.verb,)


class NotFound(SabathError, LookupError):
    """There is no such asset, recipe or file, or it does not say what was asked for."""

    kind, exit_code = "not_found", 3


class NeedsLogin(SabathError, PermissionError):
    """A login or a licence is needed, or a server's identity could not be accepted. `steps`: what to do, in order."""

    kind, exit_code = "access", 4

    @property
    def steps(self) -> List[str]:
        return [line.strip() for line in self.hint.splitlines() if line.strip()]


class NoSpace(SabathError):
    """There is not enough space, quota or time, or there are no inodes."""

    kind, exit_code = "space", 5


class Unreachable(SabathError, ConnectionError):
    """The network, or all sources of a fragment, failed. Verified bytes are kept: the same call again goes on."""

    kind, exit_code = "network", 6


class HashMismatch(SabathError):
    """Content does not match its hash or its length. Do not use it."""

    kind, exit_code = "content", 7


class Incomplete(SabathError):
    """A part is done, a part is not, and the reasons differ: see `record`."""

    kind, exit_code = "partial", 8


class Offline(SabathError):
    """It is not in the store, and the network may not be asked."""

    kind, exit_code = "offline", 9


class NodesFailed(SabathError):
    """Some nodes failed: see `record`."""

    kind, exit_code = "nodes", 10


class ProgramFailed(SabathError):
    """A program that SABATH launched failed, or the program `sabath` or its library is not there."""

    kind, exit_code = "command", 11


class Invalid(SabathError, ValueError):
    """A recipe, a manifest, a list, an archive, a plan or a configuration file is malformed or hostile."""

    kind, exit_code = "invalid", 12


class Unjudged(SabathError):
    """What was compared proves nothing: rounding hides it, or there is too little of it."""

    kind, exit_code = "unjudged", 13


class StorageError(SabathError):
    """The operating system refused something (not space)."""

    kind, exit_code = "storage", 70


class InternalError(SabathError):
    """A defect of SABATH itself."""


class Interrupted(SabathError):
    """The call was stopped; verified bytes are kept."""

    kind, exit_code = "interrupted", 130


_KINDS: Dict[str, Type[SabathError]] = {
    each.kind: each
    for each in (UsageError, NotFound, NeedsLogin, NoSpace, Unreachable, HashMismatch, Incomplete, Offline, NodesFailed,
                 ProgramFailed, Invalid, Unjudged, StorageError, InternalError, Interrupted)
}  # fmt: skip
_KINDS.update(unavailable=Unreachable, no_ranges=Unreachable, changed=Unreachable, terminated=Interrupted)
_EXITS: Dict[int, Type[SabathError]] = {each.exit_code: each for each in _KINDS.values() if each is not StorageError}
_EXITS[143] = Interrupted


def _again(kind: Type[SabathError], message: str, hint: str, state: Dict[str, Any]) -> SabathError:
    return kind(message, hint, **state)


def of_failure(failure: Dict[str, Any], exit_code: int = 0, record: Any = None) -> SabathError:
    """The exception for a failure of a record, {"kind", "message", "hint"}."""
    kind = failure.get("kind", "")
    made = _KINDS.get(kind) or _EXITS.get(exit_code, SabathError)
    return made(failure.get("message", ""), failure.get("hint") or "", kind=kind, exit_code=exit_code, record=record)


def _failures(record: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The failures that a record names, in its order."""
    if "error" in record:
        return [record["error"]]
    found = _failed_runs(record) + list(record.get("failures", ()))  # of `apply`: of single files
    for asset in record.get("assets", ()):
        found += asset.get("failures", ())
        found += asset.get("failed_nodes", ())
        found += [asset["failure"]] if asset.get("failure") else []
        found += [{"message": f"{bad['path']} of {asset['name'] or 'the store'}: {bad['what']}"}
                  for bad in asset.get("bad", ()) if not bad.get("mended")]  # fmt: skip
        missing = asset.get("missing_paths", ())
        found += (
            [{"message": f"{asset['name'] or 'the store'} lacks {len(missing)} files, first {missing[0]}"}] if missing else []
        )
    return found


def _failed_runs(record: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The failures that a record of `run` or `report` names."""
    found = []
    for run in record.get("runs", ()):
        if run.get("state") in ("failed", "interrupted"):
            ended = f"signal {run['signal']}" if run.get("signal") else f"exit code {run.get('exit')}"
            found.append({"message": f"the run {run['path']} {run['state']}: its program ended with {ended}",
                          "hint": "its directory has what it printed"})  # fmt: skip
    unmet = [each for each in record.get("expectations", ()) if not each["met"]]
    return [{"message": f"{each['run']}: {each['expected']} is not met: {each['value']}"} for each in unmet] or found


def of_record(record: Dict[str, Any], what: str) -> Optional[SabathError]:
    """The exception that a record's `exit` means, None for 0. `what` was asked for, for a record that gives no reason."""
    exit_code = int(record.get("exit", 0))
    if exit_code == 0:
        return None
    made = _EXITS.get(exit_code, SabathError)
    failures = _failures(record)
    first = next((each for each in failures if _KINDS.get(each.get("kind", "")) is made), None)
    first = first or (failures[0] if failures else {"message": f"{what} ended with exit code {exit_code}"})
    path = first.get("path")
    message = f"{path}: {first['message']}" if path else first["message"]
    message += f", and {len(failures) - 1} more" if len(failures) > 1 else ""
    kind = first.get("kind", "") if _KINDS.get(first.get("kind", "")) is made else ""
    return made(message, first.get("hint") or "", kind=kind, exit_code=exit_code, record=record)
