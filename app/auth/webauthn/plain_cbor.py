"""A reader of the CBOR that authenticators write: CTAP2's canonical form, without tags.

Input of clients is checked here before a library reads it. cbor2 evaluates CBOR tags: 9 KiB of
regular expressions, which it compiles, occupy a core for seven seconds.
"""

from typing import Any

# The limit of CTAP2.
MAX_DEPTH = 4
_UINT, _NINT, _BYTES, _TEXT, _ARRAY, _MAP, _, _SIMPLE = range(8)
_SIMPLE_VALUES = {20: False, 21: True, 22: None}


class UnsupportedCbor(ValueError):
    """The input is broken, or CBOR that authenticators do not write."""


def read_cbor(data: bytes, at: int = 0, depth: int = 0) -> tuple[Any, int]:
    """Return the item at a position, and the position of the next item."""
    kind, value, at = _head(data, at)
    if kind == _UINT:
        return value, at
    if kind == _NINT:
        return -1 - value, at
    if kind in (_BYTES, _TEXT):
        return _string(data, at, value, kind == _TEXT)
    if kind == _SIMPLE and value in _SIMPLE_VALUES:
        return _SIMPLE_VALUES[value], at
    # Each announced item takes at least one byte.
    if kind not in (_ARRAY, _MAP) or depth == MAX_DEPTH or value > len(data) - at:
        raise UnsupportedCbor
    items = []
    for _ in range(value if kind == _ARRAY else 2 * value):
        item, at = read_cbor(data, at, depth + 1)
        items.append(item)
    if kind == _ARRAY:
        return items, at
    names = items[::2]
    if not all(isinstance(name, (int, str)) for name in names) or len({*names}) < len(names):
        raise UnsupportedCbor
    return dict(zip(names, items[1::2], strict=True)), at


def _head(data: bytes, at: int) -> tuple[int, int, int]:
    if at >= len(data):
        raise UnsupportedCbor
    kind, length = data[at] >> 5, data[at] & 31
    at += 1
    if length < 24:
        return kind, length, at
    # Lengths above 27 are reserved or indefinite, and simple values of this length are floats.
    if length > 27 or kind == _SIMPLE:
        raise UnsupportedCbor
    end = at + (1 << (length - 24))
    if end > len(data):
        raise UnsupportedCbor
    return kind, int.from_bytes(data[at:end], "big"), end


def _string(data: bytes, at: int, length: int, is_text: bool) -> tuple[Any, int]:
    end = at + length
    if end > len(data):
        raise UnsupportedCbor
    if not is_text:
        return data[at:end], end
    try:
        return data[at:end].decode(), end
    except UnicodeDecodeError:
        raise UnsupportedCbor from None
