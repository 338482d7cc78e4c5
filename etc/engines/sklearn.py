"""The engine for scikit-learn: see engine.py. Usage: sklearn.py REQUEST.json

A model is a pickle, by pickle or joblib: it is opened only where it is trusted. What it gives: a classifier its labels and
their probabilities, or without those what decision_function() gives; a detector of outliers its labels and scores;
clusters their labels; what only transforms gives that; everything else what predict() gives, as a column.
"""

import pathlib
import sys

HERE = str(pathlib.Path(__file__).parent)
sys.path = [place for place in sys.path if place != HERE]  # this file has the library's name
import joblib  # noqa: E402
import numpy  # noqa: E402
import skl2onnx  # noqa: E402
from skl2onnx.common.data_types import guess_tensor_type  # noqa: E402
from sklearn.base import is_classifier, is_clusterer, is_outlier_detector  # noqa: E402

sys.path.append(HERE)
from engine import Engine  # noqa: E402


def shaped(array, value):
    """As the graph shapes it: one column where it has columns, and of two classes' scores one for each, if it has two."""
    array, lengths = numpy.asarray(array), [each.dim_value for each in value.type.tensor_type.shape.dim]
    if len(lengths) == 2 and array.ndim == 1:
        return numpy.stack([-array, array], axis=1) if lengths[1] == 2 else array.reshape(-1, 1)
    return array


def calls_of(model):
    """What gives the outputs, in the graph's order, and the converter's options."""
    if hasattr(model, "predict_proba"):
        return [model.predict, model.predict_proba], {"zipmap": False}
    if is_classifier(model):
        return [model.predict, model.decision_function], {"zipmap": False, "raw_scores": True}
    if is_outlier_detector(model):
        return [model.predict, model.decision_function], None
    if is_clusterer(model) and hasattr(model, "predict"):
        return [lambda array: model.predict(array).astype("int64")], None
    if hasattr(model, "predict"):
        return [model.predict], None
    if hasattr(model, "transform"):
        return [model.transform], None
    sys.exit(f"{type(model).__name__} neither predicts nor transforms: it has nothing that could be converted")


def why_not(model, error):
    """A sentence for what a converter raised: of its first cause, since the last one may print a whole tree."""
    if type(error).__name__ in ("MissingShapeCalculator", "MissingConverter"):
        return f"skl2onnx has no converter for {type(model).__name__} or for a part of it: export another kind of model"
    while error.__cause__:
        error = error.__cause__
    text = " ".join(str(error).split())[:300]
    return f"skl2onnx refused {type(model).__name__} ({type(error).__name__}: {text}): try another version of skl2onnx or onnx"


def convert(engine, model, inputs, shape, options):
    dummy = engine.dummy()[0]
    kind = type(guess_tensor_type(skl2onnx.common.data_types.guess_data_type(dummy)[0][1]))
    wanted = {"initial_types": [(inputs[0], kind(shape))], "target_opset": {"": engine.request["opset"], "ai.onnx.ml": 3}}
    error = None
    for each in (options, {"zipmap": False}, None):  # not every kind knows every option
        try:
            return skl2onnx.convert_sklearn(model, options={id(model): each} if each else None, **wanted)
        except NameError as unknown:
            error = unknown
        except Exception as refused:
            sys.exit(why_not(model, refused))
    sys.exit(why_not(model, error))


def main():
    engine = Engine()
    engine.refuse_pickle(engine.request["model"])
    model = joblib.load(engine.request["model"])
    dummy = engine.dummy()
    if len(dummy) != 1:
        sys.exit(f"scikit-learn's models take one input, and {len(dummy)} are given")
    if numpy.asarray(getattr(model, "classes_", 0)).dtype.kind in "OUS":
        sys.exit("its labels are texts, which cannot be compared: fit it on sklearn.preprocessing.LabelEncoder's numbers")
    calls, options = calls_of(model)

    inputs, outputs = engine.names("input", 1), engine.names("output", len(calls))
    shape = [None if engine.request["any_batch"] else len(dummy[0]), *dummy[0].shape[1:]]
    graph = convert(engine, model, inputs, shape, options)
    engine.write_graph(graph, outputs)

    def original(arrays):
        return [shaped(call(arrays[0]), value) for call, value in zip(calls, graph.graph.output)]

    engine.write_outputs(original)
    engine.write_latency(original)


main()
