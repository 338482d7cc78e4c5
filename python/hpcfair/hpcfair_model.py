"""`from hpcfair import hpcfair_model as model`: models and workflows, found, fetched and run."""

from __future__ import annotations

import os
import shutil
from typing import Any, Dict, List, Optional, Union

import sabath

from . import hpcfair_dataset
from .metadata import Metadata, Names, found_info, metadata_of, names_of

MODES = {"train": "train", "inference": "infer"}


class ModelMetadata(Metadata):
    SHOWN = (*Metadata.SHOWN, "stepsToRun")
    MODULE = "hpcfair_model"


def list_models() -> List[str]:
    """The names of all models."""
    return names_of("model")


def get_metadata(model_name: Names) -> List[ModelMetadata]:
    """One for each name of a model or workflow. Raises sabath.NotFound."""
    return metadata_of(model_name, "model", ModelMetadata)


def search(keyword: str) -> List[str]:
    """The names of the models that match the regular expression."""
    return names_of("model", keyword)


def search_workflows(keyword: str) -> List[str]:
    """The names of the workflows that match the regular expression."""
    return names_of("workflow", keyword)


def load(model_name: str, **options: Any) -> sabath.Asset:
    """Fetches a model, unless it is here. `options`: those of sabath.fetch()."""
    return sabath.fetch(found_info(model_name, "model")["name"], repo_type="model", **options)


def run(task: str, model: Union[str, sabath.Asset], dataset_path: Any = None, *, log_dir: Any = None,
        config: Optional[str] = None, **settings: Any) -> Dict[str, Any]:  # fmt: skip
    """Trains a model ("train") or uses it ("inference") by its recipe; the record of the run, a directory below `log_dir`.

    `dataset_path`: what load_dataset() returned, or a dataset's name. `settings`: hyper-parameters of the recipe.
    `config`: an engine, such as "trt" or "tflite": raises sabath.NotYet. Raises sabath.UsageError, sabath.ProgramFailed.
    """
    if task not in MODES:
        raise sabath.UsageError(f"there is no task {task!r}", f"it is one of {', '.join(MODES)}")
    if config is not None:
        raise sabath.NotYet(f"convert to {config}")
    name = model if isinstance(model, str) else model.name
    dataset = None if dataset_path is None else hpcfair_dataset.name_at(dataset_path)
    if dataset_path is not None and dataset is None:
        raise sabath.UsageError(f"{dataset_path} is no dataset that load_dataset() put there", "give what it returned")
    options: Dict[str, Any] = {"set": settings, "mode": MODES[task]}
    if log_dir is not None:
        os.makedirs(log_dir, exist_ok=True)
        options["run_dir"] = _new_below(log_dir, name)
    record = sabath.run(name, dataset, **options)
    done = "trained" if task == "train" else "run"
    print(f"Model successfully {done}. Check logs directory for more details.")
    return record


def _new_below(directory: Any, name: str) -> str:
    number = 1
    while os.path.exists(os.path.join(directory, f"{name}-{number}")):
        number += 1
    return os.path.join(directory, f"{name}-{number}")


def convert(from_format: str, to_format: str, src_path: Any, dest_path: Any, **options: Any) -> Dict[str, Any]:
    """Converts a model to ONNX, and copies it to `dest_path`; the record of the conversion.

    `from_format`: "pytorch", "keras", "sklearn", "onnx". `options`: those of sabath.convert(), of which `data` or `dummy` is
    needed. Another format than ONNX raises sabath.NotYet; a model that is not equal sabath.HashMismatch.
    """
    if to_format != "onnx":
        raise sabath.NotYet(f"convert to {to_format}")
    record = sabath.convert(src_path, from_format, **options)
    shutil.copyfile(os.path.join(record["path"], record["models"][0]["file"]), dest_path)
    return record
