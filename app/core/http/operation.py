"""What one view says of itself, written down by its decorators as they are applied.

The routes are validated, guarded and documented from this one record: nothing in the OpenAPI
document is stated twice. `functools.wraps` carries the record from wrapper to wrapper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from marshmallow import Schema

from ..errors import Problem

View = Callable[..., Any]
# A schema, or a function that finds the one the host has put in its place.
SchemaSource = type[Schema] | Callable[[], type[Schema]]

_ATTRIBUTE = "_frontdesk_operation"


class Answer(NamedTuple):
    schema: SchemaSource | None
    many: bool = False
    content_type: str = "application/json"
    description: str = ""


@dataclass
class Operation:
    reads: dict[str, SchemaSource] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    problems: list[type[Problem]] = field(default_factory=list)
    # Each finds the headers that are read beside the schemas' and what they mean: a host may have
    # put another one in the place of ours.
    headers: list[Callable[[], Mapping[str, str]]] = field(default_factory=list)
    guard: str | None = None
    bearer: bool = False
    hidden: bool = False
    signs_in: bool = False
    examples: dict[str, Any] = field(default_factory=dict)


def operation(view: View) -> Operation:
    found = view.__dict__.get(_ATTRIBUTE)
    if not isinstance(found, Operation):
        found = view.__dict__[_ATTRIBUTE] = Operation()
    return found


def find_operation(view: View) -> Operation | None:
    found = getattr(view, _ATTRIBUTE, None)
    return found if isinstance(found, Operation) else None


def raises(*problems: type[Problem]) -> Callable[[View], View]:
    """Documents which problems a view may answer with."""

    def decorate(view: View) -> View:
        operation(view).problems.extend(problems)
        return view

    return decorate


def anyone(view: View) -> View:
    """Says that a route is open to all: written at the route, so that none is open by omission."""
    operation(view).guard = "anyone"
    return view


def hidden(view: View) -> View:
    """Leaves a route out of the OpenAPI document (pages, metrics)."""
    operation(view).hidden = True
    return view


def signs_in(view: View) -> View:
    """Where a form with `username` and `password` gets the token that other routes ask for."""
    operation(view).signs_in = True
    return view


def example(**examples: Any) -> Callable[[View], View]:
    """Examples for the document: `json=` (or `form=`) for the body, `answer=` for the response."""

    def decorate(view: View) -> View:
        operation(view).examples.update(examples)
        return view

    return decorate


def schema_class(source: SchemaSource) -> type[Schema]:
    return source if isinstance(source, type) else source()
