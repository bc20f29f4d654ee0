"""Third-party files that the repository contains, in addition to the installed packages."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .environment import ROOT


class Vendored(NamedTuple):
    name: str
    version: str
    licence: str
    # The version and the digest of the npm package that contains the file.
    integrity: str
    file: Path
    # The text of the license.
    licence_file: Path

    @property
    def purl(self) -> str:
        return f"pkg:npm/{self.name}@{self.version}"


_CONSOLE = ROOT / "app" / "console" / "static"

VENDORED = (
    Vendored(
        "htmx.org",
        "2.0.11",
        "0BSD",
        "sha512-Thx/WtpeOQqSrqBCw/A1cwGJGg4UrVa3+sW0GmrM3p4gJgO89ecH4qtbnyzDDWFvBTqjnIMCgELTNt636dtamA==",
        _CONSOLE / "htmx.min.js",
        _CONSOLE / "htmx.LICENSE",
    ),
)
