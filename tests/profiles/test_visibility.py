"""Profile visibility: `PROFILES.VISIBILITY` and `PROFILES.PUBLIC_FIELDS`."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.testing.database import noted_queries

from ..cli.test_command_line import run
from ..conftest import MakeApp, MakePerson, Person
from .test_profiles import ADA, OPTIONAL

NOT_FOUND = "Profile not found"


@pytest.fixture
def app(make_app: MakeApp, visibility: dict[str, str]) -> Flask:
    return make_app(**visibility)


@pytest.fixture
def visibility() -> dict[str, str]:
    return {}


def set_to(rule: str, **more: str) -> pytest.MarkDecorator:
    settings = {"PROFILES__VISIBILITY": rule, **more}
    return pytest.mark.parametrize("visibility", [settings], ids=[rule])


@pytest.fixture
def ada(person: MakePerson) -> Person:
    """Return Ada, who has a profile and the workspace `ada`."""
    ada = person("ada")
    ada.api().post("/profiles", json={**ADA, **OPTIONAL, "nickname": "Countess"})
    return ada


@pytest.fixture
def bob(person: MakePerson) -> Person:
    return person("bob")


def make_member(app: Flask, slug: str, of: Person, status: str = "active") -> None:
    run(app, "workspaces", "add", slug, of.email, "--status", status)


def check_access(reader: Person, of: Person, slug: str, status: int) -> None:
    """Check access without a workspace, and within a workspace of both members."""
    for prefix in ("", f"/{slug}"):
        response = reader.api().get(f"{prefix}/profiles/{of.id}", status)
        if status == 404:
            assert response.detail == NOT_FOUND


@set_to("workspaces")
def test_profile_of_another_workspace_is_not_found(app: Flask, ada: Person, bob: Person) -> None:
    missing = bob.api().get("/profiles/999", 404).json
    assert bob.api().get(f"/profiles/{ada.id}", 404).json == missing
    assert missing["detail"] == NOT_FOUND


@set_to("workspaces")
def test_profile_in_a_shared_workspace_is_found(app: Flask, ada: Person, bob: Person) -> None:
    make_member(app, "ada", bob)
    check_access(bob, ada, "ada", 200)


@set_to("workspaces")
@pytest.mark.parametrize("inactive", ["ada", "bob"])
def test_inactive_membership_shares_nothing(
    app: Flask, ada: Person, bob: Person, inactive: str
) -> None:
    make_member(app, "ada", bob, "invited" if inactive == "bob" else "active")
    if inactive == "ada":
        make_member(app, "ada", ada, "suspended")
    assert bob.api().get(f"/profiles/{ada.id}", 404).detail == NOT_FOUND


@set_to("workspaces")
def test_inactive_member_is_not_found_within_the_workspace(
    app: Flask, ada: Person, bob: Person
) -> None:
    make_member(app, "bob", ada, "invited")
    assert bob.api().get(f"/bob/profiles/{ada.id}", 404).detail == NOT_FOUND


@set_to("private")
def test_private_profile_is_not_found_by_members(app: Flask, ada: Person, bob: Person) -> None:
    make_member(app, "ada", bob)
    check_access(bob, ada, "ada", 404)


@pytest.mark.parametrize(
    "visibility",
    [
        {"PROFILES__VISIBILITY": rule, "PROFILES__PUBLIC_FIELDS": "[]"}
        for rule in ("workspaces", "private")
    ],
    ids=["workspaces", "private"],
)
def test_owner_admins_and_root_read_all_properties(
    app: Flask, ada: Person, person: MakePerson
) -> None:
    all_properties = ada.api().get("/profiles").json
    readers = [ada, person("boss", role="admin"), person("chief", role="root")]
    for reader in readers:
        assert reader.api().get(f"/profiles/{ada.id}").json == all_properties


@set_to("everyone", PROFILES__PUBLIC_FIELDS='["first_name", "avatar", "nickname"]')
def test_other_accounts_read_only_public_fields(app: Flask, ada: Person, bob: Person) -> None:
    all_properties = ada.api().get("/profiles").json
    seen = bob.api().get(f"/profiles/{ada.id}").json
    names = ("id", "account_id", "first_name", "avatar", "nickname")
    assert seen == {name: all_properties[name] for name in names}


@set_to("workspaces", PROFILES__PUBLIC_FIELDS='["city"]')
def test_members_read_only_public_fields(app: Flask, ada: Person, bob: Person) -> None:
    make_member(app, "ada", bob)
    assert set(bob.api().get(f"/ada/profiles/{ada.id}").json) == {"id", "account_id", "city"}


@pytest.mark.parametrize(
    "visibility",
    [
        {},
        {"PROFILES__VISIBILITY": "workspaces"},
        {"PROFILES__VISIBILITY": "private"},
        {"PROFILES__PUBLIC_FIELDS": "[]"},
    ],
    ids=["everyone", "workspaces", "private", "public fields"],
)
def test_visibility_is_checked_in_the_query_of_the_profile(
    app: Flask, ada: Person, bob: Person, visibility: dict[str, str]
) -> None:
    make_member(app, "ada", bob)
    api = bob.api()
    with noted_queries(app) as queries:
        api.get(f"/profiles/{ada.id}", 404 if "private" in visibility.values() else 200)
    assert len(queries) == 2  # the account of the token, and the profile


HIDING = {
    "private": {"PROFILES__VISIBILITY": "private"},
    "public fields": {"PROFILES__PUBLIC_FIELDS": '["city"]'},
}


@pytest.mark.parametrize("visibility", HIDING.values(), ids=HIDING)
def test_search_of_members_finds_no_hidden_names(
    app: Flask, ada: Person, bob: Person, person: MakePerson
) -> None:
    boss = person("boss", role="admin")
    for other in (bob, boss):
        make_member(app, "ada", other)
    for reader, found in ((bob, []), (boss, [ada.email])):
        members = reader.api().get(f"/workspaces/ada/members?search={ADA['last_name']}").json
        assert [each["email"] for each in members] == found, reader.email
    by_email = bob.api().get(f"/workspaces/ada/members?search={ada.email}").json
    assert [each["email"] for each in by_email] == [ada.email]


@pytest.mark.parametrize("visibility", HIDING.values(), ids=HIDING)
def test_search_of_members_finds_the_viewer_by_the_own_name(
    app: Flask, ada: Person, bob: Person
) -> None:
    bob.api().post("/profiles", json=ADA)
    make_member(app, "ada", bob)
    for search in (ADA["last_name"], f"{ADA['first_name']} {ADA['last_name']}"):
        for reader in (ada, bob):
            found = reader.api().get(f"/workspaces/ada/members?search={search}").json
            assert [each["email"] for each in found] == [reader.email]


@set_to("everyone", PROFILES__PUBLIC_FIELDS='["first_name"]')
def test_search_of_members_finds_public_names_only(app: Flask, ada: Person, bob: Person) -> None:
    ada.api().put("/profiles", json={"first_name": "Augusta"})
    make_member(app, "ada", bob)
    found = [
        len(bob.api().get(f"/workspaces/ada/members?search={name}").json)
        for name in ("Augusta", ADA["last_name"])
    ]
    assert found == [1, 0]


@set_to("workspaces")
def test_search_of_members_finds_no_name_of_an_inactive_member(
    app: Flask, ada: Person, bob: Person
) -> None:
    make_member(app, "bob", ada)
    found = f"/workspaces/bob/members?search={ADA['last_name']}"
    assert len(bob.api().get(found).json) == 1
    make_member(app, "bob", ada, "suspended")
    assert bob.api().get(found).json == []


def test_invalid_visibility_stops_the_start(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match="PROFILES__VISIBILITY"):
        make_app(PROFILES__VISIBILITY="workspace")


# Changing the profile of a root account.


@pytest.fixture
def root(person: MakePerson) -> Person:
    root = person("chief", role="root")
    root.api().post("/profiles", json=ADA)
    return root


CHANGES: list[dict[str, Any]] = [
    {"json": {"city": "Paris"}},
    {"json": {"avatar": "https://example.com/other.png"}},
    {"json": {"first_name": 7}},
    {"data": "not json"},
]


@pytest.mark.parametrize("change", CHANGES)
def test_admin_cannot_change_a_roots_profile(
    app: Flask, root: Person, person: MakePerson, change: dict[str, Any]
) -> None:
    admin = person("boss", role="admin")
    make_member(app, "chief", admin)
    for prefix in ("", "/chief"):
        response = admin.api().put(f"{prefix}/profiles/{root.id}", 403, **change)
        assert response.detail == "Not authorized"
    assert root.api().get("/profiles").json["city"] is None


def test_root_can_change_a_roots_profile(root: Person, person: MakePerson) -> None:
    other = person("deputy", role="root").api()
    assert other.put(f"/profiles/{root.id}", json={"city": "Paris"}).json["city"] == "Paris"
    assert root.api().put(f"/profiles/{root.id}", json={"city": None}).json["city"] is None
