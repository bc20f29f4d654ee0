"""Profiles: own and others', with and without a workspace."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently

ADA = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "date_of_birth": "1815-12-10",
    "gender": "female",
    "marital_status": "married",
}
OPTIONAL = {
    "phone": "+44 20 7946 0000",
    "address": "St James's Square 12",
    "city": "London",
    "state": "Greater London",
    "country": "UK",
    "postal_code": "SW1Y 4JH",
    "avatar": "https://example.com/ada.png",
    "bio": "Enchantress of numbers",
}
BEYOND = 10**30


@pytest.fixture
def api(ada: Person) -> Api:
    api = ada.api()
    api.post("/profiles", json=ADA)
    return api


def test_profile_is_created_from_required_properties(ada: Person) -> None:
    profile = ada.api().post("/profiles", json=ADA).json
    assert {name: profile[name] for name in ADA} == ADA
    assert {name: profile[name] for name in OPTIONAL} == dict.fromkeys(OPTIONAL)
    assert profile["account_id"] == ada.id
    assert set(profile) == {*ADA, *OPTIONAL, "id", "account_id", "created_at", "updated_at"}


def test_profile_is_created_with_all_properties(ada: Person) -> None:
    api = ada.api()
    profile = api.post("/profiles", json={**ADA, **OPTIONAL}).json
    assert {name: profile[name] for name in OPTIONAL} == OPTIONAL
    assert api.get("/profiles").json == profile
    assert profile["created_at"].endswith("+00:00")


def test_all_missing_properties_are_named(ada: Person) -> None:
    api = ada.api()
    assert sorted(api.post("/profiles", 422, json={}).faults) == [f"json:{n}" for n in sorted(ADA)]
    assert api.get("/profiles", 404).detail == "Profile not found"


INVALID = [
    ("first_name", ""),
    ("first_name", None),
    ("first_name", 7),
    ("first_name", "x" * 101),
    ("first_name", "a\0b"),
    ("date_of_birth", "18151210"),
    ("date_of_birth", "1815-W50-7"),
    ("date_of_birth", "1815-13-01"),
    ("date_of_birth", "٢٠٠٠-01-01"),
    ("date_of_birth", "1815-12-10T00:00:00"),
    ("date_of_birth", 0),
    ("date_of_birth", None),
    ("gender", "x" * 51),
    ("marital_status", ["married"]),
    ("phone", "x" * 51),
    ("address", "x" * 256),
    ("city", {"name": "London"}),
    ("state", True),
    ("country", "a\0b"),
    ("postal_code", "x" * 21),
    ("bio", "x" * 2001),
]


@for_each(("name", "value"), INVALID)
def test_invalid_value_is_rejected_and_nothing_written(api: Api, name: str, value: Any) -> None:
    before = api.get("/profiles").json
    assert api.put("/profiles", 422, json={name: value}).faults == [f"json:{name}"]
    api.delete("/profiles")
    assert api.post("/profiles", 422, json={**ADA, name: value}).faults == [f"json:{name}"]
    api.get("/profiles", 404)
    assert before["first_name"] == "Ada"
    api.post("/profiles", json=ADA)


INVALID_URLS = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:image/png;base64,AAAA",
    "ftp://example.com/a.png",
    "//example.com/a.png",
    "/a.png",
    "a.png",
    "",
    "http://",
    "https:///a.png",
    "http://[::1",
    "http://example.com:99999/",
    "http://user@example.com/a.png",
    "http://example.com/a b.png",
    "http://example.com/\n.png",
    "http://example.com/<script>",
    'http://example.com/"onload="',
    "\x01http://example.com/",
    "https://example.com/" + "x" * 2048,
    "/api/v1/profiles/avatars/00112233445566778899aabbccddeeff.png",
]


@for_each("address", INVALID_URLS)
def test_invalid_avatar_url_is_rejected(api: Api, address: str) -> None:
    assert api.put("/profiles", 422, json={"avatar": address}).faults == ["json:avatar"]
    assert api.get("/profiles").json["avatar"] is None
    api.delete("/profiles")
    assert api.post("/profiles", 422, json={**ADA, "avatar": address}).faults == ["json:avatar"]
    api.post("/profiles", json=ADA)


@for_each(
    "address", ["http://example.com/a.png", "HTTPS://example.com", "https://[::1]:80/ä?x=1#y"]
)
def test_avatar_can_be_any_web_url(api: Api, address: str) -> None:
    assert api.put("/profiles", json={"avatar": address}).json["avatar"] == address
    assert api.put("/profiles", json={"avatar": None}).json["avatar"] is None


def test_date_of_birth_cannot_be_in_the_future(api: Api, clock: SteppingClock) -> None:
    tomorrow = (clock.now().date()).replace(year=clock.now().year + 1).isoformat()
    assert api.put("/profiles", 422, json={"date_of_birth": tomorrow}).faults == [
        "json:date_of_birth"
    ]
    api.put("/profiles", json={"date_of_birth": clock.now().date().isoformat()})
    api.put("/profiles", json={"date_of_birth": "0001-01-01"})


def test_update_changes_only_sent_properties(api: Api, clock: SteppingClock) -> None:
    before = api.get("/profiles").json
    clock.step(minutes=1)
    after = api.put("/profiles", json={"city": "London", "last_name": "King"}).json
    assert (after["city"], after["last_name"]) == ("London", "King")
    assert after["updated_at"] > before["updated_at"]
    same = {*after} - {"city", "last_name", "updated_at"}
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert api.put("/profiles", json={"city": None}).json["city"] is None


def test_empty_update_changes_no_property(api: Api) -> None:
    before = api.get("/profiles").json
    after = api.put("/profiles", json={}).json
    assert {**after, "updated_at": None} == {**before, "updated_at": None}


def test_returned_profile_can_be_sent_back(api: Api) -> None:
    whole = api.put("/profiles", json={**OPTIONAL, "nickname": "Countess"}).json
    again = api.put("/profiles", json=whole).json
    assert {**again, "updated_at": None} == {**whole, "updated_at": None}


def test_second_create_is_rejected(api: Api) -> None:
    response = api.post("/profiles", 409, json={**ADA, "first_name": "Another"})
    assert response.detail == "Profile already exists"
    assert api.get("/profiles").json["first_name"] == "Ada"


def test_concurrent_creates_succeed_once(ada: Person) -> None:
    create = request(ada.api(), "POST", "/profiles", json=ADA)
    assert run_concurrently(*[create] * 8) == [200] + [409] * 7


def test_delete_returns_the_deleted_profile(api: Api) -> None:
    profile = api.get("/profiles").json
    assert api.delete("/profiles").json == profile
    for method in ("GET", "PUT", "DELETE"):
        response = api.send(method, "/profiles", 404, json={})
        assert response.detail == "Profile not found"
    assert api.post("/profiles", json=ADA).json["id"] > profile["id"]


def test_concurrent_deletes_succeed_once(api: Api) -> None:
    delete = request(api, "DELETE", "/profiles")
    assert run_concurrently(*[delete] * 6) == [200] + [404] * 5


# Additional properties.

EXTRA = {
    "nickname": "Countess",
    "children": 3,
    "likes": ["engines", {"poets": False}],
    "height": 1.6,
    "title": None,
    "a.b": {"c": "d"},
    "": "nameless",
    "extra": {"nested": "name"},
    "avatar_file": "additional",
    "__class__": "additional too",
    "größe": "ß",
}


def test_additional_properties_are_stored_and_returned(ada: Person) -> None:
    api = ada.api()
    profile = api.post("/profiles", json={**ADA, **EXTRA}).json
    assert {name: profile[name] for name in EXTRA} == EXTRA
    assert api.get("/profiles").json == profile


def test_additional_properties_keep_their_order(ada: Person) -> None:
    # Sent as text, because the test client sorts keys.
    body, kind = json.dumps({**ADA, **EXTRA}), {"Content-Type": "application/json"}
    profile = ada.api().post("/profiles", data=body, headers=kind).json
    assert [name for name in profile if name in EXTRA] == list(EXTRA)


def test_update_adds_to_the_additional_properties(api: Api) -> None:
    api.put("/profiles", json={"nickname": "Countess", "children": 3})
    profile = api.put("/profiles", json={"children": 4, "title": "Lady"}).json
    assert (profile["nickname"], profile["children"], profile["title"]) == ("Countess", 4, "Lady")


def test_read_only_properties_are_ignored(ada: Person, api: Api) -> None:
    before = api.get("/profiles").json
    sent = {"id": 999, "account_id": 999, "created_at": "then", "updated_at": {"x": 1}}
    after = api.put("/profiles", json=sent).json
    assert {**after, "updated_at": None} == {**before, "updated_at": None}
    api.delete("/profiles")
    created = api.post("/profiles", json={**ADA, **sent}).json
    assert created["account_id"] == ada.id
    assert (created["id"], created["created_at"]) != (999, "then")


def many(amount: int, first: int = 0) -> dict[str, int]:
    return {f"property{number}": number for number in range(first, first + amount)}


def test_at_most_64_additional_properties_are_stored(api: Api) -> None:
    assert api.put("/profiles", 422, json=many(65)).faults == ["json:"]
    api.put("/profiles", json=many(64))
    api.put("/profiles", json=many(64))
    assert api.put("/profiles", 422, json=many(1, first=64)).faults == ["json:"]
    assert "property64" not in api.get("/profiles").json


def test_additional_properties_are_limited_to_16_kib(api: Api) -> None:
    assert api.put("/profiles", 422, json={"a": "x" * 16 * 1024}).faults == ["json:"]
    api.put("/profiles", json={"a": "x" * 10_000})
    assert api.put("/profiles", 422, json={"b": "ü" * 4_000}).faults == ["json:"]
    assert "b" not in api.get("/profiles").json
    api.put("/profiles", json={"a": "short", "b": "x" * 10_000})


def test_concurrent_updates_do_not_lose_changes(api: Api) -> None:
    updates = [request(api, "PUT", "/profiles", json={f"p{number}": 1}) for number in range(6)]
    assert run_concurrently(*updates) == [200] * 6
    profile = api.get("/profiles").json
    assert [profile.get(f"p{number}") for number in range(6)] == [1] * 6


@for_each("value", ["a\0b", ["a\0b"], {"x": [{"y": "\0"}]}, {"a\0b": 1}])
def test_unstorable_value_is_rejected_at_any_depth(api: Api, value: Any) -> None:
    assert api.put("/profiles", 422, json={"x": value}).faults == ["json:x"]


def test_unstorable_name_is_rejected(api: Api) -> None:
    assert api.put("/profiles", 422, json={"a\0b": 1}).faults == ["json:"]


NOT_JSON = [
    '{"x": NaN}',
    '{"x": 1e999}',
    '{"x": "\\ud800"}',
    '{"x": ' + "[" * 70 + "]" * 70 + "}",
    '{"x": ' + '{"y":' * 100_000 + "1" + "}" * 100_000 + "}",
    "{",
    "\ufeff{}",
    "{}".encode("utf-16"),
    b"\xff",
]


@for_each(
    ("body", "status"),
    [*((body, 400) for body in NOT_JSON), ("[]", 422), ("null", 422), ('"text"', 422)],
)
def test_body_that_is_no_object_is_rejected(api: Api, body: str | bytes, status: int) -> None:
    before = api.get("/profiles").json
    api.put("/profiles", status, data=body, content_type="application/json")
    assert api.get("/profiles").json == before


def test_large_numbers_are_stored_exactly(api: Api) -> None:
    profile = api.put("/profiles", json={"big": 2**63, "small": -(2**63), "float": 1e300}).json
    assert (profile["big"], profile["small"], profile["float"]) == (2**63, -(2**63), 1e300)


def test_nested_objects_within_the_limit_are_stored(api: Api) -> None:
    deep: Any = "bottom"
    for _ in range(60):
        deep = [deep]
    assert api.put("/profiles", json={"deep": deep}).json["deep"] == deep


def test_other_content_type_and_too_large_body_are_rejected(api: Api) -> None:
    api.put("/profiles", 415, data={"first_name": "Ada"})
    api.put("/profiles", 413, json={"x": "x" * 1024 * 1024})


# Profiles of other accounts.


def test_every_active_account_reads_other_profiles(
    ada: Person, api: Api, person: MakePerson
) -> None:
    bobs = person("bob").api()
    profile = bobs.get(f"/profiles/{ada.id}").json
    assert profile == api.get("/profiles").json == api.get(f"/profiles/{ada.id}").json


@for_each("account_id", [999, 0, -1, 2**31, 2**63 - 1, 2**63, BEYOND])
def test_missing_profile_is_not_found(api: Api, account_id: int) -> None:
    assert api.get(f"/profiles/{account_id}", 404).detail == "Profile not found"


def test_account_without_profile_is_not_found(api: Api, person: MakePerson) -> None:
    bob = person("bob")
    assert api.get(f"/profiles/{bob.id}", 404).detail == "Profile not found"


@for_each("account_id", ["x", "1_0", "٣", "1.5", "%00"])
def test_malformed_id_is_not_found(api: Api, account_id: str) -> None:
    api.get(f"/profiles/{account_id}", 404)


def test_own_profile_can_be_updated_by_id(ada: Person, api: Api) -> None:
    assert api.put(f"/profiles/{ada.id}", json={"city": "London"}).json["city"] == "London"


@pytest.mark.parametrize("role", ["admin", "root"])
def test_admins_update_every_profile(ada: Person, api: Api, person: MakePerson, role: str) -> None:
    admin = person("boss", role=role).api()
    assert admin.put(f"/profiles/{ada.id}", json={"city": "London"}).json["city"] == "London"
    assert api.get("/profiles").json["city"] == "London"
    assert admin.put("/profiles/999", 404, json={}).detail == "Profile not found"
    assert admin.put(f"/profiles/{BEYOND}", 404, json={}).detail == "Profile not found"


def test_user_cannot_update_or_detect_other_profiles(
    ada: Person, api: Api, person: MakePerson
) -> None:
    bobs = person("bob").api()
    for account_id in (ada.id, 999, BEYOND):
        for body in ({"json": {"city": "X"}}, {"data": "not json"}):
            response = bobs.put(f"/profiles/{account_id}", 403, **body)
            assert response.detail == "Not authorized"
    assert api.get("/profiles").json["city"] is None


ROUTES = [
    ("GET", "/profiles"),
    ("POST", "/profiles"),
    ("PUT", "/profiles"),
    ("DELETE", "/profiles"),
    ("PUT", "/profiles/avatar"),
    ("GET", "/profiles/1"),
    ("PUT", "/profiles/1"),
]


@for_each(("method", "path"), ROUTES)
def test_every_route_requires_an_active_account(ada: Person, method: str, path: str) -> None:
    for prefix in ("", "/ada", "/nowhere"):
        anonymous = Api(ada.app).send(method, prefix + path, 401, data="not json")
        assert anonymous.detail == "Could not validate credentials"
    api = ada.api()
    ada.change(status="inactive")
    for prefix in ("", "/ada", "/nowhere"):
        response = api.send(method, prefix + path, 401, data="not json")
        assert response.detail == "The account is inactive"
    ada.change(status="active")


def test_deleting_the_account_deletes_its_profile(app: Flask, ada: Person, api: Api) -> None:
    admin = Person(app, 0, "bob@example.com")
    with app.app_context():
        service(Accounts).create(admin.email, admin.password, role="root")
        service(Accounts).delete(service(Accounts).get(ada.email))
    admin.api().get(f"/profiles/{ada.id}", 404)


def test_paths_work_with_and_without_trailing_slash(api: Api) -> None:
    assert api.get("/profiles/").json == api.get("/profiles").json
    assert api.get("/ada/profiles/").json == api.get("/ada/profiles").json


def test_openapi_document_allows_additional_properties_and_shows_the_header(app: Flask) -> None:
    document = Api(app).get("/openapi.json").json
    schemas = document["components"]["schemas"]
    assert schemas["ProfileCreate"]["additionalProperties"] is True
    assert sorted(schemas["ProfileCreate"]["required"]) == sorted(ADA)
    assert "required" not in schemas["ProfileUpdate"]
    operation = document["paths"]["/api/v1/profiles"]["get"]
    assert [parameter["name"] for parameter in operation["parameters"]] == ["X-Workspace"]
    avatar = document["paths"]["/api/v1/profiles/avatar"]["put"]["requestBody"]["content"]
    assert list(avatar) == ["multipart/form-data"]
