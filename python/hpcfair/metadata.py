"""The result of get_metadata(): an asset's description as a mapping that prints itself as in the papers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence, Tuple, Union

import sabath

if TYPE_CHECKING:
    _Mapping = Mapping[str, Any]
else:
    _Mapping = Mapping

Names = Union[str, Sequence[str]]


class Metadata(_Mapping):
    """Keys: title, description, files, supporting_files, isTunable, stepsToRun, and all that `sabath info` tells. They are
    attributes, too. The recipe's facts ("metadata") say the middle four; None: it does not."""

    SHOWN: Tuple[str, ...] = ("title", "description", "files", "supporting_files", "isTunable")
    MODULE = "hpcfair"

    def __init__(self, info: Any):
        facts = info.get("metadata") or {}
        self._values = {**info, **facts}
        self._values.update(
            title=info.get("title") or info["name"],
            description=info.get("description") or info.get("abstract"),
            files=facts.get("files"),
            supporting_files=names_in(facts.get("supporting_files")),
            isTunable=facts.get("isTunable"),
            stepsToRun=facts.get("stepsToRun"),
        )

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, key: str) -> Any:
        try:
            return self.__dict__["_values"][key]
        except KeyError:
            raise AttributeError(key) from None

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={self._values[key]!r}" for key in self.SHOWN)
        return f"{self.MODULE}.{type(self).__name__}({shown})"


def names_in(text: Optional[str]) -> Optional[List[str]]:
    return None if text is None else [each.strip() for each in text.split(",") if each.strip()]


def metadata_of(names: Names, kind: str, made: Any) -> List[Any]:
    """One for each name; upper and lower case are alike. Raises sabath.NotFound."""
    return [made(found_info(name, kind)) for name in ([names] if isinstance(names, str) else names)]


def found_info(name: str, kind: str) -> Any:
    kinds = ("dataset",) if kind == "dataset" else ("model", "workflow")
    for each in kinds:
        exact = [asset["name"] for asset in sabath.list(each) if asset["name"].lower() == name.lower()]
        if exact:
            return sabath.info(name if name in exact else exact[0], each)
    return sabath.info(name, kind)  # which says that there is none, and what may be meant


def names_of(kind: str, keyword: Optional[str] = None) -> List[str]:
    found = sabath.list(kind) if keyword is None else sabath.search(keyword, kind)
    return [asset["name"] for asset in found]
