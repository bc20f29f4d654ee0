"""Columns that an application adds to its accounts: creation, changes and error messages."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_sqlalchemy import SQLAlchemy
from marshmallow import ValidationError, fields, validate, validates
from sqlalchemy import select
from sqlalchemy.orm import Mapped, mapped_column

from app import (
    AccountMixin,
    AccountRead,
    AuthSettings,
    Frontdesk,
    OwnAccountUpdate,
    Problem,
    RegistrationCreate,
    Schemas,
    SetupError,
    blueprints,
)
from app.accounts.service import Accounts
from app.console.first_run.first_root import FirstRoot
from app.core.context import find_context, service
from app.testing.client import Api
from app.testing.kit import Kit

from ..conftest import PASSWORD
from ..rigs.backends import postgres_database
from ..rigs.hosts import HostSettings

STAFF = "/staff"
# A bcrypt hash starts with this.
HASH = "$2b$"
TAKEN = "Another account has this value. Choose another one."


class SignUp(RegistrationCreate):
    username = fields.String(required=True, validate=validate.Length(min=2, max=20))
    shelf = fields.Integer()

    @validates("username")
    def reject_reserved(self, name: str, **_: object) -> None:
        if name == "admin":
            raise ValidationError("Reserved.")


class Update(OwnAccountUpdate):
    shelf = fields.Integer(validate=validate.Range(min=1))


class Settings(HostSettings):
    FIRST_SUPERUSER = "root@example.com"
    FIRST_SUPERUSER_PASSWORD = PASSWORD


class PageSettings(Settings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, COOKIE_SESSIONS="alone", REGISTRATION="open")


class Card(AccountRead):
    username = fields.String(metadata={"title": "Name of the reader"})
    shelf = fields.Integer()
    greeting = fields.Constant("Hello reader")


OWN = Schemas(registration=SignUp, account_update=Update)
SHOWN = Schemas(account=Card, registration=SignUp, account_update=Update)
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


def host_at(
    url: str, kind: str, schemas: Schemas = OWN, settings: type[Settings] = Settings
) -> Flask:
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = url
    db = SQLAlchemy(host)
    members: dict[str, Any] = {
        "username": mapped_column(unique=True),
        "shelf": mapped_column(default=1),
        "__annotations__": {"username": Mapped[str], "shelf": Mapped[int]},
    }
    if kind == "uuid":
        members["id"] = mapped_column(primary_key=True, default=uuid4)
        members["__annotations__"]["id"] = Mapped[UUID]
    model: Any = type("Member", (AccountMixin, db.Model), members)
    Frontdesk().init_app(host, db, settings=settings(), account_model=model, schemas=schemas)
    host.register_blueprint(blueprints.auth)
    host.register_blueprint(blueprints.docs)
    host.register_blueprint(blueprints.administration, url_prefix=STAFF)
    with host.app_context():
        db.create_all()
    return host


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "sqlite":
        yield "sqlite://"
        return
    with postgres_database(f"frontdesk_own_{os.getpid()}") as created:
        yield created


@pytest.fixture(params=["integer", "uuid"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def app(url: str, kind: str) -> Iterator[Flask]:
    host = host_at(url, kind)
    yield host
    with host.app_context():
        host.extensions["sqlalchemy"].engine.dispose()


def stored(app: Flask, email: str) -> Any:
    with app.app_context():
        return service(Accounts).get(email)


def run(app: Flask, *arguments: str) -> tuple[int, str]:
    result = app.test_cli_runner().invoke(args=["accounts", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert HASH not in result.output
    return result.exit_code, result.output


def root(frontdesk: Kit) -> Api:
    return frontdesk.account("boss", role="root", username="boss").api()


def test_admin_api_creates_and_changes_the_declared_columns(app: Flask, frontdesk: Kit) -> None:
    api = root(frontdesk)
    new = {"email": "ada@example.com", "password": PASSWORD}
    assert api.post(STAFF, 422, json=new).faults == ["json:username"]
    assert api.post(STAFF, 422, json={**new, "username": "a"}).faults == ["json:username"]
    assert api.post(STAFF, 422, json={**new, "username": "admin"}).faults == ["json:username"]
    found = api.post(STAFF, 201, json={**new, "username": "ada", "shelf": 4, "is_vip": True}).json
    assert (stored(app, new["email"]).username, stored(app, new["email"]).shelf) == ("ada", 4)
    path = f"{STAFF}/{found['id']}"
    assert api.patch(path, 422, json={"shelf": 0}).faults == ["json:shelf"]
    api.patch(path, json={"shelf": 5, "username": "root", "password_hash": "x"})
    ada = stored(app, new["email"])
    assert (ada.username, ada.shelf, ada.password_hash.startswith(HASH)) == ("ada", 5, True)
    taken = {**new, "email": "b@example.com", "username": "ada"}
    [fault] = api.post(STAFF, 409, json=taken).json["errors"]
    assert (fault["location"], fault["field"], fault["code"]) == ("json", "username", "taken")
    assert "ada" not in str(fault)
    schemas = api.get("/openapi.json").json["components"]["schemas"]
    assert schemas["AccountCreate"]["required"] == ["email", "username"]
    assert "shelf" in schemas["AccountEdit"]["properties"]
    assert "invitation" not in schemas["AccountCreate"]["properties"]


def host_with_console(schemas: Schemas = OWN, url: str = "sqlite://") -> Flask:
    host = host_at(url, "integer", schemas, PageSettings)
    host.debug = True
    host.register_blueprint(blueprints.registration)
    host.register_blueprint(blueprints.console, url_prefix="/desk")
    return host


def browser_of(host: Flask, username: str, role: str = "user") -> FlaskClient:
    """Return a browser that is signed in to a new account."""
    form = {"email": f"{username}@example.com", "password": PASSWORD}
    with host.app_context():
        service(Accounts).create(form["email"], PASSWORD, role=role, username=username)
    client = host.test_client()
    assert client.post("/desk/sign-in", data=form, headers=SAME_ORIGIN).status_code == 303
    return client


def test_console_creates_accounts_with_the_declared_columns() -> None:
    host = host_with_console()
    client, same = browser_of(host, "boss", "root"), SAME_ORIGIN
    page = "/desk/admin/accounts/new"
    assert 'name="username"' in client.get(page).text
    form = {"email": "ada@example.com", "way": "none", "role": "user", "username": "admin"}
    assert "Reserved." in (rejected := client.post(page, data=form, headers=same)).text
    assert rejected.status_code == 422
    form["username"] = "ada"
    assert client.post(page, data=form, headers=same).status_code == 303
    assert stored(host, "ada@example.com").username == "ada"


def test_sign_up_page_asks_for_the_declared_columns() -> None:
    host = host_with_console()
    client, same = host.test_client(), SAME_ORIGIN
    asked = client.get("/desk/register").text
    assert_asks_for_own_columns(asked)
    assert "You only need" not in asked
    form = {"email": "ada@example.com", "password": PASSWORD, "username": "admin", "shelf": "3"}
    rejected = client.post("/desk/register", data=form, headers=same)
    assert (rejected.status_code, "Reserved." in rejected.text) == (422, True)
    client.post("/desk/register", data={**form, "username": "ada"}, headers=same)
    ada = stored(host, "ada@example.com")
    assert (ada.username, ada.shelf) == ("ada", 3)
    again = {**form, "email": "eve@example.com", "username": "ada"}
    taken = host.test_client().post("/desk/register", data=again, headers=same)
    assert (taken.status_code, fault_of(taken.text, "username")) == (409, TAKEN)


def assert_asks_for_own_columns(page: str) -> None:
    inputs = dict(re.findall(r'<input[^>]* name="(username|shelf)"([^>]*)>', page))
    assert "required" in inputs["username"]
    assert 'maxlength="20"' in inputs["username"]
    assert "required" not in inputs["shelf"]
    assert 'type="number"' in inputs["shelf"]


def fault_of(page: str, name: str) -> str:
    """Return the error at the input of this name."""
    found = re.search(rf'name="{name}".*?class="fault"[^>]*>.*?<span>(.*?)</span>', page, re.DOTALL)
    return found[1] if found else ""


def test_sign_up_page_asks_for_a_required_phone_number() -> None:
    phone = fields.String(required=True)
    schema = type("WithPhone", (SignUp,), {"phone": phone})
    host = host_with_console(Schemas(registration=schema))
    assert 'name="phone"' in host.test_client().get("/desk/register").text


def test_page_of_the_first_root_asks_for_the_declared_columns() -> None:
    host = host_with_console()
    client, page = host.test_client(), "/desk/first-root"
    with host.app_context():
        token = FirstRoot(find_context()).token()
    assert_asks_for_own_columns(client.get(f"{page}?token={token}").text)
    form = {"token": token, "email": "boss@example.com", "password": PASSWORD}
    missing = client.post(page, data=form, headers=SAME_ORIGIN)
    assert (missing.status_code, fault_of(missing.text, "username")) == (
        422,
        "This field is required.",
    )
    form |= {"username": "admin", "shelf": "4"}
    assert "Reserved." in client.post(page, data=form, headers=SAME_ORIGIN).text
    form["username"] = "boss"
    assert client.post(page, data=form, headers=SAME_ORIGIN).status_code == 303
    boss = stored(host, "boss@example.com")
    assert (boss.username, boss.shelf, boss.role) == ("boss", 4, "root")


def test_owner_sees_and_changes_own_columns_on_the_account_page() -> None:
    host = host_with_console(SHOWN)
    client, page = browser_of(host, "ada"), "/desk/account"
    shown = client.get(page).text
    assert '<dt>Name of the reader</dt><dd dir="auto">ada</dd>' in shown
    assert 'name="username"' not in shown
    assert "Hello reader" not in shown
    assert re.search(r'name="shelf" type="number" value="1" required', shown)
    rejected = client.post(page, data={"shelf": "0"}, headers=SAME_ORIGIN)
    assert (rejected.status_code, fault_of(rejected.text, "shelf")) == (
        422,
        "The number is out of range.",
    )
    sent = {"shelf": "6", "username": "eve"}
    assert client.post(page, data=sent, headers=SAME_ORIGIN).status_code == 303
    ada = stored(host, "ada@example.com")
    assert (ada.shelf, ada.username) == (6, "ada")


def test_admins_see_and_change_own_columns_on_the_page_of_an_account() -> None:
    host = host_with_console(SHOWN)
    client = browser_of(host, "boss", "root")
    with host.app_context():
        ada_id = service(Accounts).create("ada@example.com", None, username="ada").id
    page = f"/desk/admin/accounts/{ada_id}"
    shown = client.get(page).text
    assert '<dt>Name of the reader</dt><dd dir="auto">ada</dd>' in shown
    assert re.search(r'name="shelf" type="number" value="1" required', shown)
    rejected = client.post(f"{page}/details", data={"shelf": "0"}, headers=SAME_ORIGIN)
    assert (rejected.status_code, fault_of(rejected.text, "shelf")) == (
        422,
        "The number is out of range.",
    )
    changed = client.post(f"{page}/details", data={"shelf": "6"}, headers=SAME_ORIGIN)
    assert (changed.status_code, stored(host, "ada@example.com").shelf) == (303, 6)
    # Admins change their own account on the owner's page.
    own = client.get(f"/desk/admin/accounts/{stored(host, 'boss@example.com').id}").text
    assert "<dt>Shelf</dt>" in own
    assert 'name="shelf"' not in own


def test_account_pages_without_own_columns_have_no_details_of_them() -> None:
    host = host_with_console(Schemas(registration=SignUp))
    client = browser_of(host, "boss", "root")
    page = client.get(f"/desk/admin/accounts/{stored(host, 'boss@example.com').id}").text
    assert ("shelf" in page, "<h2>Details" in page) == (False, False)


class Renaming(OwnAccountUpdate):
    username = fields.String()


def test_taken_value_names_its_field(url: str) -> None:
    host = host_with_console(Schemas(registration=SignUp, account_update=Renaming), url)
    client, form = browser_of(host, "boss", "root"), {"way": "none", "role": "user"}
    page, form = "/desk/admin/accounts", {**form, "email": "ada@example.com", "username": "boss"}
    taken = client.post(f"{page}/new", data=form, headers=SAME_ORIGIN)
    assert (taken.status_code, fault_of(taken.text, "username")) == (409, TAKEN)
    assert "changed at the same time" not in taken.text
    form["username"] = "ada"
    assert client.post(f"{page}/new", data=form, headers=SAME_ORIGIN).status_code == 303
    one, name = f"{page}/{stored(host, 'ada@example.com').id}/details", {"username": "boss"}
    taken = client.post(one, data=name, headers=SAME_ORIGIN)
    assert (taken.status_code, fault_of(taken.text, "username")) == (409, TAKEN)
    # The owner's page, and the email address is still named as such.
    taken = browser_of(host, "eve").post("/desk/account", data=name, headers=SAME_ORIGIN)
    assert (taken.status_code, fault_of(taken.text, "username")) == (409, TAKEN)
    form |= {"username": "other"}
    taken = client.post(f"{page}/new", data=form, headers=SAME_ORIGIN)
    assert (taken.status_code, "email address already exists" in taken.text) == (409, True)
    with host.app_context():
        host.extensions["sqlalchemy"].engine.dispose()


def test_owner_changes_the_declared_columns(app: Flask, frontdesk: Kit) -> None:
    api = frontdesk.account("ada", username="ada").api()
    assert api.patch("/account", 422, json={"shelf": 0}).faults == ["json:shelf"]
    api.patch("/account", json={"shelf": 7, "username": "x", "phone": "+44 20 7946 0000"})
    ada = stored(app, "ada@example.com")
    assert (ada.shelf, ada.username, ada.phone) == (7, "ada", "+442079460000")


def test_commands_take_the_declared_columns(app: Flask) -> None:
    new = ("create", "ada@example.com", "--password", PASSWORD)
    assert "Error: username: Missing data for required field.\n" in run(app, *new)[1]
    assert "Reserved." in run(app, *new, "--set", "username=admin")[1]
    code, output = run(app, *new, "--set", "nickname=x")
    assert (code, "has no field nickname" in output) == (2, True)
    assert run(app, *new, "--set", "username=ada", "--set", "shelf=3")[0] == 0
    assert (stored(app, "ada@example.com").username, stored(app, "ada@example.com").shelf) == (
        "ada",
        3,
    )
    code, output = run(app, "ensure-superuser")
    assert (code, output) == (1, "Error: username: Missing data for required field.\n")
    code, output = run(app, "ensure-superuser", "--set", "username=ada")
    assert (code, output.count("\n"), "username" in output) == (1, 1, True)
    assert run(app, "ensure-superuser", "--set", "username=root")[0] == 0
    assert run(app, "ensure-superuser")[0] == 0
    code, output = run(app, "set", "ada@example.com", "--email", "root@example.com")
    taken = "Error: An account with the email address root@example.com already exists.\n"
    assert (code, output) == (1, taken)
    assert run(app, "set", "ada@example.com", "--set", "shelf=9")[0] == 0
    assert stored(app, "ada@example.com").shelf == 9


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_import_takes_the_declared_columns(
    app: Flask, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"email": "ada@example.com", "username": "ada", "shelf": "3"},
        {"email": "bob@example.com", "username": "", "shelf": ""},
        {"email": "eve@example.com", "username": "eve", "shelf": ""},
        {"email": "zoe@example.com", "username": "admin", "shelf": ""},
    ]
    lines = [json.dumps({name: each for name, each in row.items() if each}) for row in rows]
    if form == "csv":
        lines = [",".join(row) for row in (rows[0], *(list(each.values()) for each in rows))]
    Path("file").write_text("\n".join(lines))
    code, output = run(app, "import", "file")
    assert (code, json.loads(output.splitlines()[0])["imported"]) == (3, 2)
    refusals = Path("file.report.csv").read_text()
    assert "username: Missing data for required field." in refusals
    assert "username: Reserved." in refusals
    assert (stored(app, "ada@example.com").username, stored(app, "ada@example.com").shelf) == (
        "ada",
        3,
    )
    assert (stored(app, "eve@example.com").username, stored(app, "eve@example.com").shelf) == (
        "eve",
        1,
    )


def test_import_mixes_given_ids_with_new_ones(
    app: Flask, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines: list[dict[str, Any]] = []
    for number in range(1, 7):
        lines.append({"email": f"a{number}@example.com", "username": f"a{number}"})
        if number % 2:
            lines[-1]["id"] = str(uuid4()) if kind == "uuid" else number // 2 + 1
    Path("file").write_text("\n".join(map(json.dumps, lines)))
    code, output = run(app, "import", "file")
    assert (code, json.loads(output)["imported"]) == (0, 6)
    for line in lines:
        assert "id" not in line or str(stored(app, line["email"]).id) == str(line["id"])


def test_python_changes_own_columns_only(app: Flask, frontdesk: Kit) -> None:
    frontdesk.account("ada", username="ada")
    with app.app_context():
        accounts: Any = service(Accounts)
        accounts.change(accounts.get("ada@example.com"), username="countess", role="admin")
        ada = accounts.get("ada@example.com")
        for name in ("password_hash", "tokens_valid_from", "id", "nickname"):
            with pytest.raises(TypeError, match=name):
                accounts.change(ada, **{name: None})
    assert (stored(app, "ada@example.com").username, ada.role) == ("countess", "admin")


def test_no_parameter_reaches_a_log(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    db = app.extensions["sqlalchemy"]
    model = app.extensions["frontdesk"].tables.account_model

    @app.get("/fail")
    def fail() -> str:
        db.session.add(model(email="secret@example.com", password_hash=f"{HASH}04$secret"))
        db.session.flush()
        return ""

    with caplog.at_level(logging.INFO):
        assert app.test_client().get("/fail").status_code == 500
    assert "IntegrityError" in caplog.text
    assert "secret" not in caplog.text
    with app.app_context(), pytest.raises(Problem) as caught:
        service(Accounts).create("a@example.com", None)
    assert [fault.field for fault in caught.value.faults] == ["username"]
    with app.app_context():
        assert db.session.scalars(select(model)).all() == []


def test_start_names_required_columns(caplog: pytest.LogCaptureFixture) -> None:
    host_at("sqlite://", "integer")
    assert "username" not in caplog.text
    host = host_at("sqlite://", "integer", Schemas())
    assert "Member requires a value in columns that nothing sets: username." in caplog.text
    assert "such as in a listener of idp-account-create." in caplog.text
    _code, output = run(host, "create", "ada@example.com", "--password", PASSWORD)
    assert output.endswith("Error: username: Missing data for required field.\n")


@pytest.mark.parametrize("name", ["role", "status", "password_hash", "tokens_valid_from", "id"])
def test_field_of_frontdesks_column_stops_the_start(name: str) -> None:
    schema = type("Mine", (RegistrationCreate,), {name: fields.String()})
    with pytest.raises(SetupError, match=f"Mine.*{name}"):
        host_at("sqlite://", "integer", Schemas(registration=schema))
    renamed = type("Mine", (OwnAccountUpdate,), {"mine": fields.String(attribute=name)})
    with pytest.raises(SetupError, match=f"Mine.*{name}"):
        host_at("sqlite://", "integer", Schemas(account_update=renamed))
