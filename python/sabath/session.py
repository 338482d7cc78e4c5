"""A session: settings, a store, recipes and credentials, wired; and the verbs that work on them.

Any thread may use a session, also several at once. After a fork parent and child both go on with it; a spawned process
gets it by pickle. Ctrl-C ends the call of the main thread within a moment, and what is verified is kept. Nothing is
printed: messages go to the log "sabath" of the module logging.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import calls, errors, made, patterns, program
from .asset import Asset
from .files import AssetFile, HeldAsset
from .library import Library
from .progress import Bar, bar_of

Names = Union[str, Sequence[str]]
Record = Dict[str, Any]
_sessions: Any = weakref.WeakSet()


class Session:
    """`settings`: the keys of a configuration file (docs/configuration.md): store="/scratch/me", recipes=["dir"],
    offline=True, lanes=8, ... They win over the environment and the files. Raises UsageError, Invalid."""

    def __init__(self, **settings: Any):
        self.settings = {key: _plain(value) for key, value in settings.items() if value is not None}
        self._handle: Optional[int] = None
        self._closing: Any = None
        self._users, self._changed_users = 0, threading.Condition()  # calls that use the handle just now
        _sessions.add(self)

    @property
    def library(self) -> Library:
        return Library.opened()

    def __reduce__(self) -> Any:
        return _session_of, (self.settings,)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Waits for the calls that go on, and frees what the library holds. It opens again when it is used."""
        with self._changed_users:
            self._changed_users.wait_for(lambda: self._users == 0)
            closing, self._handle, self._closing = self._closing, None, None
        if closing:
            closing()

    def with_handle(self, use: Callable[[int], Any]) -> Any:
        """Calls `use` with the library's session, and returns its result."""
        with self._changed_users:
            if self._handle is None:
                library = self.library
                self._handle = library.open(self.settings)
                self._closing = weakref.finalize(self, _close, library, self._handle, os.getpid())
            handle = self._handle
            self._users += 1
        try:
            return use(handle)
        finally:
            with self._changed_users:
                self._users -= 1
                self._changed_users.notify_all()

    def call(self, verb: str, **request: Any) -> Record:
        """Any verb by its name and the keys of its request, as docs/requests-and-records.md has them; its record. Raises
        what the record's exit code means."""
        return self._work(verb, request)

    def __getattr__(self, name: str) -> Callable[..., Record]:
        """A verb that has no method below: session.gc(max_size="10G"), session.trust_list()."""
        if name.startswith("_"):
            raise AttributeError(name)
        return made.method(self, name)

    # The verbs ------------------------------------------------------------------------------------------------------

    def fetch(self, name: str, *, repo_type: Optional[str] = None, revision: Optional[str] = None,
              local_dir: Any = None, force_download: bool = False, allow_patterns: Optional[Names] = None,
              ignore_patterns: Optional[Names] = None, local_files_only: bool = False, cache_dir: Any = None,
              max_workers: Optional[int] = None, refresh: bool = False, sample: Optional[int] = None, local_copies: Sequence[Any] = (),
              progress: Any = None, tqdm_class: Any = None) -> Asset:  # fmt: skip
        """Fetches an asset into the store, or finds it there, and checks every byte. A model brings its default dataset.

        `repo_type`: "model" fetches a model without its dataset, "dataset" a dataset. `revision`: the recipe's version.
        `local_dir`: the files are also copied there, as a plain directory; the same call again finds them there, and what
        was changed in it is an error. `force_download`: what is there is not
        believed. `allow_patterns`, `ignore_patterns`: only these paths, and not those; `*` also matches `/`, and `DIR/` is
        all below it. `local_files_only`: no network. `cache_dir`: another store. `max_workers`: connections. `refresh`: the
        source is asked whether it changed. `sample`: the first N files of each archive and list. `local_copies`: files that are taken instead of the sources,
        once they are verified. `progress`: a function that hears a Progress, or True for a bar of tqdm; `tqdm_class`:
        that of a bar.

        Raises NotFound, NeedsLogin (with the steps), NoSpace, Unreachable, HashMismatch, Offline, Incomplete, Invalid.
        """
        session = self._changed(store=cache_dir, lanes=max_workers, offline=True if local_files_only else None)
        wanted = f"{name}@{revision}" if revision else name
        if repo_type not in (None, "model", "dataset"):
            raise errors.UsageError(f"repo_type is model or dataset, not {repo_type!r}")
        allowed = None if allow_patterns is None else _list(allow_patterns)
        request = {f"{repo_type or 'name'}s": [wanted], "force": force_download, "refresh": refresh, "sample": sample,
                   "view": False,  # Asset.path makes one, once it is asked for
                   "select": patterns.globs(allowed, _list(ignore_patterns)),
                   "path": [os.fspath(each) for each in local_copies]}  # fmt: skip
        record = session._work("fetch", request, progress, tqdm_class)
        asked, at, version = wanted.partition("@")
        found = next((each for each in record["assets"] if each["name"].lower() == asked.lower()), None)
        # Of a URL: the name of the recipe that was written for it.
        known = f"{found['name']}{at}{version}" if found else record["assets"][0]["name"]
        found = found or record["assets"][0]
        if local_dir is not None:
            found["path"] = session.view(found["manifest"], to=local_dir)
        return Asset(session, known, found)

    def path(self, name: str, fragment: Optional[str] = None) -> str:
        """The directory of a fetched asset, or the path of one of its fragments. Nothing is fetched or made. Raises
        Offline if it is not in the store as a directory, NotFound."""
        return str(self._ask("path", {"name": name, "fragment": fragment})["path"])

    def view(self, name: str, to: Any = None, files: Optional[str] = None) -> str:
        """Makes the directory of a fetched asset in the store, or a tree `to` elsewhere, whose `files` are "copy", "link"
        or "symlink"; its path. Raises Offline, NoSpace, StorageError, UsageError."""
        return str(self._work("view", {"name": name, "to": to if to is None else os.fspath(to), "as": files})["path"])

    def plan(self, names: Names, **request: Any) -> Record:
        """The plan of a fetch: bytes, sources, and whether they fit (docs/planning.md). Nothing is moved.
        Keys: models, datasets, name, sample, select, force, to, requests."""
        return self._work("plan", {"names": _list(names), **request}, raises=False)

    def verify(self, names: Names = (), progress: Any = None, tqdm_class: Any = None, **request: Any) -> Record:
        """Reads assets, or the whole store, again, and compares every hash. Raises HashMismatch, Incomplete, Offline.
        Keys: quick, within (seconds), limit_rate (bytes a second), repair, threads."""
        return self._work("verify", {"names": _list(names), **request}, progress, tqdm_class)

    def keep(self, names: Names = ()) -> List[Record]:
        """Assets of the store that no collection takes from now on: name, manifest. Without names those that are kept, with
        the time. Raises NotFound, Offline."""
        return _records(self._ask("keep", {"names": _list(names)})["kept"])

    def unkeep(self, names: Names) -> List[Record]:
        """Lets assets go that keep() named: a collection may take them. Deletes nothing. Raises NotFound."""
        return _records(self._ask("unkeep", {"names": _list(names)})["unkept"])

    def list(self, kind: Optional[str] = None, stored: bool = False) -> List[Record]:
        """The assets of the recipes: name, kind ("dataset", "model", "workflow"), version, access, size (bytes, or None),
        present, title. `stored`: those in the store."""
        return _records(self._ask("list", {"kind": kind, "stored": stored})["assets"])

    def search(self, pattern: str, kind: Optional[str] = None) -> List[Record]:
        """As list(), those whose name, texts or facts match the regular expression (RE2, cases are alike)."""
        return _records(self._ask("search", {"pattern": pattern, "kind": kind}, raises=False)["assets"])

    def info(self, name: str, kind: Optional[str] = None) -> Record:
        """All that the recipe says, and what the store has of it. Raises NotFound."""
        return _records(self._ask("info", {"names": [name], "kind": kind})["assets"])[0]

    def has(self, name: str) -> bool:
        """True if the store holds the asset, as a directory or in packs. Raises NotFound."""
        where = self._ask("where", {"name": name}, raises=False)
        return bool(where["has_manifest"] and (where["path"] or where["packed"]))

    def open(self, name: str, path: str) -> AssetFile:
        """A file of a fetched asset, in binary, from a directory or a pack. Raises NotFound, Offline."""
        return Asset(self, name).open(path)

    def open_asset(self, name: str) -> HeldAsset:
        return HeldAsset(self, name)

    def stage(self, names: Names, *, to: Any = "auto", launcher: Sequence[str] = (), **options: Any) -> Record:
        """Brings datasets to the disk of every node of a job; the record. `launcher`: what starts the ranks, such as
        ["srun", "--mpi=pmix"] or ["mpirun", "-n", "4"]; empty: this node only. `options`: those of `sabath stage`,
        such as mode="shard", seed=7, select=["full[:,:,:,0]"]. Raises NodesFailed, NoSpace, ...
        Keys: env, mode, seed, overlap, per_rank, layout, repo, select, blocks, filter, readers, allow_partial, threads, deadline,
        no_fetch, bypass_shared, emulate_nodes, simulate, alone."""
        arguments = [*program.options_of({"to": to, **options}), *_list(names)]
        return program.call("stage", arguments, self.settings, launcher)

    def run(self, model: str, dataset: Optional[str] = None, *, arguments: Sequence[str] = (), **options: Any) -> Record:
        """Runs a model on verified bytes; the record of its runs (docs/runs.md). `options`: those of `sabath run`,
        such as set={"lr": 0.01}, from_="weights", or engine="ort" with input={"x": "x.npy"}. Raises ProgramFailed, ...
        Keys: dry_run, set, set_from, mode, engine, input, from_, run_set, run_dir, again, at, stage_record, env, checks,
        launcher, container, site, lock, ranks, nodes, verify, no_verify, trust, no_fetch, grace."""
        command = [
            *program.options_of(options),
            model,
            *([dataset] if dataset else []),
            *(["--", *arguments] if arguments else []),
        ]
        return program.call("run", command, self.settings)

    def supporting(self, name: Optional[str] = None) -> List[Record]:
        """The scripts that apply() can run on an asset: its recipe's, then the built-in ones. Each has id, description,
        per ("file" or "asset"), inputs, built_in and arguments: name, type ("text", "int", "float", "bool"), default,
        required, choices, help. Raises NotFound."""
        return _records(self._ask("supporting", {"name": name})["scripts"])

    def apply(self, name: str, script: str, *, num_threads: Any = None, as_name: Optional[str] = None,
              in_place: Any = None, force: bool = False, no_fetch: bool = False, memory: Optional[int] = None,
              time: Optional[float] = None, progress: Any = None, tqdm_class: Any = None, **arguments: Any) -> Asset:  # fmt: skip
        """Makes a new asset of one by a script (docs/apply.md), or finds it: `provenance` is the record, where
        `was_there`, `processed` and `derived` say what was done.

        `arguments`: those of the script. `num_threads`: files at once. `as_name`: of the new asset. `in_place`: a tree of
        the asset outside the store, which becomes one of the new asset. `memory` (bytes), `time` (seconds): bounds of each
        start of a foreign script. Raises UsageError, NotFound, ProgramFailed (its record names the files), Offline."""
        given = [f"{key}={_word(value)}" for key, value in arguments.items()]
        request = {"name": name, "script": script, "arguments": given, "as": as_name, "force": force, "no_fetch": no_fetch,
                   "in_place": None if in_place is None else os.fspath(in_place), "memory": memory, "time": time,
                   "threads": None if num_threads is None else int(num_threads)}  # fmt: skip
        record = self._work("apply", request, progress, tqdm_class)
        return Asset(self, record["name"], record)

    def convert(self, model: Any, from_engine: str, *, data: Any = (), dummy: Any = (), code: str = "", samples: int = 0,
                input_names: Names = (), output_names: Names = (), as_name: Optional[str] = None, progress: Any = None,
                **request: Any) -> Record:  # fmt: skip
        """Converts a model to ONNX, with a proof (docs/convert.md). `from_engine`: "pytorch", "sklearn", "keras", "onnx", ...
        `data`, `dummy`: .npy files, one for each input; `code`: "FILE.py:NAME". Several models:
        sabath.call("convert", models=[...]). Raises HashMismatch where it is not equal (its record has the findings),
        NeedsLogin without trust.
        Keys: opset, stochastic, absolute, relative, precision, seed, merge, fixed_batch, memory (bytes), time (seconds),
        dry_run, trust."""
        one = {"model": os.fspath(model), "from": from_engine, "samples": samples, "input_names": _list(input_names),
               "data": [os.fspath(file) for file in _list(data)], "dummy": [os.fspath(file) for file in _list(dummy)],
               "output_names": _list(output_names), **({"code": code} if code else {})}  # fmt: skip
        return self._work("convert", {"models": [one], "as": as_name, **request}, progress)

    def infer(self, models: Names, input: Any, output: Any, **request: Any) -> Record:
        """Runs ONNX models over samples, one after the other (docs/infer.md). `models`: .onnx files, assets, ASSET:PATH.
        `input`: a file of samples, or a dict of files by the names of the first model's inputs. Raises UsageError
        for what does not fit, before anything runs.
        Keys: result, batch, threads, as_it_is, latency (a file for a report of that format)."""
        given = {"inputs": {name: os.fspath(file) for name, file in input.items()}} if isinstance(input, dict) else {
            "input": os.fspath(input)}  # fmt: skip
        return self._work("infer", {"models": _list(models), "output": os.fspath(output), **given, **request})

    def report(self, runs: Names, **request: Any) -> Record:
        """The series of runs, and a report of them: format="html", file="loss.svg", metric=["loss"],
        expect=["val_mae<=0.2"], ... Of format="latency" assets, too: the record has the table. Raises
        HashMismatch if an expectation is not met.
        Keys: format, file, set, set_from, metric, expect, pattern, all."""
        return self._work("report", {"runs": _list(runs), **request})

    def log_metrics(self, values: Optional[Dict[str, float]] = None, *, epoch: Optional[int] = None,
                    step: Optional[int] = None, **more: float) -> None:  # fmt: skip
        """Logs values as one line that every run record understands. It is appended to the file that
        SABATH_METRICS names, as `sabath run` sets it; else it goes to standard output. Values are what float() takes,
        also tensors and arrays of one number. Raises UsageError."""
        where = {key: value for key, value in (("epoch", epoch), ("step", step)) if value is not None}
        pairs = [_metric(key, value) for key, value in {**where, **(values or {}), **more}.items()]
        file = os.environ.get("SABATH_METRICS")
        told = self._ask("log", {"values": pairs, "file": file})
        if not file:
            sys.stdout.write(told["line"] + "\n")
            sys.stdout.flush()

    # Their calls --------------------------------------------------------------------------------------------

    def _changed(self, **settings: Any) -> Session:
        wanted = {key: _plain(value) for key, value in settings.items() if value is not None}
        return Session(**{**self.settings, **wanted}) if wanted else self

    def _ask(self, verb: str, request: Record, raises: bool = True) -> Record:
        """A short call, in the session that all threads share."""
        wanted = {key: value for key, value in request.items() if value is not None}
        record = self.with_handle(lambda handle: self.library.call(handle, verb, wanted))
        return _checked(record, verb) if raises else record

    def _work(self, verb: str, request: Record, progress: Any = None, tqdm_class: Any = None, raises: bool = True) -> Record:
        """A long call: it tells how far it is, and Ctrl-C ends it."""
        wanted = {key: value for key, value in request.items() if value is not None}
        hears = bar_of(progress, tqdm_class)
        try:
            record = calls.call(self.library, self.settings, verb, wanted, hears)
            return _checked(record, verb) if raises else record
        finally:
            if isinstance(hears, Bar):
                hears.close()


def _checked(record: Record, verb: str) -> Record:
    failure = errors.of_record(record, f"`{verb}`")
    if failure:
        raise failure
    return record


def _records(found: List[Record]) -> List[Record]:
    return found


def _list(names: Optional[Names]) -> List[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _metric(key: str, value: Any) -> str:
    try:
        return f"{key}={float(value):.17g}"
    except (TypeError, ValueError) as error:
        raise errors.UsageError(f"the value of {key} is no number: {value!r}"[:200], "log what float() takes") from error


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _session_of(settings: Dict[str, Any]) -> Session:
    return Session(**settings)


def _close(library: Library, handle: int, pid: int) -> None:
    if pid == os.getpid():  # its calls and threads stayed with the parent
        library.close(handle)


def _forget_after_fork() -> None:
    """In the child: what the parent's threads held stays as it is, and is left alone."""
    for session in _sessions:
        if session._closing:
            session._closing.detach()
        session._handle, session._closing = None, None
        session._users, session._changed_users = 0, threading.Condition()


os.register_at_fork(after_in_child=_forget_after_fork)
