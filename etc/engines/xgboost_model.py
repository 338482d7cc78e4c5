"""The engine for XGBoost: see engine.py. Usage: xgboost_model.py REQUEST.json

A file that Booster.save_model() wrote, which is data. A classifier gives its labels and their probabilities, everything else
what predict() gives, as a column.
"""

import json
import sys

from engine import Engine  # first: libraries change where modules are looked for

import numpy  # noqa: I001
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType


def main():
    engine = Engine()
    booster = xgboost.Booster(model_file=engine.request["model"])
    best = booster.attr("best_iteration")
    if best is not None:  # training stopped early: what predict() of its regressor or classifier uses
        booster = booster[: int(best) + 1]
    objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
    classifies = objective in ("binary:logistic", "multi:softprob")
    if not classifies and not objective.startswith("reg:"):
        sys.exit(f"models of {objective} are not converted: reg:*, binary:logistic and multi:softprob are")

    def original(arrays):
        found = booster.predict(xgboost.DMatrix(arrays[0]))
        if not classifies:
            return [found.reshape(len(found), -1)]
        scores = found if found.ndim == 2 else numpy.stack([1 - found, found], axis=1)
        return [scores.argmax(axis=1).astype("int64"), scores]

    def set_threads(count):
        booster.set_param({"nthread": count})

    dummy = engine.dummy()
    if len(dummy) != 1 or dummy[0].dtype != numpy.float32:
        sys.exit("XGBoost's models take one input, of float32")
    inputs, outputs = engine.names("input", 1), engine.names("output", 2 if classifies else 1)
    shape = [None if engine.request["any_batch"] else len(dummy[0]), *dummy[0].shape[1:]]
    graph = onnxmltools.convert_xgboost(booster, initial_types=[(inputs[0], FloatTensorType(shape))],
                                        target_opset=engine.request["opset"])  # fmt: skip
    engine.write_graph(graph, outputs)
    engine.write_outputs(original, set_threads)
    engine.write_latency(original, set_threads)


main()
