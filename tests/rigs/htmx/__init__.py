"""htmx, from its npm package."""

from __future__ import annotations

from pathlib import Path

from ..npm import install

_HERE = Path(__file__).resolve().parent


def htmx() -> bytes:
    install(_HERE)
    return (_HERE / "node_modules" / "htmx.org" / "dist" / "htmx.min.js").read_bytes()
