"""pyproject.toml describes the packages. This notes where the build is beside which they are installed."""

import pathlib

from setuptools import setup
from setuptools.command.build_py import build_py

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build/release"


class BuildNoted(build_py):
    """An installed package stands elsewhere: `beside.txt` leads it to the build's library."""

    def run(self) -> None:
        super().run()
        note = pathlib.Path(self.build_lib) / "sabath/beside.txt"
        if getattr(self, "editable_mode", False):
            return  # it stays in the tree
        note.unlink(missing_ok=True)
        if BUILD.is_dir():
            note.write_text(f"{BUILD}\n", encoding="utf-8", errors="surrogateescape")


setup(cmdclass={"build_py": BuildNoted})
