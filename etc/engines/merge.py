"""The engine for chains of ONNX models: see engine.py. Usage: merge.py REQUEST.json

Besides what engine.py has, the request has `models` (the files, in their order) and `joints` (for each model but the first
the pairs of an output of the one before it and its own input). What the chain gives is sabath's to find out.
"""

import sys

import onnx
from engine import Engine
from onnx import compose, version_converter


def opset(model):
    return next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))


def free_inputs(model):
    """Names of the inputs that are no weights."""
    weights = {each.name for each in model.graph.initializer}
    return [value.name for value in model.graph.input if value.name not in weights]


def rename(graph, new):
    """Other names in a graph, and in the graphs of its branches and loops."""
    for value in [*graph.input, *graph.output]:
        value.name = new.get(value.name, value.name)
    for node in graph.node:
        node.input[:] = [new.get(name, name) for name in node.input]
        node.output[:] = [new.get(name, name) for name in node.output]
        for attribute in node.attribute:
            for inner in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                rename(inner, new)


def main():
    engine = Engine()
    models = [onnx.load(name) for name in engine.request["models"]]
    highest = engine.request["opset"] or max(opset(model) for model in models)
    models = [model if opset(model) == highest else version_converter.convert_version(model, highest) for model in models]
    for model in models:
        model.ir_version = max(each.ir_version for each in models)
    # Names of two models may be the same, so each gets its own beginning; the chain's ends keep theirs.
    ends = free_inputs(models[0]), [value.name for value in models[-1].graph.output]
    models = [compose.add_prefix(model, prefix=f"m{i}/") for i, model in enumerate(models)]
    merged = models[0]
    for i, (model, joint) in enumerate(zip(models[1:], engine.request["joints"]), start=1):
        pairs = [(f"m{i - 1}/{given}", f"m{i}/{taken}") for given, taken in joint]
        merged = compose.merge_models(merged, model, io_map=pairs, outputs=[value.name for value in model.graph.output])
    wanted = engine.request["input_names"] or ends[0], engine.request["output_names"] or ends[1]
    there = free_inputs(merged), [value.name for value in merged.graph.output]
    if [len(names) for names in wanted] != [len(names) for names in there] or set(wanted[0]) & set(wanted[1]):
        sys.exit(f"the chain has {len(there[0])} inputs and {len(there[1])} outputs: each needs a name of its own")
    rename(merged.graph, dict(zip(there[0] + there[1], wanted[0] + wanted[1])))
    engine.file.write_bytes(merged.SerializeToString())


main()
