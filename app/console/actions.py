"""Forms that do what a route of the API does: by that route's own view, with its guards, schemas,
limits and services, in this process. So no form can do what the API would refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import orjson
from flask import Response, request
from marshmallow import Schema

from ..auth.errors import (
    FreshSignInRequired,
    InvalidCredentials,
    LoggedOut,
    ReauthenticationRequired,
)
from ..auth.mfa.errors import EnrolmentRequired, SecondFactorRequired
from ..core.context import find_context
from ..core.errors import NotFound, Problem, SetupError
from ..core.web.operation import View, find_operation, operation
from ..core.web.problems import known_problem
from ..core.web.reading import Presenter, presenting
from .form_bodies import body_of
from .forms import note_refusal

# What is no fault of the form's: somebody must sign in, or show more, or once more, who they are.
LEADS_AWAY = (
    InvalidCredentials,
    LoggedOut,
    FreshSignInRequired,
    ReauthenticationRequired,
    SecondFactorRequired,
    EnrolmentRequired,
)


class ApiView(NamedTuple):
    view: View
    # Without this service, the room is switched off.
    needs: type[Any] | None


@cache
def api_view(reference: str) -> ApiView:
    """`auth.account_routes.change_password`: a room's module, and a view in it."""
    name, _, function = reference.rpartition(".")
    module = import_module(f"...{name}", __name__)
    return ApiView(getattr(module, function), module.blueprint.needs)


class Perform:
    """One route of the API, for one request of the console."""

    def __init__(self, reference: str, path: Mapping[str, Any]) -> None:
        self.reference = reference
        self.path = path

    def __call__(
        self,
        *,
        json: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        **path: Any,
    ) -> Any:
        """What the route answers. Its body and query are made of the form's fields; what is given
        here takes their place."""
        given = {"json": json, "form": json, "query": query}

        def present(place: str, schema: Schema) -> Any:
            own = given.get(place)
            if own is not None:
                return own
            return body_of(schema, request.form)

        return _answered(self.reference, present, {**self.path, **path})


def look(reference: str, *, query: Mapping[str, Any] | None = None, **path: Any) -> Any:
    """What a route of the API answers to a GET: for pages that show what it shows."""
    return _answered(reference, lambda place, schema: query or {}, path)


class ListPage(NamedTuple):
    """One page of a list of the API's."""

    rows: list[dict[str, Any]]
    # What to ask for the next one with; empty on the last.
    further: Mapping[str, str]


def look_through(
    reference: str, *, query: Mapping[str, Any] | None = None, **path: Any
) -> ListPage:
    """As `look`, for a list that comes page by page."""
    answer = _answer(reference, lambda place, schema: query or {}, path)
    link, _, _ = answer.headers.get("Link", "").removeprefix("<").partition(">")
    asked = parse_qs(urlsplit(link).query)
    further = {name: asked[name][-1] for name in ("after", "offset") if name in asked}
    return ListPage(orjson.loads(answer.get_data()), further)


def shows_refusals(refused: View | None) -> Callable[[View], View]:
    """For a form that no route of the API stands behind; `performs` does it for the others. The
    page says itself who may see it: a form may be refused before the route's guard is asked."""
    if refused is not None and not operation(refused).guard:
        raise SetupError(f"{refused.__name__} does not say who may see it")

    def decorate(view: View) -> View:
        @wraps(view)
        def go_or_show(*given: Any, **path: Any) -> Any:
            try:
                return view(*given, **path)
            except Exception as error:
                problem = error if isinstance(error, Problem) else known_problem(error)
                if problem is None:
                    raise
                if refused is None or isinstance(problem, LEADS_AWAY):
                    raise problem from error
                return _shown_again(refused, path, problem)

        return go_or_show

    return decorate


def performs(reference: str, *, refused: View | None = None) -> Callable[[View], View]:
    """A form's view, which is given `perform`. `refused` is the page that the form is on: shown
    again, with what was typed and what is wrong with it."""

    def decorate(view: View) -> View:
        @wraps(view)
        def perform_then_go(**path: Any) -> Any:
            return shown(Perform(reference, path), **path)

        shown = shows_refusals(refused)(view)
        own = operation(perform_then_go)
        own.hidden = True
        own.performs = reference
        return perform_then_go

    return decorate


def performed(view: View) -> str:
    """The route that a form's view performs; empty for any other view."""
    found = find_operation(view)
    return found.performs if found is not None else ""


def _answered(reference: str, present: Presenter, path: Mapping[str, Any]) -> Any:
    answer = _answer(reference, present, path)
    if not isinstance(answer, Response) or answer.mimetype != "application/json":
        return answer
    return orjson.loads(answer.get_data())


def _answer(reference: str, present: Presenter, path: Mapping[str, Any]) -> Any:
    view, needs = api_view(reference)
    if needs is not None:
        _check_open(needs)
    with presenting(present):
        return view(**path)


def _check_open(needs: type[Any]) -> None:
    """A room may open when its service is first asked for; one that is switched off says so."""
    context = find_context()
    if context.why_not(needs) is None and not context.offers(needs):
        raise NotFound
    context.get(needs)


def _shown_again(refused: View, path: Mapping[str, Any], problem: Problem) -> Response:
    from .errors import tell

    note_refusal(problem)
    # The form may be one of many on its page, each about another thing.
    taken = signature(refused).parameters
    try:
        response: Response = refused(**{name: path[name] for name in path if name in taken})
    except Problem:
        # It is not a page of whoever has sent this: what is wrong is told by itself.
        raise problem from None
    tell(problem)
    response.status_code = problem.status
    response.headers.update(
        {name: value for name, value in problem.headers.items() if name == "Retry-After"}
    )
    return response
