"""Where templates and migrations lie: beside the package in the repository, inside it installed."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
ROOT = PACKAGE.parent


def templates_folder() -> Path:
    return _folder("templates")


def migrations_folder() -> Path:
    return _folder("migrations")


def _folder(name: str) -> Path:
    inside = PACKAGE / name
    return inside if inside.is_dir() else ROOT / name
