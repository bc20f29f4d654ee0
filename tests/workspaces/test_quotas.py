"""Limits on workspaces: how many an account creates, and how many the login response lists."""

from __future__ import annotations

import pytest
from flask import Flask

from app.core.context import service
from app.testing.clock import SteppingClock
from app.workspaces import service as workspaces_service
from app.workspaces.members import Members
from app.workspaces.service import Workspaces

from ..auth.test_login import log_in
from ..conftest import MakeApp, MakePerson, Person
from ..rigs.racing import request, run_concurrently

NEW = {"name": "Garden"}


def test_workspaces_per_day_are_limited(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    ada = person("ada", into=make_app(WORKSPACES__CREATED_PER_DAY="2"))
    api = ada.api()
    api.post("/workspaces", json=NEW)
    clock.step(hours=23)
    ada.api().post("/workspaces", json=NEW)
    rejected = ada.api().post("/workspaces", 429, json=NEW)
    assert rejected.json["code"] == "too_many_workspaces"
    assert 3000 < int(rejected.headers["Retry-After"]) <= 3600
    clock.step(hours=1)
    ada.api().post("/workspaces", json=NEW)
    ada.api().post("/workspaces", 429, json=NEW)


def test_workspaces_per_account_are_limited(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    ada = person("ada", into=make_app(WORKSPACES__CREATED_LIMIT="2"))
    for _ in range(2):
        ada.api().post("/workspaces", json=NEW)
    clock.step(days=2)
    assert ada.api().post("/workspaces", 409, json=NEW).json["code"] == "quota_reached"
    assert len(ada.api().get("/workspaces").json) == 3


def test_limits_are_exact_under_concurrency(make_app: MakeApp, person: MakePerson) -> None:
    ada = person("ada", into=make_app(WORKSPACES__CREATED_LIMIT="3"))
    make = request(ada.api(), "POST", "/workspaces", json=NEW)
    assert run_concurrently(*[make] * 6) == [200] * 3 + [409] * 3


def test_failed_creation_does_not_count(make_app: MakeApp, person: MakePerson) -> None:
    api = person("ada", into=make_app(WORKSPACES__CREATED_PER_DAY="1")).api()
    api.post("/workspaces", 409, json={"name": "Mine", "slug": "ada"})
    api.post("/workspaces", json=NEW)


@pytest.fixture
def limit_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspaces_service, "MAX_AT_SIGN_IN", 3)


@pytest.mark.usefixtures("limit_of_three")
def test_login_lists_a_limited_number_including_the_current_workspace(
    app: Flask, ada: Person
) -> None:
    with app.app_context():
        for number in range(5):
            workspace = service(Workspaces).create_common("Garden", f"garden-{number}")
            service(Members).put(workspace, ada.email, "member", "active")
    api = ada.api()
    slugs = [
        workspace["slug"] for workspace in log_in(api, ada.email, ada.password).json["workspaces"]
    ]
    assert slugs == ["ada", "garden-0", "garden-1"]
    api.put("/workspaces/current", json={"slug": "garden-4"})
    response = log_in(api, ada.email, ada.password).json
    assert [each["slug"] for each in response["workspaces"]] == ["ada", "garden-0", "garden-4"]
    assert response["current_workspace_id"] == response["workspaces"][2]["id"]
    assert response["user"]["workspace_id"] == response["current_workspace_id"]


@pytest.mark.usefixtures("limit_of_three")
def test_left_current_workspace_is_replaced_by_the_first(app: Flask, ada: Person) -> None:
    with app.app_context():
        for number in range(4):
            workspace = service(Workspaces).create_common("Garden", f"garden-{number}")
            service(Members).put(workspace, ada.email, "member", "active")
    api = ada.api()
    api.put("/workspaces/current", json={"slug": "garden-3"})
    api.delete(f"/workspaces/garden-3/members/{ada.id}")
    response = log_in(api, ada.email, ada.password).json
    assert [each["slug"] for each in response["workspaces"]] == ["ada", "garden-0", "garden-1"]
    assert response["current_workspace_id"] == response["workspaces"][0]["id"]


def test_list_has_all_workspaces_in_pages(app: Flask, ada: Person) -> None:
    with app.app_context():
        for number in range(3):
            workspace = service(Workspaces).create_common("Garden", f"garden-{number}")
            service(Members).put(workspace, ada.email, "member", "active")
    page = ada.api().get("/workspaces?limit=2")
    assert [workspace["slug"] for workspace in page.json] == ["ada", "garden-0"]
    assert "offset=2" in page.headers["Link"]
