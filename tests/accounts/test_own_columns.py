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
from flask_sqlalchemy import SQLAlchemy
from marshmallow import ValidationError, fields, validate, validates
from sqlalchemy import select
from sqlalchemy.orm import Mapped, mapped_column

from app import (
    AccountMixin,
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
from app.core.context import service
from app.testing.client import Api
from app.testing.kit import Kit

from ..conftest import PASSWORD
from ..rigs.backends import postgres_database
from ..rigs.hosts import HostSettings

STAFF = "/staff"
# A bcrypt hash starts with this.
HASH = "$2b$"


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


OWN = Schemas(registration=SignUp, account_update=Update)


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
    # Another account has the name.
    assert api.post(STAFF, 409, json={**new, "email": "b@example.com", "username": "ada"})
    schemas = api.get("/openapi.json").json["components"]["schemas"]
    assert schemas["AccountCreate"]["required"] == ["email", "username"]
    assert "shelf" in schemas["AccountEdit"]["properties"]
    assert "invitation" not in schemas["AccountCreate"]["properties"]


def test_console_creates_accounts_with_the_declared_columns() -> None:
    host = host_at("sqlite://", "integer", settings=PageSettings)
    host.debug = True
    host.register_blueprint(blueprints.console, url_prefix="/desk")
    with host.app_context():
        service(Accounts).create("boss@example.com", PASSWORD, role="root", username="boss")
    client = host.test_client()
    same = {"Sec-Fetch-Site": "same-origin"}
    form = {"email": "boss@example.com", "password": PASSWORD}
    assert client.post("/desk/sign-in", data=form, headers=same).status_code == 303
    page = "/desk/admin/accounts/new"
    assert 'name="username"' in client.get(page).text
    form = {"email": "ada@example.com", "way": "none", "role": "user", "username": "admin"}
    assert "Reserved." in (rejected := client.post(page, data=form, headers=same)).text
    assert rejected.status_code == 422
    form["username"] = "ada"
    assert client.post(page, data=form, headers=same).status_code == 303
    assert stored(host, "ada@example.com").username == "ada"


def test_sign_up_page_asks_for_the_declared_columns() -> None:
    host = host_at("sqlite://", "integer", settings=PageSettings)
    host.debug = True
    host.register_blueprint(blueprints.registration)
    host.register_blueprint(blueprints.console, url_prefix="/desk")
    client = host.test_client()
    page = client.get("/desk/register").text
    inputs = dict(re.findall(r'<input[^>]* name="(username|shelf)"([^>]*)>', page))
    assert "required" in inputs["username"]
    assert "required" not in inputs["shelf"]
    form = {"email": "ada@example.com", "password": PASSWORD, "username": "admin", "shelf": "3"}
    same = {"Sec-Fetch-Site": "same-origin"}
    rejected = client.post("/desk/register", data=form, headers=same)
    assert (rejected.status_code, "Reserved." in rejected.text) == (422, True)
    client.post("/desk/register", data={**form, "username": "ada"}, headers=same)
    ada = stored(host, "ada@example.com")
    assert (ada.username, ada.shelf) == ("ada", 3)


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
    assert (code, output) == (1, "Error: An account with this email already exists\n")
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
