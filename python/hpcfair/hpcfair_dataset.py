"""`from hpcfair import hpcfair_dataset as dataset`: datasets, found and fetched."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

import sabath

from .metadata import Metadata, Names, found_info, metadata_of, names_in, names_of

_loaded: Dict[str, str] = {}  # the name of the dataset of each path that was handed out


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


def list_supporting_files(dataset_name: str) -> List[str]:
    """The names of the scripts that belong to a dataset, as its recipe's facts have them; apply() will know their
    arguments. Raises sabath.NotFound."""
    return names_in((found_info(dataset_name, "dataset").get("metadata") or {}).get("supporting_files")) or []


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
        return path
    name = found_info(dataset_name, "dataset")["name"]
    copies = [] if src_path is None else [src_path]
    asset = sabath.fetch(name, local_dir=dest_path, local_copies=copies, **options)
    files = asset.files.paths()
    path = os.path.join(asset.path, files[0]) if len(files) == 1 else os.fspath(asset.path)
    _loaded[os.path.realpath(path)] = name
    return path


def name_at(path: Any) -> Optional[str]:
    """The dataset that load_dataset() put there; a dataset's name stands for itself; None: neither."""
    found = _loaded.get(os.path.realpath(os.fspath(path)))
    return found or (path if path in list_datasets() else None)


def apply(dataset_name: str, data_path: Any, script_name: str, **options: Any) -> None:
    """Raises sabath.NotYet."""
    raise sabath.NotYet("apply")
