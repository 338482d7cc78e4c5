#!/usr/bin/python3
"""`sabath run -n`: says exactly what would run, and touches nothing. The original's recipes among them."""

import os
import pathlib
import subprocess
import unittest

from runs import Runs, main
from support.content import snapshot

SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "recipes"
ORIGINAL = os.environ.get("SABATH_TEST_DATA", "") and pathlib.Path(os.environ["SABATH_TEST_DATA"], "original-sabath")


class Dry(Runs):
    def dry(self, *arguments, **options):
        before = snapshot(self.home)
        done = self.expect(self.sabath.run("run", "-n", "--json", *arguments, **options))
        self.assertEqual(snapshot(self.home), before)
        return done.record

    def test_what_it_shows_is_what_runs(self):
        self.model(["echo", "{dataset}", "{config.word}", "{ranks}"], ["cat", "{source}/train.py"],
                   config={"word": "two words"}, env_vars={"FLAG": "it's"})  # fmt: skip
        self.expect(self.sabath.run("fetch", "data"))
        (shown,) = self.dry("model", "--run-dir", self.run_directory, "--", "--more")["runs"]
        self.launch("model", "--", "--more", code=11)  # cat knows no --more
        steps = [step["argv"] for step in self.record()["steps"]]
        self.assertEqual([step["argv"] for step in shown["steps"]], steps)
        self.assertEqual(steps[1][-1], "--more")
        self.assertEqual(shown["variables"]["FLAG"], "it's")
        self.assertEqual(self.record()["environment"]["variables"]["FLAG"], "it's")

    def test_its_text_is_a_script_that_does_the_same(self):
        show = ["sh", "-c", "env | grep -E '^(SABATH_(RUN|METRICS)|PYTHON|HDF5|FLAG)' | sort | sed \"s!$SABATH_RUN!RUN!\""]
        self.model(["echo", "{dataset}", "{config.word}", "$HOME"], ["cat", "{source}/train.py"], show,
                   config={"word": "two 'words'"}, env_vars={"FLAG": "1"})  # fmt: skip
        self.expect(self.sabath.run("fetch", "data"))
        script = self.expect(self.sabath.run("run", "-n", "model", "--run-dir", self.home / "by hand")).out
        by_hand = subprocess.run(["sh", "-e", "-c", script], env=self.sabath.environment, capture_output=True, text=True,
                                 check=True).stdout  # fmt: skip
        self.launch("model")
        self.assertEqual(by_hand, self.output())
        self.assertEqual(by_hand.count("SABATH_RUN=RUN\n"), 1)
        self.assertIn("PYTHONUNBUFFERED=1\n", by_hand)

    def test_what_is_not_here_is_said(self):
        self.model(["echo", "{dataset.main}"])
        record = self.dry("model")
        self.assertEqual(record["to_fetch"], ["data"])
        self.assertEqual(record["runs"][0]["steps"][0]["argv"], ["echo", "NOT-FETCHED:data/f.bin"])
        self.assertFalse(self.sabath.store.exists())

    def test_shipped_models(self):
        self.sabath.environment["SABATH_RECIPES"] = str(SHIPPED)
        for name in ("cosmoflow", "deepcam", "ptychonn", "autophasenn", "nanoconfinement", "miniweatherml", "cloudmask"):
            with self.subTest(name):
                spread = ("--ranks", "4", "--launcher", "srun", "--nodes", "2")
                if name in ("autophasenn", "nanoconfinement", "cloudmask"):  # no step of theirs is parallel
                    self.assertIn("no step of its recipe is parallel", self.expect(self.sabath.run("run", "-n", name, *spread), 2).err)
                    spread = ()
                record = self.dry(name, *spread)
                for step in record["runs"][0]["steps"]:
                    self.assertNotIn("{", "".join(step["argv"]).replace("{print", ""), step)
                    self.assertEqual(step["argv"][0] == "srun", step["ranks"] == 4)

    @unittest.skipUnless(ORIGINAL, "SABATH_TEST_DATA does not name a directory with original-sabath")
    def test_the_originals_models(self):
        root = self.home / "root"
        (root / "var/sabath/assets").mkdir(parents=True)
        (root / "var/sabath/assets/sabath").symlink_to(ORIGINAL / "sabath")
        self.sabath.environment["SABATH_RECIPES"] = str(self.home / "none")
        mini = "cosmoUniverse_2019_05_4parE_tf_v2_mini"
        expected = {  # arguments: the first and the last command, and what one of them says
            ("CosmoFlow",): (4, f'data_dir: "NOT-FETCHED:{mini}/{mini}"', "python SOURCE/train.py SOURCE/configs/cosmo.yaml"),
            ("PtychoNN",): (3, 'label_path = "NOT-FETCHED:ptychonn_20191008_39/20191008_39_amp', "mpirun -np 1 python3 -u"),
            ("AutoPhaseNN", "autoPhaseNN_aicdi_sample"):
                (7, 'data_folder = "NOT-FETCHED:autoPhaseNN_aicdi_sample/"', "bash lcrc_run_single.sh"),
            ("Nanoconfinement", "nanoconfinement_4050"):
                (14, "!NOT-FETCHED:nanoconfinement_4050/scaler_new.pkl!", "python Ions_surrogate_training_excluderandom.py"),
            ("miniWeatherML", "supercell_example"):
                (4, "./cmakescript.sh SOURCE/experiments/supercell_example", "mpirun -np 4 SOURCE/build/driver NOT-FETCHED:"),
        }  # fmt: skip
        for names, (count, word, last) in expected.items():
            with self.subTest(names):
                (run,) = self.dry("--root", root, *names, "--run-dir", self.run_directory)["runs"]
                commands = [step["argv"] for step in run["steps"]]
                self.assertEqual([command[:2] for command in commands], [["/bin/sh", "-c"]] * count)
                texts = [command[2].replace(f"{self.run_directory}/source", "SOURCE") for command in commands]
                self.assertTrue(any(word in text for text in texts), texts)
                self.assertTrue(texts[-1].startswith(last), texts[-1])


if __name__ == "__main__":
    main()
