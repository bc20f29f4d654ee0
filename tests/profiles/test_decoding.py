"""The decoding process: its results, and that its failures do not affect the server."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import pytest

from app.core.errors import Problem
from app.profiles.decoding import decode
from app.profiles.errors import DecoderUnavailable, PictureRefused

from ..rigs.pictures import HOSTILE, opened, plain


def test_process_returns_the_picture() -> None:
    picture = decode(BytesIO(plain("PNG")))
    assert picture.content_type == "image/jpeg"
    assert opened(picture.data).size == (48, 48)


def test_process_returns_the_error_message() -> None:
    with pytest.raises(PictureRefused) as caught:
        decode(BytesIO(b"%PDF-1.7"))
    assert [fault.message for fault in caught.value.faults] == [
        "Not a PNG, JPEG, WebP or GIF picture."
    ]


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_picture_is_decoded_or_rejected(kind: str) -> None:
    try:
        picture = decode(BytesIO(HOSTILE[kind]()))
    except PictureRefused:
        return
    assert max(opened(picture.data).size) <= 512


def test_memory_is_limited_whatever_the_header_says() -> None:
    with pytest.raises(PictureRefused):
        decode(BytesIO(HOSTILE["webp of many codes"]()))


@pytest.mark.parametrize(
    ("script", "problem", "expected"),
    [
        ("#!/bin/sh\nkill -SEGV $$\n", PictureRefused, "ended by signal 11"),
        ("#!/bin/sh\necho no such module >&2; exit 1\n", DecoderUnavailable, "no such module"),
        ("no program at all", DecoderUnavailable, "No process for decoding"),
    ],
    ids=["killed", "failed", "not started"],
)
def test_failed_process_is_logged(
    script: str,
    problem: type[Problem],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    python = tmp_path / "python"
    python.write_text(script)
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(problem):
        decode(BytesIO(plain("PNG")))
    assert expected in caplog.text


def test_process_gets_no_environment_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen; echo jpg\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("SECRET_KEY", "not for decoders")
    decode(BytesIO(plain("PNG")))
    assert "not for decoders" not in (tmp_path / "seen").read_text()


def test_embedded_python_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/uwsgi")
    assert opened(decode(BytesIO(plain("PNG"))).data).size == (48, 48)
