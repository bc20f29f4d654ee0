"""CBOR as authenticators write it, read by us before a library does."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest

from app.auth.passkeys.plain_cbor import NotPlain, read

from ..rigs.hostile_cbor import HOSTILE_CBOR


@pytest.mark.parametrize("hostile", HOSTILE_CBOR, ids=lambda data: data[:4].hex() or "nothing")
def test_what_no_authenticator_writes_is_not_even_read(hostile: bytes) -> None:
    with pytest.raises(NotPlain):
        read(hostile)


@pytest.mark.parametrize(
    "value",
    [0, 23, 24, 255, 65536, 2**64 - 1, -1, -(2**64), b"", b"x" * 300, "", "ä" * 99, True, None]
    + [[], [1, [2, [3]]], {}, {"fmt": "none", 1: {-1: b"x"}}, [[[[]]]]],
)
def test_what_authenticators_write_is_read(value: Any) -> None:
    written = cbor2.dumps(value)
    assert read(written) == (value, len(written))
    for end in range(len(written)):
        with pytest.raises(NotPlain):
            read(written[:end])
