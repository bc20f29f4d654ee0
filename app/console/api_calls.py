"""Console forms and pages call the API's views in-process.

A form therefore passes the same decorators, schemas, rate limits and services as the API route, and
can do nothing that the API would reject.
"""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import orjson
from flask import Response, request
from marshmallow import Schema, fields
from werkzeug.datastructures import MultiDict

from ..auth.errors import (
    FreshSignInRequired,
    InvalidCredentials,
    LoggedOut,
    ReauthenticationRequired,
)
from ..auth.mfa.errors import EnrolmentRequired, SecondFactorRequired
from ..core.context import find_context
from ..core.errors import NotFound, Problem, SetupError
from ..core.security_log import RejectionLog
from ..core.types import JsonObject, Values
from ..core.web.operation import View, find_operation, operation
from ..core.web.problems import known_problem
from ..core.web.request_data import RequestDataSource, override_request_data
from .forms import remember_rejection

# Not errors of the form: the user must sign in, re-authenticate or pass another factor first.
SIGN_IN_PROBLEMS = (
    InvalidCredentials,
    LoggedOut,
    FreshSignInRequired,
    ReauthenticationRequired,
    SecondFactorRequired,
    EnrolmentRequired,
)


class ApiCall:
    """Calls one view of the API for one request of the console."""

    def __init__(self, view: View, path: Values) -> None:
        self.view = view
        self.path = path
        # What the view returned, for values that the body does not have.
        self.response: Any = None

    def __call__(
        self, *, json: Values | None = None, query: Values | None = None, **path: object
    ) -> Any:
        """Return the view's response as data.

        The body and query are made of the form's fields; `json` and `query` replace them.
        """
        data = {"json": json, "form": json, "query": query}

        def present(place: str, schema: Schema) -> Any:
            replaced = data.get(place)
            if replaced is not None:
                return replaced
            return body_of(schema, request.form)

        self.response = _call(self.view, present, {**self.path, **path})
        return _data(self.response)


def get_from_api(view: View, *, query: Values | None = None, **path: object) -> Any:
    """Return what a GET route of the API responds with, as data."""
    return _data(_call(view, lambda place, schema: query or {}, path))


class ListPage(NamedTuple):
    """One page of a list."""

    rows: list[JsonObject]
    # The query of the next page; empty on the last page.
    next_query: Mapping[str, str]
    # The query of the previous page, if the list has such links; empty on the first page.
    previous_query: Mapping[str, str] = MappingProxyType({})
    # The number of all rows, if the response has it.
    total: int | None = None


# Links to other pages in the header of a list, and the query parameters that are positions.
_LINK = re.compile(r'<([^>]*)>; rel="(\w+)"')
_POSITIONS = ("after", "before", "offset")


def list_from_api(view: View, *, query: Values | None = None, **path: object) -> ListPage:
    """Return one page of a list of the API, with the queries of the next and previous page."""
    response = _call(view, lambda place, schema: query or {}, path)
    links = _LINK.findall(response.headers.get("Link", ""))
    found = {relation: parse_qs(urlsplit(link).query) for link, relation in links}
    positions = {
        relation: {name: values[name][-1] for name in _POSITIONS if name in values}
        for relation, values in found.items()
    }
    total = response.headers.get("X-Total-Count", type=int)
    rows = orjson.loads(response.get_data())
    return ListPage(rows, positions.get("next", {}), positions.get("prev", {}), total)


def show_form_again(form_page: View | None) -> Callable[[View], View]:
    """Decorate a form that calls no view of the API; `calls_api` includes this decorator.

    `form_page` is the page with the form: it is shown again with the input and the errors. The page
    declares its own access rule, since a form may be rejected before the API view's rule runs.
    """
    described = None if form_page is None else find_operation(form_page)
    if form_page is not None and (described is None or not described.guard):
        raise SetupError(f"{form_page.__name__} has no authorization decorator")

    def decorate(view: View) -> View:
        @wraps(view)
        def call_or_show_page(*args: object, **path: object) -> Any:
            try:
                return view(*args, **path)
            except Exception as error:
                problem = error if isinstance(error, Problem) else known_problem(error)
                if problem is None:
                    raise
                if form_page is None or isinstance(problem, SIGN_IN_PROBLEMS):
                    raise problem from error
                return _form_with_errors(form_page, path, problem)

        return call_or_show_page

    return decorate


def calls_api(view: View, *, form_page: View | None = None) -> Callable[[View], View]:
    """Decorate a form with the API's view that it calls; the form receives an `ApiCall` first.

    `form_page` is the page with the form, see `show_form_again`.
    """

    def decorate(form: View) -> View:
        @wraps(form)
        def call_form(**path: object) -> Any:
            return guarded(ApiCall(view, path), **path)

        guarded = show_form_again(form_page)(form)
        described = operation(call_form)
        described.hidden = True
        described.calls = view
        return call_form

    return decorate


def called_view(form: View) -> View | None:
    """Return the view of the API that a form calls, or None."""
    found = find_operation(form)
    return found.calls if found is not None else None


def report(problem: Problem) -> None:
    """Write a rejected request to the security log and the audit log."""
    find_context().get(RejectionLog).log(problem)


def _data(response: object) -> Any:
    if not isinstance(response, Response) or response.mimetype != "application/json":
        return response
    return orjson.loads(response.get_data())


def _call(view: View, present: RequestDataSource, path: Values) -> Any:
    described = find_operation(view)
    if described is not None and described.needs is not None:
        _check_available(described.needs)
    with override_request_data(present):
        return view(**path)


def _check_available(needs: type[Any]) -> None:
    """Raise the problem of a feature that is switched off, before its view is called."""
    context = find_context()
    if context.unavailable_reason(needs) is None and needs not in context.services:
        raise NotFound
    context.get(needs)


def _form_with_errors(form_page: View, path: Values, problem: Problem) -> Response:
    remember_rejection(problem)
    # The page may have many forms: pass only the path variables that it takes.
    taken = signature(form_page).parameters
    try:
        response: Response = form_page(**{name: path[name] for name in path if name in taken})
    except Problem:
        # The caller may not see this page: respond with the problem only.
        raise problem from None
    report(problem)
    response.status_code = problem.status
    response.headers.update(
        {name: value for name, value in problem.headers.items() if name == "Retry-After"}
    )
    return response


Form = MultiDict[str, str]


def body_of(schema: Schema, form: Form, prefix: str = "") -> JsonObject:
    """Return the fields of a form as the body or query that the schema describes."""
    body: JsonObject = {}
    for name, field in schema.load_fields.items():
        key = field.data_key or name
        found = _value(field, form, f"{prefix}{key}")
        if found is not _ABSENT:
            body[key] = found
    return body


_ABSENT = object()


def _value(field: fields.Field[Any], form: Form, name: str) -> Any:
    if isinstance(field, fields.Nested):
        if not (field.required or any(key.startswith(f"{name}.") for key in form)):
            return _ABSENT
        return body_of(field.schema, form, f"{name}.")
    if name not in form:
        return _ABSENT
    if isinstance(field, fields.List):
        return [_text(value) for value in form.getlist(name) if value]
    value = _text(form.getlist(name)[-1])
    if isinstance(field, fields.Boolean):
        return value == "true" if value in ("true", "false") else value
    if value:
        return value
    if field.allow_none:
        return None
    # The schema reports an empty required field.
    return value if field.required else _ABSENT


def _text(value: str) -> str:
    """Return the text with `\n` as line ends; browsers send `\r\n`."""
    return value.replace("\r\n", "\n")
