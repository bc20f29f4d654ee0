"""Workspaces and profiles in an application with its own paths and blueprint names."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from app import Frontdesk, HeaderResolver, Parts, Schemas, current_member, member_required
from app.accounts.account import Account, ServiceBase
from app.accounts.service import Accounts
from app.auth.settings import AuthSettings
from app.blueprints import auth as auth_routes
from app.blueprints import profiles as profile_routes
from app.blueprints import workspaces as workspace_routes
from app.core.context import service
from app.extension.options import OURS
from app.storage import MemoryFileStore
from app.testing.client import Api
from app.workspaces.settings import WorkspacesSettings

from ..conftest import PASSWORD, Backend
from ..rigs.hosts import HostSettings
from ..rigs.pictures import plain
from .test_profiles import ADA


class QuickSettings(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4)
    WORKSPACES = WorkspacesSettings(ADDING="direct")


@pytest.fixture
def files() -> MemoryFileStore:
    return MemoryFileStore()


def make_host(
    backend: Backend, files: MemoryFileStore, frontdesk: Frontdesk, schemas: Schemas = OURS
) -> Flask:
    """Return an application without workspaces in its login response."""
    host = Flask("host")
    host.config["SQLALCHEMY_DATABASE_URI"] = backend.database_url
    db = SQLAlchemy(host, model_class=ServiceBase)
    frontdesk.init_app(
        host,
        db,
        settings=QuickSettings(),
        account_model=Account,
        schemas=schemas,
        parts=Parts(file_store=files),
    )
    host.register_blueprint(auth_routes, url_prefix="/in")
    host.register_blueprint(workspace_routes, url_prefix="/in/teams", name="teams")
    host.register_blueprint(profile_routes, url_prefix="/in/<workspace_slug>/card", name="cards")

    @host.get("/in/own")
    @member_required
    def own() -> dict[str, str]:
        return {"type": current_member.type}

    return host


@pytest.fixture
def frontdesk() -> Frontdesk:
    return Frontdesk()


@pytest.fixture
def host(backend: Backend, files: MemoryFileStore, frontdesk: Frontdesk) -> Flask:
    return make_host(backend, files, frontdesk)


@pytest.fixture
def api(host: Flask) -> Api:
    with host.app_context():
        service(Accounts).create("ada@example.com", PASSWORD)
    form = {"username": "ada@example.com", "password": PASSWORD}
    token = Api(host, "/in").post("/login", data=form).json["access_token"]
    return Api(host, "/in", token)


def test_workspaces_are_not_created_by_default(api: Api) -> None:
    assert api.get("/teams").json == []
    form = {"username": "ada@example.com", "password": PASSWORD}
    response = api.post("/login", data=form).json
    assert response["user"] is None
    assert "workspaces" not in response


def test_application_can_enable_workspaces(
    backend: Backend, files: MemoryFileStore, frontdesk: Frontdesk
) -> None:
    frontdesk.use_workspaces()
    host = make_host(backend, files, frontdesk)
    with host.app_context():
        service(Accounts).create("ada@example.com", PASSWORD)
    form = {"username": "ada@example.com", "password": PASSWORD}
    response = Api(host, "/in").post("/login", data=form).json
    assert [workspace["slug"] for workspace in response["workspaces"]] == ["ada"]
    assert response["user"]["type"] == "owner"


def test_members_can_be_managed(api: Api, host: Flask) -> None:
    with host.app_context():
        bob = service(Accounts).create("bob@example.com", PASSWORD).id
    assert api.post("/teams", json={"name": "Crew"}).json["type"] == "owner"
    api.post("/teams/crew/members", json={"email": "bob@example.com"})
    changed = api.patch(f"/teams/crew/members/{bob}", json={"type": "guest"}).json
    assert (changed["email"], changed["type"]) == ("bob@example.com", "guest")
    assert api.delete(f"/teams/crew/members/{bob}").json["account_id"] == bob
    assert api.put("/teams/current", json={"slug": "crew"}).json["slug"] == "crew"


def test_profile_and_picture_can_be_managed(api: Api, host: Flask, files: MemoryFileStore) -> None:
    api.post("/teams", json={"name": "Crew"})
    assert api.get("/nowhere/card", 404).detail == "Workspace not found"
    assert api.post("/crew/card", json=ADA).json["first_name"] == "Ada"
    assert api.put("/crew/card", json={"city": "Oslo"}).json["city"] == "Oslo"
    form = {"avatar": (BytesIO(plain("PNG")), "a.png")}
    address = api.put("/crew/card/avatar", data=form).json["avatar"]
    picture = Api(host, "").get(address.removeprefix("http://localhost")).response
    assert picture.mimetype == "image/jpeg"
    assert [file.name for file in files.files()] == [address.rpartition("/")[2]]
    assert api.delete("/crew/card").json["city"] == "Oslo"
    assert list(files.files()) == []


def test_application_sets_the_default_workspace_resolver(api: Api, frontdesk: Frontdesk) -> None:
    api.post("/teams", json={"name": "Crew"})

    @frontdesk.workspace_resolver
    def by_header(
        session: Any, account: Any, path_params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> str | None:
        assert account.email == "ada@example.com"
        return headers.get("x-crew")

    assert api.get("/own", headers={"X-Crew": "crew"}).json == {"type": "owner"}
    frontdesk.workspace_resolver(HeaderResolver("X-Team"))
    assert api.get("/own", headers={"X-Team": "crew"}).json == {"type": "owner"}
