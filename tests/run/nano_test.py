#!/usr/bin/python3
"""cosmoflow-nano, the model that comes with the program: it learns, alone and by several ranks."""

import pathlib
import shutil
import subprocess
import sys
import unittest

from runs import Runs, main, place

TREE = pathlib.Path(__file__).resolve().parents[2]
CODE = TREE / "recipes/models/cosmoflow-nano"
NAME = "cosmouniverse_quickstart"

try:
    import h5py  # noqa: F401
    import numpy
except ImportError as error:
    print(f"SKIP: {error}; scripts/setup quickstart installs it")
    sys.exit(77)


def has_mpi():
    if not shutil.which("mpirun"):
        return "there is no mpirun"
    done = subprocess.run([sys.executable, "-c", "import mpi4py"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "this Python has no mpi4py (Debian: python3-mpi4py)"


class Nano(Runs):
    def setUp(self):
        super().setUp()
        origin = self.home / "universes"
        make = [TREE / "scripts/make-cosmouniverse", "-n", "32", "--universes", "8", "--out", origin]
        subprocess.run(make, check=True, capture_output=True)
        recipe = [TREE / "scripts/make-recipe", NAME, "--out", self.sabath.recipes / f"datasets/{NAME}.json"]
        files = sorted(origin.iterdir())
        subprocess.run([*recipe, "--mirror", f"file://{origin}", *files], check=True)
        self.sabath.environment["SABATH_RECIPES"] += f":{TREE / 'recipes'}"

    def train(self, *arguments, **options):
        return self.launch("cosmoflow-nano", "--set", "cube=16", *arguments, **options)

    def expect_to_learn(self):
        losses, errors = self.values("loss"), self.values("val_mae")
        self.assertEqual([m["epoch"] for m in self.metrics() if m["name"] == "loss"], list(range(1, len(losses) + 1)))
        self.assertLess(losses[-1], 0.5 * losses[0], losses)
        self.assertTrue(all(0 < error < 2 for error in errors), errors)

    def test_it_learns(self):
        self.train("--set", "epochs=10")
        self.expect_to_learn()
        self.assertEqual(self.record()["assets"][0]["name"], "cosmoflow-nano")
        model = self.run_directory / "work/model.npz"
        losses = self.values("loss")
        self.run_directory = self.home / "again"
        self.train("--set", "epochs=10")
        self.assertEqual(self.values("loss"), losses)  # the same seed, the same run
        self.run_directory = self.home / "infer"
        self.train("--mode", "infer", "--set", f"model={model}")
        self.assertEqual(self.output().count("unitPar"), 8)
        self.assertLess(self.values("mae")[-1], 0.5)

    @unittest.skipIf(has_mpi(), has_mpi())
    def test_it_learns_by_several_ranks(self):
        self.train("--set", "epochs=16", "--ranks", "3")
        self.expect_to_learn()
        self.assertEqual({m["rank"] for m in self.metrics()}, {0})
        self.assertIn("3 ranks", self.output("stdout.0"))

    @unittest.skipIf(has_mpi(), has_mpi())
    def test_the_gradient_of_several_ranks_is_the_gradient_of_one(self):
        """What ranks average is what one rank finds for all their cubes; and that is the loss's slope."""
        code = f"""
import sys; sys.path.insert(0, {str(CODE)!r})
import numpy
from network import Network
from ranks import join
ranks = join()
random = numpy.random.default_rng(5)
cubes, units = random.standard_normal((6, 16, 16, 16, 4)).astype("f4"), random.standard_normal((6, 4)).astype("f4")
network = Network(4, 4, 0, 1, 7)
def gradient(c, u):
    predicted, tape = network.forward(c)
    return network.backward(2 * (predicted - u) / numpy.float32(u.size), tape)
def loss():
    return float(((network.forward(cubes)[0] - units) ** 2).mean())
share = slice(0, 2) if ranks.rank == 0 else slice(2, 6)
mine = ranks.mean(gradient(cubes[share], units[share]), share.stop - share.start)
for name, whole in gradient(cubes, units).items():
    assert numpy.allclose(mine[name], whole, rtol=1e-4, atol=1e-6), name
network.parameters = {{name: value.astype("f8") for name, value in network.parameters.items()}}
cubes, units, step = cubes.astype("f8"), units.astype("f8"), 1e-6
slopes = gradient(cubes, units)
for name, value in network.parameters.items():
    at = tuple(random.integers(0, n) for n in value.shape)
    middle = value[at]
    value[at] = middle + step; above = loss()
    value[at] = middle - step; below = loss()
    value[at] = middle
    assert abs((above - below) / (2 * step) - slopes[name][at]) < 1e-5, name
"""
        place(self.home / "check.py", code.encode())
        done = subprocess.run(
            ["mpirun", "-n", "2", sys.executable, self.home / "check.py"],
            env=self.sabath.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_no_universe(self):
        for data in (b"no HDF5", None):
            with self.subTest(data):
                origin = self.home / f"bad-{data is None}"
                for name in ("a.hdf5", "b.hdf5"):
                    place(origin / name, data or b"")
                    if data is None:
                        with h5py.File(origin / name, "w") as file:
                            file["full"], file["unitPar"] = numpy.zeros((8, 8, 8, 4), "<i2"), numpy.zeros(4)
                done = subprocess.run(
                    [sys.executable, CODE / "train.py", "--data", origin], capture_output=True, text=True, check=False
                )
                self.assertEqual(done.returncode, 1)
                self.assertIn("a.hdf5", done.stderr + "a.hdf5" * ("b.hdf5" in done.stderr))
                self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    main()
