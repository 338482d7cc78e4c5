"""The five benchmarks of the original's catalogue, as far as their recipes need them: repositories and data of their
layout, what they print, and programs that write down how they were called. The training itself is play-acted: it
writes where it runs, and changes and deletes files of the source that it was given.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

from runs import place
from support.content import seeded, tar_bytes

# Behind a program's own text, which says what it would have read.
TRAINING = """
import os, pathlib, time
def train(log):
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))
    source = pathlib.Path(os.environ["SABATH_RUN"], "source")
    pathlib.Path(f"weights-{rank}").write_text("weights")
    if rank == 0:
        (source / "README.md").unlink()
        for file in [file for file in source.rglob("*") if file.is_file() and ".git" not in file.parts]:
            file.write_bytes(file.read_bytes() + b"# changed by the run")
        print(log, flush=True)
"""

COSMOFLOW_LOG = """Epoch 1/2
256/256 - 75s - loss: 0.2311 - mean_absolute_error: 0.3915 - val_loss: 0.1701 - val_mean_absolute_error: 0.3502
Epoch 2/2
256/256 - 71s - loss: 0.1502 - mean_absolute_error: 0.3119 - val_loss: 0.1398 - val_mean_absolute_error: 0.2954
2026-11-21 03:13:12,345 INFO Best result:
2026-11-21 03:13:12,345 INFO   epoch: 1
2026-11-21 03:13:12,345 INFO   val_loss: 0.1398"""

PTYCHONN_LOG = """Epoch: 0 | FT  | Train Loss: 0.72994 | Val Loss: 0.66021
Epoch: 0 | Amp | Train Loss: 0.0810 | Val Loss: 0.0223
Epoch: 0 | Ph  | Train Loss: 0.649 | Val Loss: 0.638
Epoch: 0 | Ending LR: 0.000250
Saving improved model after Val Loss improved from inf to 0.66021
Total training time: 1.25 seconds"""

BARS_LOG = """Epoch 1/2
25/25 [==============================] - 46s 28ms/step - loss: 0.7453 - val_loss: 0.6921
Epoch 2/2
25/25 [==============================] - 44s 28ms/step - loss: 0.4420 - val_loss: 6.0606e-02"""

WEATHER_LOG = """Etime , dtphys, maxw: 0.000000e+00 , 1.000000e-01 , 0.000000e+00
Etime , dtphys, maxw: 1.200000e+02 , 1.000000e-01 , 4.250000e-01"""


def notebook(*lines):
    cells = [{"cell_type": "markdown", "source": ["text"]}, {"cell_type": "code", "source": [line + "\n" for line in lines]}]
    return json.dumps({"nbformat": 4, "cells": cells})


def training(text, log):
    return f"{TRAINING}{text}\ntrain({log!r})\n"


NANOCONFINEMENT_CELLS = [
    "from google.colab import drive", "drive.mount('/content/drive')", "%matplotlib inline", "get_ipython().magic('x')",
    "file_path='/content/drive/'", "file_path_model = '/content/drive/models/'",
    "train_file = file_path + 'data_dump_density_preprocessed_train.pk'",
    "test_file = file_path + 'data_dump_density_preprocessed_test.pk'", "scaler_file = file_path + 'scaler_new.pkl'",
    "import pathlib, types", *TRAINING.splitlines(),
    "print('read', *[len(pathlib.Path(name).read_bytes()) for name in (train_file, test_file, scaler_file)])",
    "optimizers = types.SimpleNamespace(legacy=types.SimpleNamespace(Adam='legacy'))",
    "plt = types.SimpleNamespace(savefig=lambda name: pathlib.Path(name).touch())",
    "model = types.SimpleNamespace(summary=lambda: 'a summary')", "model.summary()",
    "print('optimizer', optimizers.Adam)", f"train({BARS_LOG!r})", "plt.show()", "raise SystemExit('behind the end')",
]  # fmt: skip


COSMOFLOW = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("config", type=pathlib.Path)
for name in ("--data-dir", "--n-train", "--n-valid", "--output-dir"):
    parser.add_argument(name)
parser.add_argument("--distributed", action="store_true")
settings = parser.parse_args()
words = settings.config.read_text().replace('"', "").split()
said = dict(zip(words, words[1:]))
data = pathlib.Path(settings.data_dir or said["data_dir:"])
print("read", len(list(data.rglob("*.tfrecord"))), settings.n_train or said["n_train:"])
"""


