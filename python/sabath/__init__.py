"""SABATH in Python: verified datasets and models, where training reads them.

    >>> import sabath
    >>> asset = sabath.fetch("cosmoflow")       # doctest: +SKIP
    >>> asset.path, asset.root, len(asset.files)  # doctest: +SKIP

The functions of this module use one session, with the settings of the environment and the configuration files; a
`Session` has settings of its own. docs/python.md is the tutorial, docs/requests-and-records.md lists the verbs.
"""

from __future__ import annotations

from .asset import Asset
from .errors import (
    HashMismatch,
    Incomplete,
    InternalError,
    Interrupted,
    Invalid,
    NeedsLogin,
    NodesFailed,
    NoSpace,
    NotFound,
    NotYet,
    Offline,
    ProgramFailed,
    SabathError,
    StorageError,
    Unjudged,
    Unreachable,
    UsageError,
)
from .files import AssetFile, AssetFiles, FileInfo
from .library import Library
from .progress import Progress
from .session import Session
from .shards import Plan, RankSampler

__version__ = "0.1.0"

default_session = Session()
call = default_session.call
fetch = default_session.fetch
path = default_session.path
view = default_session.view
plan = default_session.plan
verify = default_session.verify
keep = default_session.keep
unkeep = default_session.unkeep
list = default_session.list
search = default_session.search
info = default_session.info
open = default_session.open
stage = default_session.stage
run = default_session.run
report = default_session.report
apply = default_session.apply
infer = default_session.infer
convert = default_session.convert
supporting = default_session.supporting
log_metrics = default_session.log_metrics

__all__ = [
    "Asset", "AssetFile", "AssetFiles", "FileInfo", "HashMismatch", "Incomplete", "InternalError", "Interrupted", "Invalid",
    "Library", "NeedsLogin", "NoSpace", "NodesFailed", "NotFound", "NotYet", "Offline", "Plan", "ProgramFailed", "Progress",
    "RankSampler", "SabathError", "Session", "StorageError", "Unjudged", "Unreachable", "UsageError", "apply", "call", "convert", "default_session",
    "fetch", "infer", "info", "keep", "log_metrics", "path", "plan", "report", "run", "search", "stage", "supporting", "unkeep", "verify", "view",
]  # fmt: skip
