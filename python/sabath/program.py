"""The program `sabath`, for what needs ranks or a guardian: a command line in, its record out."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sysconfig
import threading
from typing import Any, Dict, Iterator, List, Sequence

from . import errors
from .library import Library

log = logging.getLogger("sabath")
# A rank that starts a program must not let it take part in the rank's own job.
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")


def _scripts() -> Iterator[str]:
    """Where pip puts programs: of this environment, and of the user."""
    yield sysconfig.get_path("scripts")
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        yield sysconfig.get_path("scripts", user)


def find() -> str:
    """The program: SABATH_PROGRAM, beside the library, where pip put it, or in PATH. Raises ProgramFailed."""
    named = os.environ.get("SABATH_PROGRAM")
    if named:
        return named
    library = os.path.realpath(Library.opened().file)
    places = [os.path.join(library, up) for up in ("../../bin", "../../../bin", "..")]
    if os.path.dirname(library) == os.path.dirname(os.path.realpath(__file__)):  # a wheel's: for pip --target, in a scheme of Python
        places += [os.path.join(library, "../../bin"), *_scripts()]
    for place in places:
        beside = os.path.normpath(os.path.join(place, "sabath"))
        if os.access(beside, os.X_OK) and os.path.isfile(beside):
            return beside
    found = shutil.which("sabath")
    if found:
        return found
    raise errors.ProgramFailed("there is no program `sabath`", "let the environment variable SABATH_PROGRAM name it")


def options_of(values: Dict[str, Any]) -> Iterator[str]:
    """The command line's options: run_dir="x" is --run-dir x, True is the option alone, a list gives it again, a dict is
    KEY=VALUE for each key, and None is none. What is a word of Python's has an underscore behind it: from_="weights"."""
    for key, value in values.items():
        option = f"--{key.rstrip('_').replace('_', '-')}"
        if isinstance(value, dict):
            value = [f"{name}={each}" for name, each in value.items()]
        if value is True:
            yield option
        elif value is not None and value is not False:
            for each in value if isinstance(value, (list, tuple)) else [value]:
                yield f"{option}={os.fspath(each) if isinstance(each, os.PathLike) else each}"


def variables_of(settings: Dict[str, Any]) -> Dict[str, str]:
    """The environment in which the program finds what a session was given."""
    names = {
        "store": "SABATH_CACHE",
        "recipes": "SABATH_RECIPES",
        "offline": "SABATH_OFFLINE",
        "config": "SABATH_CONFIG",
    }
    other = sorted(set(settings) - set(names))
    if other:
        raise errors.UsageError(f"the program `sabath` cannot be given {', '.join(other)}", "a configuration file can")
    made = dict(os.environ)
    if "store" in settings:
        made.pop("SABATH_STORE", None)  # the other name of it
    for key, value in settings.items():
        texts = (
            [str(each) for each in value]
            if isinstance(value, (list, tuple))
            else [str(int(value)) if value in (True, False) else str(value)]
        )
        made[names[key]] = ":".join(texts)
    return made


def call(verb: str, arguments: Sequence[str], settings: Dict[str, Any], launcher: Sequence[str] = ()) -> Dict[str, Any]:
    """The record of `LAUNCHER sabath VERB --json ARGUMENTS`. Its messages go to the log "sabath". Ctrl-C ends it, in order:
    the terminal does not reach it, because a second signal would end it at once.
    Raises what the record's failures mean."""
    inside = [name for name in RANK_VARIABLES if name in os.environ]
    if inside:
        raise errors.UsageError(f"this process is a rank of a job ({inside[0]}), which cannot start another",
                                f"let the job's script call `sabath {verb}` before it starts the ranks")  # fmt: skip
    command = [*launcher, find(), verb, "--json", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=variables_of(settings), text=True, errors="replace",
                               start_new_session=True)  # fmt: skip
    said: List[str] = []
    reader = threading.Thread(target=_log_lines, args=(process.stderr, said))
    reader.start()
    try:
        out = process.stdout.read()  # type: ignore[union-attr]
        code = process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    finally:
        reader.join()
        process.stdout.close()  # type: ignore[union-attr]
        process.stderr.close()  # type: ignore[union-attr]
    return _record_of(out, code, said, command)


def _log_lines(stream: Any, said: List[str]) -> None:
    for line in stream:
        said.append(line.rstrip())
        del said[:-20]
        log.info("%s", line.rstrip())


def _record_of(out: str, code: int, said: List[str], command: List[str]) -> Dict[str, Any]:
    begin = out.find("{")
    try:
        record = json.loads(out[begin:]) if begin >= 0 else {}
    except ValueError:
        record = {}
    if not record and code != 0:
        last = said[-1] if said else "it said nothing"
        raise errors.of_failure({"message": f"{command[0]} ended with code {code}: {last}"}, code)
    record.setdefault("exit", code)
    failure = errors.of_record(record, " ".join(command))
    if failure:
        raise failure
    return record
