"""Fields for the link and the data of a notification."""

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson
from marshmallow import ValidationError, fields

from ..core.coded_messages import NOT_STORABLE, CodedMessage
from ..core.types import JsonObject
from ..core.web.fields import Described, Text, is_storable
from ..delivery.outbox.models import URL_LENGTH

DATA_BYTES = 4_096
DATA_DEPTH = 8
URL_PATTERN = r"^(/(?![/\\])|[Hh][Tt][Tt][Pp][Ss]?://)[^\s\\\x00-\x1f\x7f]*$"

NOT_A_LINK = CodedMessage(
    "Must be an http(s) URL, or a path that begins with one slash.",
    "invalid_format",
    expected="url",
)
NOT_JSON = CodedMessage("Must be JSON.", "invalid_format", expected="json")
TOO_LARGE = CodedMessage(
    f"Must not have more than {DATA_BYTES} bytes as JSON.", "too_long", max=DATA_BYTES
)
TOO_DEEP = CodedMessage(
    f"Must not be nested more than {DATA_DEPTH} levels deep.", "too_many", max=DATA_DEPTH
)
_BLANK = re.compile(r"\s")


def is_link(url: str) -> bool:
    """Return whether browsers open the URL as it reads: an absolute http(s) URL, or a path."""
    decoded = unquote(url)
    is_odd = any(each == "\\" or unicodedata.category(each) == "Cc" for each in decoded)
    if is_odd or _BLANK.search(url):
        return False
    if url.startswith("/"):
        return not decoded.startswith("//")
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        return False
    return is_web and bool(parts.hostname) and "@" not in parts.netloc


class Link(Text):
    """The URL that a notification opens."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min=1, max=URL_LENGTH, pattern=URL_PATTERN, **options)

    def _deserialize(self, value: object, attr: object, data: object, **options: object) -> str:
        url = super()._deserialize(value, attr, data, **options)
        # A URL that is too long gets a separate error.
        if len(url) <= URL_LENGTH and not is_link(url):
            raise ValidationError(NOT_A_LINK)
        return url


class JsonData(Described, fields.Dict):
    """A small JSON object that both databases can store."""

    def _deserialize(self, value: object, *args: Any, **options: Any) -> JsonObject:
        if not isinstance(value, Mapping):
            raise self.make_error("invalid")
        _check_json(value, 1)
        try:
            text = orjson.dumps(value)
        except TypeError:  # an integer of more than 64 bits
            raise ValidationError(NOT_JSON) from None
        if len(text) > DATA_BYTES:
            raise ValidationError(TOO_LARGE)
        return dict(value)


def _check_json(value: object, depth: int) -> None:
    match value:
        case None | bool() | int():
            return
        case str():
            if not is_storable(value):
                raise ValidationError(NOT_STORABLE)
        case float():
            if not math.isfinite(value):
                raise ValidationError(NOT_JSON)
        case dict() | list():
            if depth > DATA_DEPTH:
                raise ValidationError(TOO_DEEP)
            inner = [*value, *value.values()] if isinstance(value, dict) else value
            if isinstance(value, dict) and not all(isinstance(name, str) for name in value):
                raise ValidationError(NOT_JSON)
            for each in inner:
                _check_json(each, depth + 1)
        case _:
            raise ValidationError(NOT_JSON)
