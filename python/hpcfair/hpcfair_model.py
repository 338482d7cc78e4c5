"""`from hpcfair import hpcfair_model as model`: models and workflows, found, fetched and run."""

from __future__ import annotations

import os
import shutil
from typing import Any, Dict, List, Optional, Union

import sabath

from . import hpcfair_dataset
from .metadata import Metadata, Names, found_info, metadata_of, names_of

MODES = {"train": "train", "inference": "infer"}
ENGINES = ("onnx", "ort")
FORMATS = {"pt": "pytorch", "tf": "keras", "tensorflow": "keras"}  # as task files have them


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
    """Fetches a model or a workflow, unless it is here. `options`: those of sabath.fetch()."""
    info = found_info(model_name, "model")
    return sabath.fetch(info["name"], repo_type="model" if info["kind"] == "model" else None, **options)


def run(task: str, model: Union[str, sabath.Asset], dataset_path: Any = None, *, log_dir: Any = None,
        config: Optional[str] = None, input: Any = None, **settings: Any) -> Dict[str, Any]:  # fmt: skip
    """Trains a model ("train") or uses it ("inference"); the record of the run, which is a directory below `log_dir`.

    `dataset_path`: what load_dataset() returned, or a dataset's name. `settings`: hyper-parameters of the recipe.
    Inference takes the recipe's steps. Where it has none, for a file of one's own (`fromPath`), or with `config="onnx"`, the
    model's ONNX graph runs in ONNX Runtime: `input` is the file of samples in the dataset, which needs no name if it is the
    only one, or a dict of files by the graph's inputs; `settings` are batch, threads, optimise; the result is
    `work/result.npy` of the run. Another engine, such as "trt" or "tflite", raises sabath.NotYet. Raises sabath.UsageError,
    sabath.ProgramFailed.
    """
    if task not in MODES:
        raise sabath.UsageError(f"there is no task {task!r}", f"it is one of {', '.join(MODES)}")
    if config not in (None, *ENGINES):
        raise sabath.NotYet(f"convert to {config}")
    name = model if isinstance(model, str) else model.name
    data = None if dataset_path is None else hpcfair_dataset.loaded_at(dataset_path)
    options: Dict[str, Any] = {"set": settings, "mode": MODES[task]}
    if task == "inference" and (config or input is not None or _only_a_graph(name, data)):
        options.update(engine="ort", input=_samples(data, input))
    elif config or input is not None:
        raise sabath.UsageError("an engine and its input are of inference, not of training")
    elif data is not None and data.name is None:
        raise sabath.UsageError(f"{dataset_path} is a file of your own", "a recipe's steps run on datasets of recipes")
    if log_dir is not None:
        os.makedirs(log_dir, exist_ok=True)
        options["run_dir"] = _new_below(log_dir, name)
    record = sabath.run(name, data.name if data else None, **options)
    done = "trained" if task == "train" else "run"
    print(f"Model successfully {done}. Check logs directory for more details.")
    return record


def _only_a_graph(model: str, data: Optional[hpcfair_dataset.Loaded]) -> bool:
    """True if no steps of a recipe can run the model on these data."""
    return (data is not None and data.name is None) or not found_info(model, "model")["infer"]


def _samples(data: Optional[hpcfair_dataset.Loaded], given: Any) -> Any:
    """The files of samples, as `sabath.run` takes them."""
    if given is not None:
        return given
    if data is None or data.file is None:
        raise sabath.UsageError("no samples are named", "`input` names the file of samples in the dataset")
    return data.file


def _new_below(directory: Any, name: str) -> str:
    number = 1
    while os.path.exists(os.path.join(directory, f"{name}-{number}")):
        number += 1
    return os.path.join(directory, f"{name}-{number}")


def convert(from_format: str, to_format: str, src_path: Any, dest_path: Any, **options: Any) -> Dict[str, Any]:
    """Converts a model to ONNX, and copies it to `dest_path`; the record of the conversion.

    `from_format`: "pytorch" ("pt"), "keras" ("tf"), "sklearn", "onnx". `options`: those of sabath.convert(), of which `data` or `dummy` is
    needed. Another format than ONNX raises sabath.NotYet; a model that is not equal sabath.HashMismatch, one that cannot be
    judged sabath.Unjudged.
    """
    if to_format != "onnx":
        raise sabath.NotYet(f"convert to {to_format}")
    record = sabath.convert(src_path, FORMATS.get(from_format, from_format), **options)
    shutil.copyfile(os.path.join(record["path"], record["models"][0]["file"]), dest_path)
    return record
