"""Patterns of paths as huggingface_hub has them, as the globs that the library knows (docs/recipes.md)."""

from __future__ import annotations

import itertools
import re
from typing import List, Optional, Sequence

from . import errors

STARS_MAX = 4  # a pattern becomes two globs for each


def globs(allow: Optional[Sequence[str]], ignore: Sequence[str] = ()) -> List[str]:
    """What is selected; `allow`: None: all. In a pattern `*` also matches `/`, and `DIR/` means all below it. Raises
    UsageError."""
    if allow is not None and not allow:
        raise errors.UsageError("allow_patterns allows nothing", "leave it out for all files")
    return [glob for each in allow or () for glob in _globs(each)] + [f"!{glob}" for each in ignore for glob in _globs(each)]


def _globs(pattern: str) -> List[str]:
    parts = re.split(r"(\*+)", pattern + ("**" if pattern.endswith("/") else ""))
    if sum(part == "*" for part in parts) > STARS_MAX:
        raise errors.UsageError(f"{pattern} has more than {STARS_MAX} *", "give several patterns, or a directory's: DIR/")
    choices = [("*", "*/**/*") if part == "*" else (part,) for part in parts]
    found = ["".join(each) for each in itertools.product(*choices)]
    return [f"\\{glob}" if glob.startswith("!") else glob for glob in found]
