"""The description of a view, which its decorators write: the source of the OpenAPI document.

`functools.wraps` copies the record from wrapper to wrapper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, update_wrapper, wraps
from inspect import iscoroutinefunction
from types import FunctionType
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

from flask import Flask, Request, current_app
from marshmallow import Schema

from ..errors import Problem
from ..types import JsonObject

# Methods that change nothing.
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))

View = Callable[..., Any]
Params = ParamSpec("Params")
Result = TypeVar("Result")
# A schema, or a function that returns the application's schema.
SchemaSource = type[Schema] | Callable[[], type[Schema]]

_ATTRIBUTE = "_frontdesk_operation"
# The types of what a record collects.
_CONTAINERS = (list, dict, set)
# Views inside Frontdesk's decorators; Flask should have registered none of them.
_WRAPPED: WeakSet[View] = WeakSet()


class ViewDecorator(Protocol):
    """The type of a decorator that does not change the view's signature."""

    def __call__(self, view: Callable[Params, Result], /) -> Callable[Params, Result]: ...


class DocumentedResponse(NamedTuple):
    schema: SchemaSource | None
    many: bool = False
    paged: bool = False
    # The media types of a response that is not JSON.
    media: Sequence[str] = ()
    description: str = ""


class AuthScheme(NamedTuple):
    """A kind of credential that routes accept in addition to the bearer token."""

    name: str
    # Returns the security scheme of the OpenAPI document; None leaves the credential out.
    scheme: Callable[[], Mapping[str, str]] | None
    # The errors of requests that change data.
    problems: Sequence[type[Problem]]


class ScopedCredential(NamedTuple):
    """A kind of credential with scopes: the document names the scopes of routes if one is used."""

    name: str
    # The errors of every route that reads credentials.
    problems: Sequence[type[Problem]]


class RequestHeader(NamedTuple):
    """A header of a feature's requests, which scripts of other origins may send."""

    name: str


class PathVariable(NamedTuple):
    """A variable of paths, for the OpenAPI document. `variables` describes that of one route."""

    name: str
    description: str


class RouteCheck(NamedTuple):
    """Called with the first request, when all routes are registered: raises SetupError."""

    check: Callable[[], object]


@dataclass
class Operation:
    reads: dict[str, SchemaSource] = field(default_factory=dict)
    answers: dict[int, DocumentedResponse] = field(default_factory=dict)
    problems: list[type[Problem]] = field(default_factory=list)
    # Functions that return errors that depend on the application.
    found_problems: list[Callable[[], Iterable[type[Problem]]]] = field(default_factory=list)
    # Functions that return request headers outside of the schemas, with their descriptions. They
    # depend on the application.
    headers: list[Callable[[], Mapping[str, str]]] = field(default_factory=list)
    guard: str | None = None
    # What a caller must have, for the document: all of these hold.
    access: list[str] = field(default_factory=list)
    bearer: bool = False
    # The roles of accounts that the view names.
    roles: set[str] = field(default_factory=set)
    # What a credential with scopes must have; without any, the view accepts none.
    scopes: list[str] = field(default_factory=list)
    # Whether a credential of one workspace is rejected outside of workspaces.
    only_in_workspace: bool = False
    # Whether a decorator finds the workspace of the request.
    finds_workspace: bool = False
    # A request without credentials is anonymous.
    optional: bool = False
    hidden: bool = False
    polled: bool = False
    signs_in: bool = False
    # The services that the route requires.
    needs: tuple[type[object], ...] = ()
    # The view of the API that a form of the console calls.
    calls: View | None = None
    examples: JsonObject = field(default_factory=dict)
    # Descriptions of the path's variables.
    variables: dict[str, str] = field(default_factory=dict)


def operation(view: View) -> Operation:
    """Return the record that a decorator writes to, and note that the inner view is decorated.

    To read the record, call `find_operation`.
    """
    found = view.__dict__.get(_ATTRIBUTE)
    if not isinstance(found, Operation):
        found = view.__dict__[_ATTRIBUTE] = Operation()
    if (inner := view.__dict__.get("__wrapped__")) is not None:
        _WRAPPED.add(inner)
    return found


def separate(view: Callable[Params, Result]) -> tuple[Callable[Params, Result], Operation]:
    """Return the view as another function with a separate record: the view may be registered for
    another route too."""
    if isinstance(view, FunctionType):
        # The same code, so that a request passes no more functions.
        inside = view.__code__, view.__globals__, view.__name__, view.__defaults__, view.__closure__
        other: Callable[Params, Result] = update_wrapper(FunctionType(*inside), view)
        other.__kwdefaults__ = view.__kwdefaults__
    else:
        other = wraps(view)(partial(view))
    copied: dict[str, Any] = {
        name: value.copy() if isinstance(value, _CONTAINERS) else value
        for name, value in vars(operation(other)).items()
    }
    own = other.__dict__[_ATTRIBUTE] = Operation(**copied)
    return other, own


