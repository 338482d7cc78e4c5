"""The methods of a session for verbs that have none in session.py, made of what the library says of itself."""

from __future__ import annotations

import inspect
import keyword
import os
from typing import Any, Callable, Dict, Iterator

from . import errors

Field = Dict[str, Any]  # of the record of the verb `help`
PROGRESS = inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=None)


def method(session: Any, name: str) -> Callable[..., Dict[str, Any]]:
    """`name`: that of the verb, with "_" for a space; a word of Python's has "_" behind it, as have keys."""
    verb = name.rstrip("_").replace("_", " ")
    try:
        known = verb in session.library.verbs()
    except errors.ProgramFailed as error:
        raise AttributeError(f"a session has no {name}, and {error}") from error
    if not known:
        raise AttributeError(f"a session has no {name}, and the library no verb {verb!r}")
    (described,) = session.call("help", name=verb)["verbs"]
    fields = {field["key"] + "_" * keyword.iskeyword(field["key"]): field for field in described["request"]}
    parameters = sorted(map(_parameter, fields, fields.values()), key=lambda each: (each.kind, each.default is None))
    signature = inspect.Signature([*parameters, PROGRESS])

    def call(*arguments: Any, **request: Any) -> Dict[str, Any]:
        given = signature.bind(*arguments, **request).arguments
        progress = given.pop("progress", None)
        keys = {fields[key]["key"]: _value(fields[key], value) for key, value in given.items()}
        return dict(session._work(verb, keys, progress))

    call.__name__, call.__qualname__ = name, f"Session.{name}"
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = "\n".join([f"The verb `{verb}`; its record. Its request has the keys", *_lines(fields), "",
                              "and its record", *_lines({field["key"]: field for field in described["record"]})])  # fmt: skip
    return call


def _parameter(name: str, field: Field) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if "argument" in field else inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=inspect.Parameter.empty if field.get("required") else None)


def _lines(fields: Dict[str, Field]) -> Iterator[str]:
    for name, field in fields.items():
        text = field.get("words") or "list of " * field["list"] + field["type"]
        yield f"  {name}: {text}{', ' + field['unit'] if field.get('unit') else ''}: {field['help']}"


def _value(field: Field, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [os.fspath(each) if isinstance(each, os.PathLike) else each for each in value]
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    return [plain] if field["list"] and plain is not None else plain
