"""What the engines beside this file share: the request read, arrays read and written. docs/convert.md has the request.

An engine exports ONNX and writes what the original gives. It judges nothing: sabath compares.
"""

import json
import os
import pathlib
import statistics
import sys
import time

import numpy

RUNS = (("first", 1), ("again", 1), ("threads", 2))  # of each set of inputs: name, threads
WARM_UP, REPEATS, SECONDS = 3, 30, 1.0


class Engine:
    """A request, and where its results go. `original` is called with a list of arrays and gives a list of arrays."""

    def __init__(self):
        self.request = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
        self.output = pathlib.Path(self.request["output"])
        self.file = self.output / self.request["file"]
        self.sets = {each["name"]: [numpy.load(name, allow_pickle=False) for name in each["inputs"]]
                     for each in self.request["sets"]}  # fmt: skip

    def refuse_pickle(self, what):
        """Loading `what` runs code in it, so it is opened only where its user has trusted it."""
        if not self.request["trusted"]:
            sys.exit(f"{what} runs code when it is loaded, and it is not trusted")

    def dummy(self):
        return next(iter(self.sets.values()))

    def names(self, kind, count):
        """The names that the user wants, else input, output, input_0, ..."""
        names = self.request[f"{kind}_names"]
        if names and len(names) != count:
            sys.exit(f"{len(names)} {kind} names are given, and the model has {count}")
        return names or ([kind] if count == 1 else [f"{kind}_{i}" for i in range(count)])

    def write_graph(self, model, outputs):
        """An onnx.ModelProto whose outputs get these names; what it gives besides is taken away."""
        del model.graph.output[len(outputs) :]
        given = [value.name for value in model.graph.output]
        rename = {name: f"{name}_inside" for node in model.graph.node for name in node.output if name in outputs}
        rename.update(zip(given, outputs))
        for value in model.graph.output:
            value.name = rename[value.name]
        for node in model.graph.node:
            node.output[:] = [rename.get(name, name) for name in node.output]
            node.input[:] = [rename.get(name, name) for name in node.input]
        self.file.write_bytes(model.SerializeToString())

    def write_outputs(self, original, set_threads=lambda count: None):
        """native/SET.RUN.K.npy: output K of each set, in each run."""
        native = self.output / "native"
        native.mkdir(exist_ok=True)
        for name, inputs in self.sets.items():
            for run, threads in RUNS:
                set_threads(threads)
                for k, array in enumerate(original(inputs)):
                    numpy.save(native / f"{name}.{run}.{k}.npy", numpy.ascontiguousarray(array), allow_pickle=False)

    def write_latency(self, original, set_threads=lambda count: None):
        """native/SET.seconds.npy of the sets that the request wants timed; threads as the machine has cores."""
        set_threads(len(os.sched_getaffinity(0)))
        for name in self.request["timed"]:
            seconds, begin = [], time.perf_counter()
            for i in range(WARM_UP + REPEATS):
                start = time.perf_counter()
                original(self.sets[name])
                if i >= WARM_UP:
                    seconds.append(time.perf_counter() - start)
                if time.perf_counter() - begin > SECONDS and len(seconds) > 2:
                    break
            numpy.save(self.output / "native" / f"{name}.seconds.npy", numpy.array(seconds, "float64"))
            print(f"{name}: median {statistics.median(seconds):.6f} s")
