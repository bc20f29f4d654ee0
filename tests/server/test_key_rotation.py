"""Rotation of the signing key under gunicorn. tests/rigs/key_rotation.py sends more requests."""

from __future__ import annotations

from pathlib import Path

from ..rigs.key_rotation import rotate


def test_rotation_rejects_no_token(tmp_path: Path) -> None:
    load = rotate(tmp_path, 800)
    assert set(load.counts) == {"read 200", "sign-in 200", "other service: verified"}
    assert "Traceback" not in (tmp_path / "log").read_text()
