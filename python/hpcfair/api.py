"""`from hpcfair import modelAPI`: tasks that a configuration file describes."""

from __future__ import annotations

import os
from typing import Any, Dict

import sabath


class modelAPI:  # the paper's name
    """Each task is a file in YAML (docs/convert.md, "Task files"), relative to the working directory."""

    def conversion(self, path_to_config: Any, trust: str = "") -> Dict[str, Any]:
        """Converts the models that the file names; the record. `trust`: "once" opens pickles."""
        return self._do("conversion", path_to_config, trust)

    def collaborate(self, path_to_config: Any) -> Dict[str, Any]:
        """Runs the chain of models that the file names over its input; the record."""
        return self._do("inference", path_to_config)

    def container(self, path_to_config: Any) -> None:
        """Raises sabath.NotYet: images are built by Docker or podman, and run by `sabath run`."""
        raise sabath.NotYet("container")

    @staticmethod
    def _do(task: str, path_to_config: Any, trust: str = "") -> Dict[str, Any]:
        request = {"file": os.fspath(path_to_config), **({"trust": trust} if trust else {})}
        planned = sabath.call("task", dry_run=True, **request)["task"]
        if planned != task:
            raise sabath.UsageError(f"{path_to_config} is a task of {planned}", f"this call wants one of {task}")
        return sabath.call("task", **request)
