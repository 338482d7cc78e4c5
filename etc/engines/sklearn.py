"""The engine for scikit-learn: see engine.py. Usage: sklearn.py REQUEST.json

A model is a pickle, by pickle or joblib: it is opened only where it is trusted. A classifier gives its labels and their
probabilities, everything else what predict() gives, as a column.
"""

import pathlib
import sys

HERE = str(pathlib.Path(__file__).parent)
sys.path = [place for place in sys.path if place != HERE]  # this file has the library's name
import joblib  # noqa: E402
import numpy  # noqa: E402
import skl2onnx  # noqa: E402
from skl2onnx.common.data_types import guess_tensor_type  # noqa: E402

sys.path.append(HERE)
from engine import Engine  # noqa: E402


def main():
    engine = Engine()
    engine.refuse_pickle(engine.request["model"])
    model = joblib.load(engine.request["model"])
    if not hasattr(model, "predict"):
        sys.exit(f"{engine.request['model']} holds {type(model).__name__}, which predicts nothing")
    scores = hasattr(model, "predict_proba")

    def original(arrays):
        found = numpy.asarray(model.predict(arrays[0]))
        if scores:
            return [found, numpy.asarray(model.predict_proba(arrays[0]))]
        return [found.reshape(len(found), -1)]

    dummy = engine.dummy()
    if len(dummy) != 1:
        sys.exit(f"scikit-learn's models take one input, and {len(dummy)} are given")
    inputs, outputs = engine.names("input", 1), engine.names("output", 2 if scores else 1)
    shape = [None if engine.request["any_batch"] else len(dummy[0]), *dummy[0].shape[1:]]
    kind = type(guess_tensor_type(skl2onnx.common.data_types.guess_data_type(dummy[0])[0][1]))
    options = {id(model): {"zipmap": False}} if scores else None
    graph = skl2onnx.convert_sklearn(model, initial_types=[(inputs[0], kind(shape))], options=options,
                                     target_opset={"": engine.request["opset"], "ai.onnx.ml": 3})  # fmt: skip
    engine.write_graph(graph, outputs)
    engine.write_outputs(original)
    engine.write_latency(original)


main()
