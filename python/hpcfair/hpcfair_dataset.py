"""`from hpcfair import hpcfair_dataset as dataset`: datasets, found and fetched."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import sabath

from .metadata import Metadata, Names, found_info, metadata_of, names_in, names_of



@dataclass(frozen=True)
class Loaded:
    """What stands at a path that load_dataset() or apply() returned."""

    name: Optional[str]  # of the dataset; None: a file of the caller's own, which no recipe describes
    file: Optional[str]  # the path itself if it is one file, in the dataset; else None
    tree: Optional[str]  # the directory, if it is the caller's own


_loaded: Dict[str, Loaded] = {}  # by the path


class DatasetMetadata(Metadata):
    MODULE = "hpcfair_dataset"


def list_datasets() -> List[str]:
    """The names of all datasets, public or behind a login."""
    return names_of("dataset")


def get_metadata(dataset_name: Names) -> List[DatasetMetadata]:
    """One for each name. Raises sabath.NotFound."""
    return metadata_of(dataset_name, "dataset", DatasetMetadata)


def search(keyword: str) -> List[str]:
    """The names of the datasets that match the regular expression."""
    return names_of("dataset", keyword)


class SupportingFile(str):
    """The name of a script, with its `description` and its `arguments`: name, type, default, required, choices, help."""

    description: Optional[str] = None
    arguments: List[Dict[str, Any]] = []


def list_supporting_files(dataset_name: str) -> List[SupportingFile]:
    """The scripts that belong to a dataset: those that its recipe's facts name, and those that apply() can run, with their
    description and arguments. Raises sabath.NotFound."""
    info = found_info(dataset_name, "dataset")
    scripts = {each["id"]: each for each in sabath.supporting(info["name"]) if not each["built_in"]}
    named = names_in((info.get("metadata") or {}).get("supporting_files")) or []
    files = [SupportingFile(each) for each in named]
    files += [SupportingFile(each) for each in scripts if each not in map(_id_of, named)]
    for file in files:
        script = scripts.get(_id_of(file)) or {}
        file.description, file.arguments = script.get("description"), script.get("arguments") or []
    return files


def _id_of(script: str) -> str:
    """A script goes by its id, or by the name of its file."""
    return script.rsplit(".", 1)[0] if script.endswith((".py", ".sh")) else script


def load_dataset(
    dataset_name: str, src_path: Any = None, dest_path: Any = None, *, fromPath: Any = None, **options: Any
) -> str:
    """Fetches a dataset, unless it is here; its path: that of its file, if it is one file, else of its directory.

    `src_path`: a local copy, which is verified and taken. `dest_path`: where the files are put as well. `fromPath`: the
    directory of a file of one's own, `dataset_name`, that no recipe describes. `options`: those of sabath.fetch().
    Raises sabath.NeedsLogin with the steps, where a login is needed, and what sabath.fetch() does."""
    if fromPath is not None:
        path = os.path.join(os.fspath(fromPath), dataset_name)
        if not os.path.exists(path):
            raise sabath.NotFound(f"there is no {path}", "`fromPath` names the directory of the file")
        _loaded[os.path.realpath(path)] = Loaded(None, path, None)
        return path
    name = found_info(dataset_name, "dataset")["name"]
    copies = [] if src_path is None else [src_path]
    asset = sabath.fetch(name, local_dir=dest_path, local_copies=copies, **options)
    files = asset.files.paths()
    one = files[0] if len(files) == 1 else None
    path = os.fspath(asset.path) if one is None else os.path.join(asset.path, one)
    _loaded[os.path.realpath(path)] = Loaded(name, one, None if dest_path is None else os.path.realpath(dest_path))
    return path


def loaded_at(path: Any) -> Loaded:
    """What load_dataset() put there; a dataset's name stands for itself. Raises sabath.UsageError for anything else."""
    found = _loaded.get(os.path.realpath(os.fspath(path)))
    if found is None and path in list_datasets():
        found = Loaded(path, None, None)
    if found is None:
        raise sabath.UsageError(f"{path} is no dataset that load_dataset() put there", "give what it returned")
    return found


def apply(dataset_name: str, data_path: Any, script_name: str, **options: Any) -> str:
    """Applies a script of list_supporting_files(), or a built-in one, to a dataset; the path of what came of it.

    `data_path`: what load_dataset() returned. Where that is a tree of one's own (`dest_path`), it becomes one of the new
    asset, with the other files as they were; verified bytes in a store are never changed, and the new asset stands beside
    them. `options`: the arguments of the script; `num_threads`: files at once. Raises sabath.UsageError,
    sabath.ProgramFailed, sabath.NotFound."""
    found_info(dataset_name, "dataset")
    before = loaded_at(data_path)
    if before.name is None:
        raise sabath.UsageError(f"{data_path} is a file of your own", "a script is applied to a dataset of a recipe")
    asset = sabath.apply(before.name, _id_of(script_name), in_place=before.tree, **options)
    path = os.fspath(asset.path) if before.tree is None else os.fspath(data_path)
    files = asset.files.paths()
    _loaded[os.path.realpath(path)] = Loaded(asset.name, files[0] if len(files) == 1 else None, before.tree)
    print("Successfully processed the dataset: " + " ".join(map(shlex.quote, asset.provenance["command"])))
    return path