PTYCHONN = """
data_path = '/nowhere/data'
label_path = '/nowhere/labels'
print("read", *[len(pathlib.Path(path).read_bytes()) for path in (data_path, label_path)])
"""

AUTOPHASENN_CELLS = [
    "import pathlib",
    "data_folder = './aicdi_data/'",
    "print('read', *sorted(file.stat().st_size for file in pathlib.Path(data_folder).glob('*.npy')))",
]

WEATHER = """
print("read", open(sys.argv[1]).read())
"""

CMAKESCRIPT = r"""#!/bin/sh
test -s ../external/YAKL/YAKL.h && test -d "$1" && printf 'driver:\n\tcp driver.py driver && chmod +x driver\n' > Makefile
"""


@dataclass
class Benchmark:
    arguments: dict  # of `sabath run`, by catalogue: "shipped" and "original"
    data: dict  # the dataset's name, by catalogue
    files: dict  # fragment -> bytes, or path -> bytes of those that a list names
    repository: dict  # path -> text
    metrics: dict  # what the record must say: name -> values
    says: tuple  # what the output must say
    submodule: str = ""
    by_pattern: bool = False  # the metrics are what a pattern of the shipped recipe finds; the original has none


MINI = "cosmoUniverse_2019_05_4parE_tf_v2_mini"
CUBES = {f"{MINI}/{part}/{i:03}.tfrecord": seeded(3000 + i, i) for part in ("train", "validation") for i in range(2)}
INPUTS = ("community_benchmark", "simple_city", "supercell_example", "supercell_kessler_surrogate")


def both(name):
    return {"shipped": name, "original": name}


BENCHMARKS = {
    "cosmoflow": Benchmark(
        {"shipped": ["cosmoflow", "--ranks", "2"], "original": ["CosmoFlow"]},
        both(MINI),
        {"main": tar_bytes(CUBES)},
        {
            "README.md": "CosmoFlow",
            "configs/cosmo.yaml": "data:\n    data_dir: /nowhere\n    n_train: 1\n    n_valid: 1\n",
            "train.py": training(COSMOFLOW, COSMOFLOW_LOG),
        },
        {"val_mean_absolute_error": [0.3502, 0.2954], "epoch_time": [75.0, 71.0]},
        ("read 4 1024",),
    ),
    "ptychonn": Benchmark(
        {"shipped": ["ptychonn", "--ranks", "2"], "original": ["PtychoNN"]},
        both("ptychonn_20191008_39"),
        {"data": seeded(1111, 1), "labels": seeded(2222, 2)},
        {"README.md": "PtychoNN", "train_mpi.py": training(PTYCHONN, PTYCHONN_LOG)},
        {"FT Val Loss": [0.66021], "Ph Train Loss": [0.649]},
        ("read 1111 2222",),
    ),
    "autophasenn": Benchmark(
        {"shipped": ["autophasenn"], "original": ["AutoPhaseNN", "autoPhaseNN_aicdi_sample"]},
        both("autoPhaseNN_aicdi_sample"),
        {f"{i}_c0_1_32.npy": seeded(700 + i, i) for i in range(3)},
        {
            "README.md": "AutoPhaseNN",
            "TF2/prep_upsamp_3Ddata.ipynb": notebook(*AUTOPHASENN_CELLS),
            "TF2/lcrc_run_single.sh": "module load x\nsource activate tf\nSCRIPT=/nowhere.py\npython $SCRIPT --epoch 2\n",
            "TF2/train_network_unsup_3D.py": training("", BARS_LOG),
        },
        {"loss": [0.7453, 0.4420], "val_loss": [0.6921, 0.060606]},
        ("read 700 701 702",),
    ),
    "nanoconfinement": Benchmark(
        {"shipped": ["nanoconfinement"], "original": ["Nanoconfinement", "nanoconfinement_4050"]},
        both("nanoconfinement_4050"),
        {"train": seeded(300), "test": seeded(200), "scaler": seeded(100)},
        {
            "README.md": "Nanoconfinement",
            "python/surrogate_samplesize/Ions_surrogate_training_excluderandom.ipynb": notebook(*NANOCONFINEMENT_CELLS),
        },
        {"val_loss": [0.6921, 0.060606]},
        ("read 300 200 100", "optimizer legacy"),
    ),
    "miniweatherml": Benchmark(
        {
            "shipped": ["miniweatherml", "miniWeatherML_supercell_example", "--ranks", "2"],
            "original": ["miniWeatherML", "supercell_example"],
        },
        {"shipped": "miniWeatherML_supercell_example", "original": "miniWeatherML"},
        {name: b"sim_time: %d\n" % i for i, name in enumerate(INPUTS)},
        {
            "README.md": "miniWeatherML",
            "experiments/supercell_example/inputs/input_euler3d.yaml": "sim_time: 9\n",
            "build/driver.py": "#!/usr/bin/env python3\nimport sys" + training(WEATHER, WEATHER_LOG),
            "build/cmakescript.sh": CMAKESCRIPT,
        },
        {"maxw": [0.0, 0.425]},
        ("read sim_time: 2",),
        submodule="external/YAKL",
        by_pattern=True,
    ),
}


