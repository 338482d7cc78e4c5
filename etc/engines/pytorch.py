"""The engine for PyTorch: see engine.py. Usage: pytorch.py REQUEST.json

A model is weights with the code that builds it (FILE.py:NAME, called without arguments), a TorchScript file, or a whole
pickled module. Weights are read without their pickle running anything; a pickled module only where it is trusted.
"""

import importlib.util
import pathlib
import sys

import torch
from engine import Engine

WHERE = ("state_dict", "model_state_dict", "model")  # checkpoints keep the weights under one of these


def build(file, name):
    sys.path.insert(0, str(pathlib.Path(file).parent))
    spec = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, name, None)):
        sys.exit(f"{file} has no {name} that can be called")
    return getattr(module, name)()


def load(engine):
    request = engine.request
    if request["code"]:
        model = build(request["code"], request["factory"])
        weights = torch.load(request["model"], map_location="cpu", weights_only=True)
        for key in WHERE:
            weights = weights[key] if isinstance(weights.get(key), dict) else weights
        model.load_state_dict(weights)
    elif request["torchscript"]:
        model = torch.jit.load(request["model"], map_location="cpu")
    else:
        engine.refuse_pickle(request["model"])
        pickled = {} if torch.__version__.startswith("1.") else {"weights_only": False}
        model = torch.load(request["model"], map_location="cpu", **pickled)
    if not isinstance(model, torch.nn.Module):
        sys.exit(f"{request['model']} holds {type(model).__name__} and no module: name the code that builds it")
    return model.eval()


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        sys.exit(f"the model gives {type(value).__name__}, no tensor")
    return [tensor for item in value for tensor in flat(item)]


def main():
    engine = Engine()
    model = load(engine)

    def original(arrays):
        with torch.no_grad():
            return [tensor.numpy() for tensor in flat(model(*map(torch.from_numpy, arrays)))]

    dummy = engine.dummy()
    inputs = engine.names("input", len(dummy))
    outputs = engine.names("output", len(original(dummy)))
    axes = {name: {0: "batch"} for name in inputs + outputs} if engine.request["any_batch"] else None
    torch.onnx.export(model, tuple(map(torch.from_numpy, dummy)), str(engine.file), input_names=inputs,
                      output_names=outputs, opset_version=engine.request["opset"], dynamic_axes=axes,
                      **({} if torch.__version__.startswith("1.") else {"dynamo": False}))  # fmt: skip
    engine.write_outputs(original, torch.set_num_threads)
    engine.write_latency(original, torch.set_num_threads)


main()
