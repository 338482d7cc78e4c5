"""Real clients in a Python environment of their own: `scripts/setup clients` makes it, SABATH_CLIENTS names its Python."""

import functools
import json
import os
import pathlib
import subprocess
import unittest

PYTHON = pathlib.Path(os.environ.get("SABATH_CLIENTS") or pathlib.Path(__file__).parents[3] / "build/clients/bin/python")

LIBRARY = os.environ.get("SABATH_LIBRARY", "")


def no_library():
    """Why the package `sabath` cannot be used; None if it can."""
    return None if LIBRARY else "SABATH_LIBRARY does not name libsabath.so.0"


@functools.lru_cache(maxsize=None)
def missing(*modules):
    """Why these modules cannot be had; None if they can."""
    if not PYTHON.exists():
        return "no real clients are here: scripts/setup clients makes build/clients, or SABATH_CLIENTS names a Python"
    code = "import importlib.util as u, sys; print([m for m in sys.argv[1:] if not u.find_spec(m)])"
    absent = subprocess.run([PYTHON, "-c", code, *modules], capture_output=True, text=True, check=True).stdout.strip()
    return None if absent == "[]" else f"the Python of SABATH_CLIENTS has no {absent}"


def needs(*modules):
    """Decorates a test that needs these modules among the clients."""
    return unittest.skipIf(missing(*modules), missing(*modules))


def run(code, *arguments, cwd=None, check=True, timeout=300, **environment):
    """Runs `code` by the clients' Python, offline; its CompletedProcess, output as text."""
    own = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "WANDB_MODE": "offline",
           "WANDB_SILENT": "true", "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1"}  # fmt: skip
    own.pop("PYTHONPATH", None)
    done = subprocess.run([PYTHON, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          cwd=cwd, env={**own, **environment}, check=False)  # fmt: skip
    if check and done.returncode:
        raise AssertionError(f"the client ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done


def told(code, *arguments, **options):
    """What `code` prints as its last line, as JSON."""
    return json.loads(run(code, *arguments, **options).stdout.splitlines()[-1])
