from __future__ import annotations

from typing import Any

import orjson

from ..errors import BadRequest

MAX_DEPTH = 64


class MalformedJson(BadRequest):
    code = "malformed_json"
    detail = "The request body is not valid JSON"
    security_event = "input"


def read_json(body: bytes) -> Any:
    if _deeper_than(body, MAX_DEPTH):
        raise MalformedJson(f"The request body is nested over {MAX_DEPTH} levels")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise MalformedJson from None


def _deeper_than(body: bytes, levels: int) -> bool:
    """Counting brackets first spares nearly every body the walk."""
    if body.count(b"[") + body.count(b"{") <= levels:
        return False
    depth = 0
    in_text = escaped = False
    for byte in body:
        if in_text:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_text = False
        elif byte == 0x22:
            in_text = True
        elif byte in b"[{":
            depth += 1
            if depth > levels:
                return True
        elif byte in b"]}":
            depth -= 1
    return False