def git(directory, *arguments):
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *identity, *map(str, arguments)], cwd=directory, check=True, env=environment,
                          capture_output=True, text=True)  # fmt: skip
    return done.stdout.strip()


def make_repository(directory, files, submodule=""):
    """With a submodule as the real ones have it: by an address of ssh, which the test leads to `directory`'s side."""
    for path, text in files.items():
        place(directory / path, text.encode())
        if path.endswith(".sh"):
            (directory / path).chmod(0o755)
    git(directory, "init", "-q", "-b", "main", ".")
    if submodule:
        side = directory.parent / "YAKL.git"
        linked = make_repository(side, {"YAKL.h": "// as it is\n"})
        url = "git@github.com:mrnorman/YAKL.git"
        place(directory / ".gitmodules", f'[submodule "{submodule}"]\n\tpath = {submodule}\n\turl = {url}\n'.encode())
        git(directory, "update-index", "--add", "--cacheinfo", f"160000,{linked},{submodule}")
    git(directory, "add", "-A", *[str(name) for name in files], *([".gitmodules"] if submodule else []))
    git(directory, "commit", "-q", "-m", "one")
    return git(directory, "rev-parse", "HEAD")


# Writes the code cells of a notebook as a script, as jupyter nbconvert does: all that the recipes need of it.
NBCONVERT = """
import json, pathlib, sys
source = pathlib.Path(sys.argv[-1])
cells = json.loads(source.read_text())["cells"]
text = "\\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
pathlib.Path(sys.argv[sys.argv.index("--output-dir") + 1], source.stem + ".py").write_text(text)
"""


def make_programs(directory, calls):
    """Programs that write down how a run called them, and become the real ones."""
    place(directory / "nbconvert.py", NBCONVERT.encode())
    nbconvert = f"{sys.executable} {directory}/nbconvert.py"
    real = {name: shutil.which(name) for name in ("mpirun", "make", "git", "sed", "grep", "bash", "env")}
    real.update({"python": sys.executable, "python3": sys.executable, "jupyter": nbconvert, "jupyter-nbconvert": nbconvert})
    for name, program in real.items():
        note = f"printf '%s\\0' {name} \"$@\" > {calls}/$$.{name}"
        place(directory / name, f'#!/bin/sh\n[ -z "$SABATH_RUN" ] || {note}\nexec {program} "$@"\n'.encode())
        (directory / name).chmod(0o755)


def read_calls(calls):
    return [tuple(file.read_text().split("\0")[:-1]) for file in calls.iterdir()]
