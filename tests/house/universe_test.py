#!/usr/bin/python3
"""The quickstart's universes: the same bytes from the same seed, right as made, and refused when tampered with."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIP: {error}; scripts/setup quickstart installs it")
    sys.exit(77)

MAKE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "make-cosmouniverse"


def make(directory, *arguments):
    command = [MAKE, "--universes", "1", "--out", directory, *arguments]
    return pathlib.Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def check(path):
    return subprocess.run([MAKE, "--check", path], capture_output=True, text=True, check=False)


class Universe(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = pathlib.Path(holder.name)

    def tampered(self, change):
        path = self.directory / "tampered.hdf5"
        shutil.copy(self.universe(), path)
        with h5py.File(path, "r+") as file:
            change(file)
        result = check(path)
        self.assertEqual(result.returncode, 1, result.stdout)
        return result.stderr

    def universe(self):
        return make(self.directory)

    def test_same_seed_same_bytes(self):
        first = make(self.directory / "a")
        again = make(self.directory / "b")
        other = make(self.directory / "c", "--seed", "7")
        self.assertEqual(first.name, again.name)
        self.assertEqual(first.read_bytes(), again.read_bytes())
        self.assertNotEqual(first.read_bytes(), other.read_bytes())

    def test_as_made_is_right(self):
        result = check(self.universe())
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_small_box_is_checked_for_its_structure(self):
        result = check(make(self.directory, "-n", "32"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(": structure is right;", result.stdout)

    def test_counts_follow_each_parameter(self):
        def counts(*parameters):
            return h5py.File(make(self.directory / "one", "--parameters", *parameters))["full"][:]

        base = counts("0.3", "0.8", "0.96", "70")
        for changed in (
            ("0.35", "0.8", "0.96", "70"),
            ("0.3", "0.9", "0.96", "70"),
            ("0.3", "0.8", "1.1", "70"),
            ("0.3", "0.8", "0.96", "80"),
        ):
            self.assertFalse(numpy.array_equal(base, counts(*changed)), changed)
        variance = base.astype(float).var(axis=(0, 1, 2))
        self.assertTrue(all(variance[:-1] > variance[1:]), "structure has not grown with time")

    def test_sigma_8_scales_the_amplitude(self):
        self.assertIn("sigma_8 is", self.tampered(lambda file: file["physPar"].__setitem__(1, file["physPar"][1] * 1.4)))

    def test_omega_m_h_sets_the_shape(self):
        def change(file):
            file["physPar"][0] = file["physPar"][0] * 1.7

        self.assertRegex(self.tampered(change), "fits|in its counts")

    def test_structure(self):
        self.assertIn("dataset_tag is", self.tampered(lambda file: file.attrs.__setitem__("dataset_tag", "4parA")))
        self.assertIn("root attributes", self.tampered(lambda file: file.attrs.pop("seed9")))
        self.assertIn("datasets are", self.tampered(lambda file: file.pop("unitPar")))
        self.assertIn("redshifts are", self.tampered(lambda file: file["redshifts"].__setitem__(0, 1.0)))

    def test_not_hdf5(self):
        path = self.directory / "page.hdf5"
        path.write_text("<html>")
        self.assertEqual(check(path).returncode, 1)


if __name__ == "__main__":
    unittest.main()
