"""Scopes: a credential that has them is accepted only by the routes that name them."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, Request, request
from flask.views import MethodView

from app import (
    Frontdesk,
    SetupError,
    account_optional,
    account_required,
    active_account_required,
    active_caller_required,
    current_account,
    current_member,
    current_workspace,
    scope,
    superuser_required,
    workspace_required,
    workspace_roles_required,
)
from app.accounts.service import Accounts
from app.auth.caller import Caller, Callers, Principal, WorkspaceCaller
from app.auth.errors import AccountRequired, InsufficientScope
from app.auth.scopes import SCOPES
from app.core.context import service
from app.core.request import OriginToken
from app.core.web.operation import ScopedCredential
from app.testing.client import Answer, Api
from app.workspaces.service import Workspaces

from ..conftest import MakeApp, Person
from ..rigs.cases import for_each
from ..rigs.hosts import host_with

TOKEN = OriginToken(7, "deploy")


def read_scoped_badge(request: Request, _optional: bool) -> Principal | None:
    """A reader for a credential that is trusted as it stands: its scopes, whose it is, and the
    workspace that it is limited to."""
    scopes = request.headers.get("X-Scopes")
    if scopes is None:
        return None
    workspace, email = request.headers.get("X-Team", type=int), request.headers.get("X-Badge")
    if email is None and workspace is not None:
        return WorkspaceCaller(workspace, "admin", frozenset(scopes.split()), TOKEN)
    account = service(Accounts).rows.read(email or "")
    assert account is not None
    named = frozenset(scopes.split())
    return Caller(account, "badge", scopes=named, workspace_id=workspace, token=TOKEN)


def show_caller(**_path: Any) -> dict[str, Any]:
    return {"email": current_account.email}


def show_team(**_path: Any) -> dict[str, Any]:
    return {"team": current_workspace.slug, "type": current_member.type if current_member else None}


class Orders(MethodView):
    @account_required
    @scope("profiles:read")
    def get(self) -> dict[str, Any]:
        return show_caller()

    @account_required
    def post(self) -> dict[str, Any]:
        return show_caller()


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    app = make_app()
    app.extensions["frontdesk"].contribute(
        ScopedCredential("badge", (InsufficientScope, AccountRequired))
    )
    app.extensions["frontdesk"].get(Callers).readers.append(read_scoped_badge)
    read, both = scope("profiles:read"), scope("profiles:read", "audit:read")
    outside = scope("profiles:read", workspace=False)
    by_account: Any = workspace_roles_required("admin", "owner")
    views = {
        "/read": account_required(read(show_caller)),
        "/outside": account_required(outside(show_caller)),
        "/both": account_required(both(show_caller)),
        "/stacked": account_required(read(scope("audit:read")(show_caller))),
        "/root": superuser_required(read(show_caller)),
        "/unscoped": account_required(show_caller),
        "/optional": account_optional(show_caller),
        "/orders": Orders.as_view("orders"),
        "/teams/<workspace_slug>": active_caller_required(workspace_required(read(show_team))),
        "/teams/<workspace_slug>/managed": active_caller_required(by_account(read(show_team))),
        "/teams/<workspace_slug>/mine": active_account_required(by_account(read(show_team))),
        "/teams/<workspace_slug>/account": active_caller_required(by_account(read(show_caller))),
    }
    for path, view in views.items():
        app.add_url_rule(f"/api/v1/guarded{path}", f"guarded{path.replace('/', '-')}", view)
    post = Orders.as_view("orders")
    app.add_url_rule("/api/v1/guarded/orders", "orders", post, methods=["POST"])
    return app


def asked(
    api: Api, path: str, status: int = 200, scopes: str = "profiles:read", **badge: Any
) -> Answer:
    email, team = badge.get("email", "ada@example.com"), badge.get("team")
    headers = {"X-Scopes": scopes, "X-Badge": email, "X-Team": team}
    sent = {name: str(value) for name, value in headers.items() if value is not None}
    return api.get(f"/guarded{path}", status, headers=sent)


def make_team(app: Flask, owner: Person, slug: str) -> int:
    with app.app_context():
        account = service(Accounts).get(owner.email)
        return service(Workspaces).create(account, name=slug, slug=slug).workspace.id


def test_route_accepts_credential_that_has_all_its_scopes(api: Api, ada: Person) -> None:
    assert asked(api, "/read").json == {"email": ada.email}
    assert asked(api, "/orders").json == {"email": ada.email}
    for path in ("/both", "/stacked"):
        assert asked(api, path, scopes="audit:read profiles:read other:read").status == 200


@for_each("scopes", ["profiles:read", "audit:read", "", "profiles:write"])
def test_missing_scope_is_named_in_the_challenge(api: Api, ada: Person, scopes: str) -> None:
    refused = asked(api, "/both", 403, scopes=scopes)
    asked(api, "/stacked", 403, scopes=scopes)
    assert refused.json["code"] == "insufficient_scope"
    assert refused.headers["WWW-Authenticate"].startswith('Bearer error="insufficient_scope"')
    named = refused.headers["WWW-Authenticate"].split('scope="')[1].rstrip('"')
    assert set(named.split()) == {"profiles:read", "audit:read"}


@for_each("path", ["/unscoped", "/optional"])
def test_route_without_scopes_accepts_no_credential_with_scopes(
    api: Api, ada: Person, path: str
) -> None:
    assert asked(api, path, 403, scopes=" ".join(SCOPES)).json["code"] == "insufficient_scope"
    headers = {"X-Scopes": " ".join(SCOPES), "X-Badge": ada.email}
    assert api.post("/guarded/orders", 403, headers=headers).json["code"] == "insufficient_scope"
    assert ada.api().get("/guarded/unscoped").json == {"email": ada.email}


def test_scope_gives_no_rights_that_the_account_lacks(api: Api, ada: Person) -> None:
    assert asked(api, "/root", 403).json["code"] == "not_authorized"


def test_other_code_of_an_application_accepts_a_credential_only_in_its_view(
    make_app: MakeApp,
) -> None:
    frontdesk = Frontdesk[Any]()
    host = host_with(frontdesk=frontdesk)

    def find_account() -> dict[str, Any]:
        account: Any = frontdesk.account_of(request)
        return {"email": account.email}

    host.add_url_rule("/api/v1/guarded/by-hand", "by-hand", find_account)
    with host.app_context():
        service(Callers).readers.append(read_scoped_badge)
        frontdesk.accounts.create("ada@example.com", password=None)
    assert asked(Api(host), "/by-hand", 403).json["code"] == "insufficient_scope"


def test_credential_of_a_workspace_is_rejected_outside_of_it(
    app: Flask, api: Api, ada: Person
) -> None:
    home, away = make_team(app, ada, "home"), make_team(app, ada, "away")
    refused = asked(api, "/read", 403, team=home)
    assert refused.json["code"] == "insufficient_scope"
    assert refused.detail == "The token is limited to a workspace"
    assert asked(api, "/outside", team=home).json == {"email": ada.email}
    assert asked(api, "/teams/home/managed", team=home).json["type"] == "owner"
    assert asked(api, "/teams/home/managed", 403, team=away).json["code"] == "not_a_member"
    for email in (ada.email, None):
        refused = asked(api, "/teams/home", 403, email=email, team=away)
        assert refused.json["code"] == "not_a_member"


def test_token_of_a_workspace_acts_as_a_member_without_an_account(
    app: Flask, api: Api, ada: Person
) -> None:
    home = make_team(app, ada, "home")
    make_team(app, ada, "away")
    for slug in ("home", "current", "default"):
        found = asked(api, f"/teams/{slug}/managed", email=None, team=home)
        assert found.json == {"team": "home", "type": "admin"}
    refused = asked(api, "/teams/away/managed", 403, email=None, team=home)
    assert refused.json["code"] == "not_a_member"
    for path in ("/outside", "/teams/home/mine", "/teams/home/account"):
        refused = asked(api, path, 403, email=None, team=home)
        assert refused.json["code"] == "account_required"


def test_unknown_or_useless_scope_stops_the_application() -> None:
    wrong = {
        "profile:read": account_required(scope("profile:read")(show_caller)),
        "authentication decorator": scope("profiles:read")(show_caller),
        "decorator": account_optional(scope("profiles:read")(show_caller)),
    }
    for message, view in wrong.items():
        host = host_with()
        host.testing = True
        host.add_url_rule("/wrong", "wrong", view)
        with pytest.raises(SetupError, match=message):
            host.test_client().get("/wrong")
    with pytest.raises(SetupError, match="names of scopes"):
        scope()(show_caller)


def test_application_declares_its_own_scopes() -> None:
    frontdesk = Frontdesk[Any]()
    host = host_with(frontdesk=frontdesk)
    orders = frontdesk.scope("orders:read", "Read orders")
    host.add_url_rule("/api/v1/guarded/orders", "orders", account_required(orders(show_caller)))
    with host.app_context():
        service(Callers).readers.append(read_scoped_badge)
        frontdesk.accounts.create("ada@example.com", password=None)
    assert asked(Api(host), "/orders", scopes="orders:read").json == {"email": "ada@example.com"}
    assert asked(Api(host), "/orders", 403).json["code"] == "insufficient_scope"
    for name, meaning in (("orders", "Read"), ("audit:read", "Read"), ("orders:all", " ")):
        with pytest.raises(SetupError):
            frontdesk.scope(name, meaning)