def find_operation(view: View | None) -> Operation | None:
    found = getattr(view, _ATTRIBUTE, None)
    return found if isinstance(found, Operation) else None


def operation_of_request(app: Flask, request: Request) -> Operation | None:
    """Return the record of the view that Flask has chosen for the request, or None."""
    view: Any = app.view_functions.get(request.endpoint or "")
    found = find_operation(view)
    if found is None and (of_methods := getattr(view, "view_class", None)) is not None:
        # The decorators can be on the methods of a class-based view.
        found = find_operation(getattr(of_methods, request.method.lower(), None))
    return found


def note_needs(view: View | None, *needs: type[object] | None) -> None:
    """Record the services that a view needs, for code that calls the view itself.

    A lazily loaded view has no record yet and is not loaded.
    """
    described = None if view is None else view.__dict__.get(_ATTRIBUTE)
    if isinstance(described, Operation) and not described.needs:
        described.needs = tuple(each for each in needs if each is not None)


def find_misplaced_decorators(app: Flask) -> list[str]:
    """Return endpoints with a decorator of Frontdesk above the route: Flask has registered the view
    inside, without the decorator."""
    views = app.view_functions
    inside = {view for outer in views.values() for view in _inside(outer)}
    return [
        endpoint
        for endpoint, view in views.items()
        # A view that is registered both with and without the decorator is intended.
        if view in _WRAPPED and view not in inside
    ]


def known_operations(app: Flask) -> Iterator[tuple[str, Operation]]:
    """Yield the endpoints and records of views. A lazily loaded view, which is Frontdesk's, is not
    loaded."""
    for endpoint, view in app.view_functions.items():
        described = view.__dict__.get(_ATTRIBUTE)
        if isinstance(described, Operation):
            yield endpoint, described


def find_unknown_roles(app: Flask, known: Iterable[str]) -> list[str]:
    """Return a sentence for each view that requires a role that no account can have."""
    found = []
    for endpoint, described in known_operations(app):
        if unknown := sorted(described.roles.difference(known)):
            found.append(
                f"A decorator of '{endpoint}' names a role that is not in AUTH__ROLES:"
                f" {', '.join(unknown)}. Correct the name, or add the role to the setting."
            )
    return found


def _inside(view: View) -> Iterator[View]:
    while (view := getattr(view, "__wrapped__", None)) is not None:  # type: ignore[assignment]
        yield view


def synchronous(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Return the view as a synchronous function; Flask runs `async` views."""
    if not iscoroutinefunction(view):
        return view

    @wraps(view)
    def run(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        result: Result = current_app.ensure_sync(view)(*args, **kwargs)
        return result

    return run


def raises(*problems: type[Problem]) -> ViewDecorator:
    """Document the problems that a view can raise in the OpenAPI document.

    Args:
        problems: Classes of problems.

    Example::

        @app.get("/notes/<int:note_id>")
        @active_account_required
        @raises(NoteNotFound)
        @answers(200, NoteRead)
        def show_note(note_id): ...
    """

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        operation(view).problems.extend(problems)
        return view

    return decorate


def raises_found(find: Callable[[], Iterable[type[Problem]]]) -> ViewDecorator:
    """Document problems that depend on the application; `find` returns them."""

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        operation(view).found_problems.append(find)
        return view

    return decorate


def anyone(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Declare a route as public, so that no route is public by omission.

    Example::

        @app.get("/about")
        @anyone
        @answers(200, AboutRead)
        def about(): ...
    """
    operation(view).guard = "anyone"
    return view


def hidden(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Omit a route from the OpenAPI document; pages are not in it anyway."""
    operation(view).hidden = True
    return view


def signs_in(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Declare the route where a form with `username` and `password` returns a bearer token."""
    operation(view).signs_in = True
    return view


def example(**examples: object) -> ViewDecorator:
    """Add examples to the document: `json=` (or `form=`) for the body, `answer=` for the response,
    `answer_202=` for the response with another status."""

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        operation(view).examples.update(examples)
        return view

    return decorate


def variables(**meanings: str) -> ViewDecorator:
    """Describe variables of the path, if their names are not sufficient."""

    def decorate(view: Callable[Params, Result]) -> Callable[Params, Result]:
        operation(view).variables.update(meanings)
        return view

    return decorate


def schema_class(source: SchemaSource) -> type[Schema]:
    return source if isinstance(source, type) else source()
