"""The engine for Keras: see engine.py. Usage: keras_model.py REQUEST.json

A file that Keras wrote. Lambda layers are code: they are read only where the file is trusted.
"""

import os
import sys

from engine import Engine  # first: TensorFlow changes where modules are looked for

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow  # noqa: E402
import tf2onnx  # noqa: E402


def main():
    engine = Engine()
    trusted = {"safe_mode": not engine.request["trusted"]} if engine.request["model"].endswith(".keras") else {}
    if not trusted:
        engine.refuse_pickle(engine.request["model"])
    model = tensorflow.keras.models.load_model(engine.request["model"], compile=False, **trusted)
    dummy = engine.dummy()
    if len(dummy) != len(model.inputs):
        sys.exit(f"the model takes {len(model.inputs)} inputs, and {len(dummy)} are given")

    def original(arrays):
        given = model(arrays[0] if len(arrays) == 1 else arrays, training=False)
        return [each.numpy() for each in (given if isinstance(given, (list, tuple)) else [given])]

    inputs, outputs = engine.names("input", len(dummy)), engine.names("output", len(original(dummy)))
    any_batch = engine.request["any_batch"]
    signature = [tensorflow.TensorSpec([None if any_batch else len(each), *each.shape[1:]], each.dtype, name=name)
                 for each, name in zip(dummy, inputs)]  # fmt: skip

    @tensorflow.function(input_signature=signature)
    def whole(*arrays):
        given = model(arrays[0] if len(arrays) == 1 else list(arrays), training=False)
        given = given if isinstance(given, (list, tuple)) else [given]
        return {name: tensorflow.identity(each, name=name) for name, each in zip(outputs, given)}

    tf2onnx.convert.from_function(whole, input_signature=signature, opset=engine.request["opset"],
                                  output_path=str(engine.file))  # fmt: skip
    engine.write_outputs(original)
    engine.write_latency(original)


main()
