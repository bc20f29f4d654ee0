"""Paths with variables, in Flask's format and in the document's."""

import re
from collections.abc import Iterator

from werkzeug.routing import Rule

_VARIABLE = re.compile(r"<(?:(?P<converter>[^:<>]+):)?(?P<name>[^<>]+)>")
# Converters that accept every path segment.
_ANY_TEXT = (None, "default", "string", "path")


def path_of(rule: Rule) -> str:
    return _VARIABLE.sub(r"{\g<name>}", rule.rule)


def variables_of(rule: Rule) -> Iterator[tuple[str, str | None]]:
    for match in _VARIABLE.finditer(rule.rule):
        yield match["name"], match["converter"]


def has_converter(rule: Rule) -> bool:
    """Return whether some values of a variable match no route."""
    return any(converter not in _ANY_TEXT for _, converter in variables_of(rule))
