"""`from hpcfair import modelAPI`: tasks that a configuration file describes."""

from __future__ import annotations

from typing import Any

import sabath


class modelAPI:  # the paper's name
    """Each task raises sabath.NotYet, which names the verb that it waits for."""

    def conversion(self, path_to_config: Any) -> None:
        raise sabath.NotYet("convert")

    def collaborate(self, path_to_config: Any) -> None:
        raise sabath.NotYet("task")

    def container(self, path_to_config: Any) -> None:
        raise sabath.NotYet("task")
