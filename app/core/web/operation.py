"""What one view says of itself, written down by its decorators as they are applied.

The routes are validated, guarded and documented from this one record: nothing in the OpenAPI
document is stated twice. `functools.wraps` carries the record from wrapper to wrapper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

from flask import Flask, current_app
from marshmallow import Schema

from ..errors import Problem
from ..types import JsonObject

# Methods that change nothing.
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))

View = Callable[..., Any]
Params = ParamSpec("Params")
Result = TypeVar("Result")
# A schema, or a function that finds the one the host has put in its place.
SchemaSource = type[Schema] | Callable[[], type[Schema]]

_ATTRIBUTE = "_frontdesk_operation"
# Views inside Frontdesk's decorators; Flask should have registered none of them.
_WRAPPED: WeakSet[View] = WeakSet()


class ViewDecorator(Protocol):
    """A decorator after which type checkers still know what the view takes and returns."""

    def __call__(self, view: Callable[Params, Result], /) -> Callable[Params, Result]: ...


class DocumentedResponse(NamedTuple):
    schema: SchemaSource | None
    many: bool = False
    paged: bool = False
    # The media types of a response that is not JSON.
    media: Sequence[str] = ()
    description: str = ""


class AuthScheme(NamedTuple):
    """A kind of credential that routes accept besides the bearer token."""

    name: str
    # As the OpenAPI document has it; asked for when that is made.
    scheme: Callable[[], Mapping[str, str]]
    # What it is refused with where a request would change something.
    problems: Sequence[type[Problem]]


@dataclass
class Operation:
    reads: dict[str, SchemaSource] = field(default_factory=dict)
    answers: dict[int, DocumentedResponse] = field(default_factory=dict)
    problems: list[type[Problem]] = field(default_factory=list)
    # Each finds what only some applications answer with.
    found_problems: list[Callable[[], Iterable[type[Problem]]]] = field(default_factory=list)
    # Each finds the headers that are read beside the schemas' and what they mean: a host may have
    # put another one in the place of ours.
    headers: list[Callable[[], Mapping[str, str]]] = field(default_factory=list)
    guard: str | None = None
    bearer: bool = False
    # A request without credentials is anonymous.
    optional: bool = False
    hidden: bool = False
    polled: bool = False
    signs_in: bool = False
    # The service without which the route does not work.
    needs: type[Any] | None = None
    # The view of the API that a form of the console calls.
    calls: View | None = None
    examples: JsonObject = field(default_factory=dict)
    # What the variables of the path mean.
    variables: dict[str, str] = field(default_factory=dict)


def operation(view: View) -> Operation:
    """Return the record that a decorator writes to. Readers call `find_operation`: this function
    also notes that a decorator stands around the inner view."""
    found = view.__dict__.get(_ATTRIBUTE)
    if not isinstance(found, Operation):
        found = view.__dict__[_ATTRIBUTE] = Operation()
    if (inner := view.__dict__.get("__wrapped__")) is not None:
        _WRAPPED.add(inner)
    return found


def find_operation(view: View) -> Operation | None:
    found = getattr(view, _ATTRIBUTE, None)
    return found if isinstance(found, Operation) else None


def note_needs(view: View | None, needs: type[Any] | None) -> None:
    """Record the service that a view needs, for callers of the view itself. A view that is loaded
    lazily has no record yet and stays unloaded."""
    described = None if view is None else view.__dict__.get(_ATTRIBUTE)
    if isinstance(described, Operation) and described.needs is None:
        described.needs = needs


def find_misplaced_decorators(app: Flask) -> list[str]:
    """Endpoints with a decorator of ours above the route's own: Flask has registered the view that
    is inside, which nobody guards."""
    views = app.view_functions
    inside = {view for outer in views.values() for view in _inside(outer)}
    return [
        endpoint
        for endpoint, view in views.items()
        # One that is served both ways is meant to be.
        if view in _WRAPPED and view not in inside
    ]


def _inside(view: View) -> Iterator[View]:
    while (view := getattr(view, "__wrapped__", None)) is not None:  # type: ignore[assignment]
        yield view


def synchronous(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """The view as a decorator can call it: an `async def` one is run to its end by Flask."""
    if not iscoroutinefunction(view):
        return view

    @wraps(view)
    def run(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        result: Result = current_app.ensure_sync(view)(*args, **kwargs)
        return result

    return run


def raises(*problems: type[Problem]) -> ViewDecorator:
    """Documents which problems a view may answer with."""

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        operation(view).problems.extend(problems)
        return view

    return decorate


def raises_found(find: Callable[[], Iterable[type[Problem]]]) -> ViewDecorator:
    """As `raises`, for what only some applications answer with: found when it is asked for."""

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        operation(view).found_problems.append(find)
        return view

    return decorate


def anyone(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Says that a route is open to all: written at the route, so that none is open by omission."""
    operation(view).guard = "anyone"
    return view


def hidden(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Leaves a route out of the OpenAPI document (pages, metrics)."""
    operation(view).hidden = True
    return view


def signs_in(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Where a form with `username` and `password` gets the token that other routes ask for."""
    operation(view).signs_in = True
    return view


def example(**examples: object) -> ViewDecorator:
    """Examples for the document: `json=` (or `form=`) for the body, `answer=` for the response,
    `answer_202=` for one with another status."""

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        operation(view).examples.update(examples)
        return view

    return decorate


def variables(**meanings: str) -> ViewDecorator:
    """What the variables of the path mean, where their names do not say all of it."""

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        operation(view).variables.update(meanings)
        return view

    return decorate


def schema_class(source: SchemaSource) -> type[Schema]:
    return source if isinstance(source, type) else source()
