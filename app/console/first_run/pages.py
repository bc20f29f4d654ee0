"""The page of the link that the server prints while no root account exists."""

from typing import TypedDict

from flask import Response, request
from marshmallow import Schema

from ...accounts.own_columns import own_names, with_own_fields
from ...accounts.schemas import sign_up_fields
from ...auth.errors import InvalidProof
from ...auth.proof_names import PASSWORD
from ...auth.schemas import NewPassword
from ...auth.sessions.cookie_sessions import CookieSessions
from ...auth.settings import AuthSettings
from ...auth.sign_in.options import sign_in_options
from ...auth.sign_in.policy import Challenge, SignInPolicy
from ...core.context import current_frontdesk, find_context, service
from ...core.web.fields import RequestSchema, Text
from ...core.web.operation import anyone
from ...core.web.request_data import takes
from ...registration.browser import REGISTRATION
from ..api_calls import console_form
from ..form_fields import form_fields
from ..links import link_to, redirect, redirect_to
from ..navigation import home_path
from ..pages import render_page
from ..resources import ConsoleResources
from ..texts import _
from .first_root import FirstRoot, RootExists


class FirstRootForm(RequestSchema):
    class Input(TypedDict):
        token: str
        email: str
        password: str | None

    token = Text(min=1, max=1024, required=True)
    email = Text(min=1, max=320, required=True)
    password = NewPassword()


def first_root_form() -> type[Schema]:
    """Return the schema with the fields that the application's sign-up asks for."""
    schema = current_frontdesk.schemas.get("registration")
    own = frozenset(own_names(schema, FirstRootForm))
    return with_own_fields(FirstRootForm, schema, frozenset({"invitation"}), own)


@anyone
def first_root_page() -> Response:
    token = request.values.get("token", "")
    try:
        FirstRoot(find_context()).check(token)
    except RootExists as problem:
        return render_page("first_run/no_root.html", status=problem.status, is_over=True)
    except InvalidProof as problem:
        return render_page("first_run/no_root.html", status=problem.status, is_over=False)
    length = current_frontdesk.settings.of(AuthSettings).PASSWORD_MIN_LENGTH
    own = form_fields(sign_up_fields())
    return render_page("first_run/first_root.html", token=token, password_length=length, own=own)


@console_form(page=first_root_page)
@anyone
@takes(form=first_root_form)
def make_first_root(form: FirstRootForm.Input) -> Response:
    account = FirstRoot(find_context()).make(**form)
    service(CookieSessions).prepare_sign_in()
    proof = REGISTRATION if form["password"] is None else PASSWORD
    page = ".admin_home_page"
    path = link_to(page) if service(ConsoleResources).features.has(page) else home_path()
    if isinstance(service(SignInPolicy).admit(account, (proof,), sign_in_options()), Challenge):
        # Such as a second factor that must be set up.
        return redirect_to(".sign_in_page", _("Account created. You can sign in now."), next=path)
    return redirect(path, _("You are signed in. This account has the role root."))
