"""Authorization: the expected status for each caller and route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Api

from ..conftest import MakePerson, Person, only_on
from ..rigs.cases import for_each, new_name
from ..rigs.racing import request, run_concurrently
from .admin_api import ACCOUNTS, AdminApi, log_in

# Each route with its body; `{}` is the account's id.
READ_ROUTES = {
    "list": ("GET", ACCOUNTS, None),
    "get": ("GET", ACCOUNTS + "/{}", None),
    "deliveries": ("GET", ACCOUNTS + "/{}/deliveries", None),
    "memberships": ("GET", ACCOUNTS + "/{}/memberships", None),
    "events": ("GET", ACCOUNTS + "/{}/events", None),
}
ACTION_ROUTES = {
    "unlock": ("POST", ACCOUNTS + "/{}/unlock", None),
    "sign out": ("POST", ACCOUNTS + "/{}/sign-out", None),
    "recovery": ("POST", ACCOUNTS + "/{}/recovery", None),
    "verify": ("POST", ACCOUNTS + "/{}/verify", None),
    "suspend": ("PATCH", ACCOUNTS + "/{}", {"status": "suspended"}),
    "same role": ("PATCH", ACCOUNTS + "/{}", {"role": "user"}),
    "delete": ("DELETE", ACCOUNTS + "/{}", None),
}
CREATE_ROUTES = {"create": ("POST", ACCOUNTS, {"email": "new@example.com"})}
ROUTES = {**READ_ROUTES, **ACTION_ROUTES, **CREATE_ROUTES}

Caller = Callable[[MakePerson], Api]


def with_role(role: str) -> Caller:
    return lambda person: person(new_name("caller"), role=role).api()


def suspended(person: MakePerson) -> Api:
    caller = person(new_name("caller"), role="admin")
    api = caller.api()
    caller.change(status="suspended")
    return api


def anonymous(person: MakePerson) -> Api:
    return person(new_name("caller")).api().as_token(None)


CALLERS: dict[str, tuple[Caller, int | None]] = {
    "anonymous": (anonymous, 401),
    "user": (with_role("user"), 403),
    "suspended admin": (suspended, 401),
    "admin": (with_role("admin"), None),
    "root": (with_role("root"), None),
}


@for_each("route", ROUTES)
@pytest.mark.parametrize("caller", CALLERS)
def test_access_to_a_user_by_role(person: MakePerson, caller: str, route: str) -> None:
    ada = person(new_name("ada"))
    make, status = CALLERS[caller]
    method, path, body = ROUTES[route]
    sent: dict[str, Any] = {} if body is None else {"json": body}
    expected = status or (201 if route == "create" else 200)
    make(person).send(method, path.format(ada.id), expected, **sent)


@for_each("route", ACTION_ROUTES)
@pytest.mark.parametrize("role", ["admin", "root"])
def test_admin_can_only_read_other_admins(person: MakePerson, role: str, route: str) -> None:
    other = person(new_name("other"), role=role)
    api = with_role("admin")(person)
    method, path, body = ACTION_ROUTES[route]
    sent: dict[str, Any] = {} if body is None else {"json": body}
    rejected = api.send(method, path.format(other.id), 403, **sent)
    assert rejected.json["code"] == "not_authorized"
    assert api.get(f"{ACCOUNTS}/{other.id}").json["role"] == role


@pytest.mark.parametrize("role", ["admin", "root"])
def test_only_root_creates_admins(person: MakePerson, admin_api: AdminApi, role: str) -> None:
    ada = person("ada")
    admin = AdminApi(with_role("admin")(person))
    admin.change(ada, 403, role=role)
    admin.create("new@example.com", 403, role=role)
    assert admin_api.change(ada, role=role).json["role"] == role
    assert admin_api.create("new@example.com", role=role).json["role"] == role


def test_root_manages_admins_and_roots(person: MakePerson, admin_api: AdminApi) -> None:
    for role in ("admin", "root"):
        other = person(role + "2", role=role)
        admin_api.change(other, role="user")
        admin_api.change(other, role=role)
        admin_api.api.delete(admin_api.path(other))


@pytest.mark.parametrize("role", ["admin", "root"])
def test_own_account_cannot_be_managed(person: MakePerson, admin_api: AdminApi, role: str) -> None:
    caller = person("caller", role=role)
    own = AdminApi(caller.api())
    for change in ({"role": "user"}, {"status": "inactive"}, {"suspended_until": None}):
        assert own.change(caller, 403, **change).json["code"] == "own_account"
    assert own.api.delete(own.path(caller), 403).json["code"] == "own_account"
    for action in ("unlock", "sign-out", "recovery", "verify"):
        assert own.do(action, caller, 403).json["code"] == "own_account"
    own.change(caller)


def test_last_active_root_is_kept(person: MakePerson, root: Person, admin_api: AdminApi) -> None:
    person("idle", role="root", status="inactive")
    for change in ({"role": "user"}, {"status": "inactive"}):
        assert admin_api.change(root, 409, **change).json["code"] == "last_root"
    assert admin_api.api.delete(admin_api.path(root), 409).json["code"] == "last_root"
    assert admin_api.read(root)["role"] == "root"


DEMOTIONS: dict[str, dict[str, Any]] = {
    "demote": {"method": "PATCH", "json": {"role": "user"}},
    "suspend": {"method": "PATCH", "json": {"status": "suspended"}},
    "delete": {"method": "DELETE"},
}


@pytest.mark.parametrize("how", DEMOTIONS)
def test_concurrent_demotions_keep_one_root(app: Flask, person: MakePerson, how: str) -> None:
    for turn in range(4):
        ada, bob = (person(f"{name}{turn}", role="root") for name in ("ada", "bob"))
        action = DEMOTIONS[how]
        responses = run_concurrently(
            request(ada.api(), path=f"{ACCOUNTS}/{bob.id}", **action),
            request(bob.api(), path=f"{ACCOUNTS}/{ada.id}", **action),
        )
        assert responses[0] == 200, responses
        # The second root is demoted or deleted by then.
        assert responses[1] in (401, 403, 404, 409), responses
        with app.app_context():
            roots = [each for each in (ada, bob) if _is_active_root(each)]
        assert len(roots) == 1
        roots[0].change(role="user")


def _is_active_root(person: Person) -> bool:
    found = service(Accounts).find(person.email)
    return found is not None and (found.role, found.status) == ("root", "active")


def test_former_admin_loses_access(person: MakePerson, admin_api: AdminApi) -> None:
    admin, ada = person("admin", role="admin"), person("ada")
    own = AdminApi(admin.api())
    admin_api.change(admin, role="user")
    own.change(ada, 403, status="suspended")


@only_on("sqlite")
def test_unknown_account_is_not_found(admin_api: AdminApi) -> None:
    for method, path, body in (*ACTION_ROUTES.values(), *list(READ_ROUTES.values())[1:]):
        sent: dict[str, Any] = {} if body is None else {"json": body}
        for account_id in (999, 10**30):
            admin_api.api.send(method, path.format(account_id), 404, **sent)


def test_suspended_root_is_not_active(
    person: MakePerson, root: Person, admin_api: AdminApi
) -> None:
    other = person("other", role="root")
    admin_api.change(other, status="suspended")
    log_in(other, 400)
    assert admin_api.change(root, 409, role="user").json["code"] == "last_root"
