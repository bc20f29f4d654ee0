"""The roles that accounts can have: `AUTH__ROLES`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app import (
    Audience,
    AuthSettings,
    Frontdesk,
    Problem,
    SettingsError,
    SetupError,
    active_account_required,
    blueprints,
    roles_required,
)
from app.accounts.account import Account
from app.accounts.doctor import check_required_roles, check_stored_roles
from app.testing.client import Api
from app.testing.kit import Kit

from ..conftest import PASSWORD
from ..rigs.hosts import HostSettings, host_with

STAFF = "/staff"
WRONG = ("Accountant", "acountant", "Acc ount", "")


def host(roles: list[str] | None = None, **auth: Any) -> Flask:
    settings = HostSettings()
    settings.AUTH = AuthSettings(
        BCRYPT_ROUNDS=4, COOKIE_SESSIONS="on", ROLES=roles or ["accountant"], **auth
    )
    return host_with(
        (blueprints.auth, ""),
        (blueprints.administration, STAFF),
        (blueprints.docs, ""),
        (blueprints.console, "/console"),
        settings=settings,
    )


@pytest.fixture
def app() -> Flask:
    found = host()

    @found.get("/books")
    @active_account_required
    @roles_required("accountant", "root")
    def books() -> str:
        return "books"

    return found


def run(app: Flask, *arguments: str) -> tuple[int, str]:
    result = app.test_cli_runner().invoke(args=["accounts", *arguments])
    return result.exit_code, result.output


def test_own_role_is_accepted_everywhere(
    app: Flask, frontdesk: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ada, boss = frontdesk.account("ada", role="accountant"), frontdesk.account("boss", role="admin")
    ada.api().get("/books")
    boss.api().get("/books", 403)
    ada.api().get(STAFF, 403)
    # An admin manages the accounts like those of users.
    api = boss.api()
    new = {"email": "eve@example.com", "role": "accountant"}
    eve = api.post(STAFF, 201, json=new).json
    assert api.patch(f"{STAFF}/{eve['id']}", json={"role": "user"}).json["role"] == "user"
    assert api.patch(f"{STAFF}/{eve['id']}", json={"role": "accountant"}).json["role"] != "user"
    api.patch(f"{STAFF}/{eve['id']}", 403, json={"role": "admin"})
    assert len(api.get(STAFF, query_string={"role": "accountant"}).json) == 2
    assert run(app, "create", "bob@example.com", "--password", PASSWORD, "--role", "accountant")
    assert run(app, "set", "bob@example.com", "--role", "accountant")[0] == 0
    Path("file").write_text('{"email": "kim@example.com", "role": "accountant"}')
    assert run(app, "import", "file")[0] == 0
    Path("file").write_text('{"email": "lea@example.com", "roles": "staff, user, accountant"}')
    assert run(app, "import", "file", "--format", "flask-security")[0] == 0
    assert len(api.get(STAFF, query_string={"role": "accountant"}).json) == 5
    schemas = Api(app, "").get("/openapi.json").json["components"]["schemas"]
    assert schemas["AccountRole"]["enum"] == ["root", "admin", "user", "accountant"]


@pytest.mark.parametrize("role", WRONG)
def test_other_roles_are_refused_everywhere(
    app: Flask, frontdesk: Kit, role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Problem) as caught:
        frontdesk.account("ada", role=role)
    assert [fault.code for fault in caught.value.faults] == ["not_one_of"]
    ada = frontdesk.account("ada")
    with pytest.raises(Problem):
        ada.change(role=role)
    api = frontdesk.account("boss", role="root").api()
    new = {"email": "eve@example.com", "role": role}
    assert api.post(STAFF, 422, json=new).faults == ["json:role"]
    assert api.patch(f"{STAFF}/{ada.id}", 422, json={"role": role}).faults == ["json:role"]
    new_account = ("create", "eve@example.com", "--password", PASSWORD)
    for command in (new_account, ("set", "ada@example.com")):
        code, output = run(app, *command, "--role", role)
        assert (code, f"{role!r} is not one of root, admin, user, accountant." in output) == (
            2,
            True,
        )
    if role:
        Path("file").write_text(json.dumps({"email": "kim@example.com", "role": role}))
        assert run(app, "import", "file")[0] == 3
    with app.app_context(), pytest.raises(Problem):
        Frontdesk().notify("t", "m", receivers=Audience(role=role))


def test_stored_role_that_is_not_listed_still_works(app: Flask, frontdesk: Kit) -> None:
    ada, boss = frontdesk.account("ada"), frontdesk.account("boss", role="root")
    with app.app_context():
        session = app.extensions["sqlalchemy"].session
        session.execute(update(Account).where(Account.id == ada.id).values(role="editor"))
        session.commit()
        [finding] = check_stored_roles()
        assert "Accounts with the role 'editor', which is not in AUTH__ROLES: 1." in finding.message
    assert ada.api().get("/account").json["role"] == "editor"
    ada.api().get("/books", 403)
    api = boss.api()
    assert api.get(f"{STAFF}/{ada.id}").json["role"] == "editor"
    api.patch(f"{STAFF}/{ada.id}", json={"status": "inactive"})


def test_required_role_must_be_listed(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    @app.get("/typo")
    @roles_required("acountant")
    def typo() -> str:
        return ""

    with app.app_context():
        assert "acountant" in next(iter(check_required_roles())).message
    # Every request, not only the first one.
    for _ in range(2):
        assert app.test_client().get("/books").status_code == 500
    assert caplog.text.count("A decorator of 'typo' names a role") == 2
    app.testing = True
    with pytest.raises(SetupError, match=r"'typo'.*acountant"):
        app.test_client().get("/books", base_url="http://localhost").close()


def test_settings_check_the_roles() -> None:
    assert AuthSettings(ROLES=["clerk", "user"]).ROLES == ["root", "admin", "user", "clerk"]
    for role in ("", " clerk", "c" * 51, "a\nb"):
        with pytest.raises(ValueError, match="name of a role"):
            AuthSettings(ROLES=[role])
    with pytest.raises(SettingsError, match="clerk"):
        host(MFA="optional", MFA_REQUIRED_ROLES=["clerk"])
