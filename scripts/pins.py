"""Reads requirements.txt and requirements-dev.txt: packages, versions, digests of files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .environment import ROOT

RUNTIME = ROOT / "requirements.txt"
DEVELOPMENT = ROOT / "requirements-dev.txt"

_PIN = re.compile(
    r"^(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>[^\\\n]+?))?"
    r"(?P<digests>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Pin:
    name: str
    version: str
    marker: str | None
    digests: tuple[str, ...]
    text: str


def read(path: Path) -> list[Pin]:
    return [
        Pin(
            found["name"],
            found["version"],
            found["marker"],
            tuple(re.findall(r"[0-9a-f]{64}", found["digests"])),
            found[0],
        )
        for found in _PIN.finditer(path.read_text())
    ]
