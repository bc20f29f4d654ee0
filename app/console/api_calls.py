"""Console forms and pages call the API's views in-process.

A form therefore passes the same decorators, schemas, rate limits and services as the API route, and
can do nothing that the API would reject. It gets what the view returns as data, not as a response.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

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
from ..core.web.request_data import PageData, called_by_page
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
    """Calls the API's view of a form."""

    def __init__(self, view: View, path: Values) -> None:
        self.view = view
        self.path = path

    def __call__(
        self, *, json: Values | None = None, query: Values | None = None, **arguments: object
    ) -> Any:
        """Return what the view returns, as its schema shows it.

        The body and query are made of the form's fields; `json` and `query` replace them. Other
        arguments are passed to the view, like the variables of the path.
        """
        data = {"json": json, "form": json, "query": query}

        def from_form(location: str, schema: Schema) -> object:
            given = data.get(location)
            return body_of(schema, request.form) if given is None else given

        return _call(self.view, from_form, {**self.path, **arguments})


def get_from_api(
    view: View, *, json: Values | None = None, query: Values | None = None, **path: object
) -> Any:
    """Return what a view of the API shows: a dictionary, a list, or a `Slice` of a list."""
    data = {"json": json or {}, "query": query or {}}
    return _call(view, lambda location, _schema: data[location], path)


def console_form(
    api_view: View | None = None, *, page: View | None = None, shown_at: str = ""
) -> Callable[[View], View]:
    """Decorate a form of the console, as the outermost decorator.

    Args:
        api_view: The view of the API that does the same; the form gets an `ApiCall` of it first.
            A form without it has its own authorization decorator and reads its fields with
            `@takes(form=Schema)`.
        page: The page with the form. It is shown again with the input and the errors of a rejected
            form. The page has an authorization decorator, since a form may be rejected before
            the API view's own runs.
        shown_at: The endpoint whose form on this page shows the errors, for a button that sends
            another form's fields.
    """
    if page is not None:
        _check_guarded(page)

    def decorate(form: View) -> View:
        if api_view is None:
            _check_guarded(form)

        @wraps(form)
        def answer_form(**path: object) -> object:
            try:
                if api_view is None:
                    return _call(form, _form_fields, path)
                return form(ApiCall(api_view, path), **path)
            except Exception as error:
                problem = error if isinstance(error, Problem) else known_problem(error)
                if problem is None:
                    raise
                if page is None or isinstance(problem, SIGN_IN_PROBLEMS):
                    raise problem from error
                return _form_with_errors(page, path, problem, shown_at)

        described = operation(answer_form)
        described.calls = api_view or form
        return answer_form

    return decorate


def _check_guarded(view: View) -> None:
    described = find_operation(view)
    if described is None or not described.guard:
        raise SetupError(f"{view.__name__} has no authorization decorator")


def report(problem: Problem) -> None:
    """Write a rejected request to the security log and the audit log."""
    find_context().get(RejectionLog).log(problem)


def _call(view: View, data: PageData, arguments: Values) -> object:
    described = find_operation(view)
    for needs in described.needs if described is not None else ():
        _check_available(needs)
    with called_by_page(data):
        return view(**arguments)


def _check_available(needs: type[object]) -> None:
    """Raise the problem of a feature that is switched off, before its view is called."""
    context = find_context()
    if context.unavailable_reason(needs) is None and not context.provides(needs):
        raise NotFound
    context.get(needs)


def _form_with_errors(page: View, path: Values, problem: Problem, shown_at: str) -> Response:
    remember_rejection(problem, shown_at)
    # The page may have many forms: pass only the path variables that it takes.
    taken = signature(page).parameters
    try:
        response: Response = page(**{name: path[name] for name in path if name in taken})
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


def _form_fields(location: str, schema: Schema) -> JsonObject | None:
    """Return the fields of a form that no view of the API reads; its query stays the request's."""
    return body_of(schema, request.form) if location == "form" else None


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


def _value(field: fields.Field[Any], form: Form, name: str) -> object:
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
