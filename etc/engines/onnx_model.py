"""The engine for ONNX models: see engine.py. Usage: onnx_model.py REQUEST.json

The model is brought to the wanted opset; what the original gives is computed by the onnx package's own evaluator.
"""

import sys

import onnx
from engine import Engine
from onnx import version_converter
from onnx.reference import ReferenceEvaluator


def main():
    engine = Engine()
    model = onnx.load(engine.request["model"], load_external_data=False)
    evaluator = ReferenceEvaluator(onnx.load(engine.request["model"]))
    own = [value.name for value in model.graph.input if value.name not in {each.name for each in model.graph.initializer}]
    if len(own) != len(engine.dummy()):
        sys.exit(f"the model takes {len(own)} inputs, and {len(engine.dummy())} are given")

    def original(arrays):
        return evaluator.run(None, dict(zip(own, arrays)))

    version = next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))
    if version != engine.request["opset"]:
        model = version_converter.convert_version(model, engine.request["opset"])
    engine.file.write_bytes(model.SerializeToString())
    engine.write_outputs(original)
    engine.write_latency(original)


main()
