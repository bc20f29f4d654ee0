"""Paths of templates and migrations, and permissions of the files that the service writes."""

import os
import stat
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


_OTHERS = 0o077


def private(path: str, flags: int) -> int:
    """An opener for `open`: a file that it creates has mode 0600."""
    return os.open(path, flags, 0o600)


def make_private_folder(folder: Path) -> None:
    """Create the folder and its missing parents with mode 0700. A folder that exists keeps its
    mode: it may be the operator's."""
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    folder.mkdir(0o700, exist_ok=True)


def is_exposed(path: Path) -> bool:
    """Return whether other users may read the path. A private folder protects all in it."""
    return _is_wide(path) and _is_wide(path.parent)


def _is_wide(path: Path) -> bool:
    try:
        return bool(stat.S_IMODE(path.stat().st_mode) & _OTHERS)
    except FileNotFoundError:
        return False
