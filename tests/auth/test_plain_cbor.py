"""The strict CBOR reader, which checks authenticator data before a library parses the data."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest

from app.auth.webauthn.plain_cbor import UnsupportedCbor, read_cbor

from ..rigs.hostile_cbor import HOSTILE_CBOR


@pytest.mark.parametrize("hostile", HOSTILE_CBOR, ids=lambda data: data[:4].hex() or "nothing")
def test_hostile_cbor_is_rejected(hostile: bytes) -> None:
    with pytest.raises(UnsupportedCbor):
        read_cbor(hostile)


@pytest.mark.parametrize(
    "value",
    [0, 23, 24, 255, 65536, 2**64 - 1, -1, -(2**64), b"", b"x" * 300, "", "ä" * 99, True, None]
    + [[], [1, [2, [3]]], {}, {"fmt": "none", 1: {-1: b"x"}}, [[[[]]]]],
)
def test_authenticator_cbor_is_read(value: Any) -> None:
    encoded = cbor2.dumps(value)
    assert read_cbor(encoded) == (value, len(encoded))
    for end in range(len(encoded)):
        with pytest.raises(UnsupportedCbor):
            read_cbor(encoded[:end])
