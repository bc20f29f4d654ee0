"""Malicious CBOR that crashes or slows down parsers."""

from __future__ import annotations

import cbor2

# 9,000 bytes keep a core busy for seven seconds in a library that compiles the pattern.
_SLOW_PATTERN = "(?i)" + "".join(f"[\x00-{chr(0xFFFF - each)}]" for each in range(300))
COMPILED = cbor2.dumps(cbor2.CBORTag(35, _SLOW_PATTERN))
HOSTILE_CBOR = [
    COMPILED,
    cbor2.dumps(cbor2.CBORTag(36, "From: a\r\n\r\n" * 200)),
    cbor2.dumps(cbor2.CBORTag(4, [10**15, 1])),
    cbor2.dumps(cbor2.CBORTag(5, [10**15, 3])),
    cbor2.dumps(cbor2.CBORTag(30, [1, 0])),
    cbor2.dumps(cbor2.CBORTag(2, b"\xff" * 2000)),
    cbor2.dumps(1.5),
    bytes.fromhex("d81c81d81d00"),  # a list that contains itself
    b"\x81" * 3000 + b"\x00",
    b"\xa1\x00" * 1500 + b"\x00",
    b"\xc1" * 3000 + b"\x00",
    b"\x9f" * 3000,
    b"\x9b" + b"\x7f" + b"\xff" * 7,
    b"\xbb" + b"\xff" * 8,
    b"\x5b" + b"\xff" * 8,
    b"\x7b" + b"\x00" * 4 + b"\xff" * 4,
    b"\xa2\x01\x00\x01\x00",  # a duplicate key
    b"\xa1\x80\x00",  # a list as a key
    b"\x61\xff",
    b"\xf8\x14",
    b"\x1c",
    b"",
]
