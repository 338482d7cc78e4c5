#!/usr/bin/python3
"""listings.txt: what the papers print, as doctests; and that each verb which is missing is named."""

import doctest
import pathlib

import hpcfair
import numpy
import sabath
from support.case import main, place
from support.content import fragment
from support.package import PackageCase

LISTINGS = pathlib.Path(__file__).with_name("listings.txt")
MNIST = (
    "The MNIST dataset consists of 70,000 28x28 black-and-white images in 10 classes (one for each digits), with 7,000 images "
    "per class. There are 60,000 training images and 10,000 test images."
)
TRAIN = """
import numpy, sys
images = numpy.load(sys.argv[1])["x"]
for epoch in range(int(sys.argv[2])):
    print(f"epoch={epoch} loss={images.mean() / (1 + epoch)}", flush=True)
"""


SCALE = """
import numpy, pathlib, sys
data = pathlib.Path(sys.argv[1].partition("=")[2])
numpy.savez(data.name, x=numpy.load(data)["x"] / 255)
"""


class Listings(PackageCase):
    def setUp(self):
        super().setUp()
        numpy.savez(self.home / "mnist.npz", x=numpy.random.default_rng(1).integers(0, 255, (100, 28, 28), "u1"))
        place(self.home / "train.py", TRAIN.encode())
        place(self.home / "img0.jpg", b"\xff\xd8")
        place(self.sabath.recipes / "datasets/code/pre_processing_mnist_0.py", SCALE.encode())
        scale = {"id": "pre_processing_mnist_0", "description": "Scales the images to 0..1", "source": "code",
                 "arguments": [{"name": "scale", "type": "int", "default": 255}], "inputs": ["*.npz"],
                 "argv": ["python3", "{source}/pre_processing_mnist_0.py", "--data={input}", "num_threads={num_threads}"]}  # fmt: skip
        self.sabath.add("mnist", [fragment(f"file://{self.home}/mnist.npz")], title="mnist", description=MNIST,
                        supporting=[scale], requirements={"pip": ["numpy"]},
                        metadata={"supporting_files": "pre_processing_mnist_0.py", "isTunable": "true"})  # fmt: skip
        step = {"argv": ["/usr/bin/python3", str(self.home / "train.py"), "{dataset.main}", "{config.epochs}"]}
        self.sabath.add("mnist_model_us1", [fragment(f"file://{self.home}/train.py")], kind="model",
                        title="A small network", default_dataset="mnist", run={"mnist": [step]},
                        config={"epochs": 2})  # fmt: skip
        self.sabath.add("ResNet50_v2", [fragment(f"file://{self.home}/train.py")], kind="model")
        (self.sabath.recipes / "workflows").mkdir()
        self.sabath.add("XPlacer", [fragment(f"file://{self.home}/train.py")], kind="workflow",
                        title="XPlacer: A framework for Guiding Optimal Use of GPU Unified Memory",
                        description="The goal is to decide which memory placement policy is best for a given data",
                        metadata={"supporting_files": "xplacer_wf1.sh, xplacer_wf2.sh, xplacer_wf3.sh", "isTunable": "true",
                                  "stepsToRun": "xplacerRunFile.txt"})  # fmt: skip

    def test_they_run(self):
        options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        failed, tried = doctest.testfile(str(LISTINGS), module_relative=False, optionflags=options,
                                         globs={"here": str(self.home), "sabath": sabath})  # fmt: skip
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 25)

    def test_no_missing_verb_is_there(self):
        """When one of them comes, its alias is to be made."""
        there = set(sabath.Library.opened().verbs())
        for call in (hpcfair.modelAPI().container, hpcfair.hpcfair_model.convert):
            with self.assertRaises(sabath.NotYet) as raised:
                call(*["x"] * (call.__code__.co_argcount - hasattr(call, "__self__")))
            self.assertNotIn(raised.exception.verb, there)
            self.assertEqual(raised.exception.exit_code, 2)


if __name__ == "__main__":
    main()
