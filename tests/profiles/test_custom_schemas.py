"""Profile schemas of the application: required, optional and visible properties."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from marshmallow import INCLUDE, Schema, fields, validate

from app import Frontdesk, ProfileCreate, ProfileRead, Schemas
from app.profiles.models import PROPERTIES, WRITABLE
from app.storage import MemoryFileStore
from app.testing.client import Answer, Api
from app.testing.people import make_person

from ..conftest import Backend
from ..rigs.pictures import plain
from ..rigs.racing import run_concurrently
from .test_mounted import make_host
from .test_profiles import ADA

EXCLUDED = ("date_of_birth", "gender", "marital_status")


class CardCreate(ProfileCreate):
    """The default properties without three of them, plus two of the application's own."""

    class Meta(ProfileCreate.Meta):
        exclude = EXCLUDED

    motto = fields.String(required=True, validate=validate.Length(max=20))
    since = fields.Date()


class CardRead(ProfileRead):
    class Meta(ProfileRead.Meta):
        exclude = (*EXCLUDED, "phone")


class AnyCard(Schema):
    """A schema that is independent of the default one and requires nothing."""

    class Meta:
        unknown = INCLUDE

    born = fields.Date(attribute="date_of_birth")
    city = fields.String(load_default="Oslo")
    number = fields.Integer()


class AnyCardRead(Schema):
    city = fields.String()
    born = fields.Date(attribute="date_of_birth")
    nickname = fields.String()
    avatar = fields.String()


@pytest.fixture
def api(backend: Backend, schemas: Schemas) -> Api:
    """Return Ada's client in an application with these schemas; Ada has no profile."""
    host = make_host(backend, MemoryFileStore(), Frontdesk(), schemas)
    ada = make_person(host, "ada", prefix="/in").api()
    ada.post("/teams", json={"name": "Crew", "slug": "crew"})
    return Api(host, "/in/crew", ada.token)


def with_schemas(**schemas: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("schemas", [Schemas(**schemas)], ids=["-".join(schemas)])


def send_picture(api: Api, status: int = 200) -> Answer:
    return api.put("/card/avatar", status, data={"avatar": (BytesIO(plain("PNG")), "a.png")})


@with_schemas(profile_create=CardCreate)
def test_schema_decides_what_is_required(api: Api) -> None:
    assert sorted(api.post("/card", 422, json={}).faults) == [
        "json:first_name",
        "json:last_name",
        "json:motto",
    ]
    card = {"first_name": "Ada", "last_name": "Lovelace", "motto": "Onwards"}
    created = api.post("/card", json={**card, "since": "2030-01-01", "likes": ["engines"]}).json
    assert created == api.get("/card").json
    assert (created["motto"], created["since"], created["likes"]) == (
        "Onwards",
        "2030-01-01",
        ["engines"],
    )
    assert created["gender"] is None


@with_schemas(profile_create=CardCreate)
def test_update_uses_the_same_schema_without_required_properties(api: Api) -> None:
    api.post("/card", json={"first_name": "Ada", "last_name": "Lovelace", "motto": "Onwards"})
    assert api.put("/card", 422, json={"motto": "x" * 21}).faults == ["json:motto"]
    assert api.put("/card", json={"city": "London"}).json["motto"] == "Onwards"


@with_schemas(profile_create=CardCreate)
def test_excluded_properties_are_ignored(api: Api) -> None:
    card = {"first_name": "Ada", "last_name": "Lovelace", "motto": "Onwards"}
    created = api.post("/card", json={**card, "gender": {"no": "text"}, "id": 7}).json
    assert created["gender"] is None
    assert api.put("/card", json={"date_of_birth": 5}).json["date_of_birth"] is None


@with_schemas(profile_create=CardCreate, profile_read=CardRead)
def test_read_schema_decides_what_is_returned(api: Api) -> None:
    card = {"first_name": "Ada", "last_name": "Lovelace", "motto": "Onwards", "phone": "+44"}
    created = api.post("/card", json=card).json
    assert not {*EXCLUDED, "phone"} & set(created)
    assert created["motto"] == "Onwards"


@with_schemas(profile_create=AnyCard, profile_read=AnyCardRead)
def test_independent_schema_reads_and_writes(api: Api) -> None:
    sent = {"born": "1815-12-10", "nickname": "Countess", "gender": ["any"], "account_id": 99}
    created = api.post("/card", json=sent).json
    card = {"city": "Oslo", "born": "1815-12-10", "nickname": "Countess", "avatar": None}
    assert created == card
    assert api.get("/card").json == created


@with_schemas(profile_create=AnyCard)
@pytest.mark.parametrize("number", ["1" * 30, "1.5", "x"])
def test_unstorable_value_is_rejected_whatever_the_schema_accepts(api: Api, number: str) -> None:
    assert api.post("/card", 422, json={"number": number}).faults == ["json:number"]
    api.get("/card", 404)


@with_schemas(profile_create=AnyCard)
def test_limits_of_additional_properties_apply_to_every_schema(api: Api) -> None:
    many = {f"property{number}": number for number in range(65)}
    assert api.post("/card", 422, json=many).faults == ["json:"]
    assert api.post("/card", 422, json={"a": "x" * 16 * 1024}).faults == ["json:"]
    assert api.post("/card", 422, json={"a": "a\0b"}).faults == ["json:a"]


@with_schemas(profile_create=AnyCard)
def test_avatar_creates_the_profile_if_nothing_is_required(api: Api) -> None:
    created = send_picture(api).json
    assert (created["city"], created["first_name"]) == ("Oslo", None)
    assert created["avatar"]
    assert api.get("/card").json == created
    api.put("/card", json={"city": "Bergen"})
    assert send_picture(api).json["city"] == "Bergen"


@with_schemas(profile_create=AnyCard)
def test_concurrent_avatars_create_one_profile(api: Api) -> None:
    def put() -> int:
        client = Api(api.app, api.prefix, api.token)
        return send_picture(client).status

    assert run_concurrently(*[put] * 3) == [200] * 3


@with_schemas(profile_create=CardCreate)
def test_avatar_needs_a_profile_if_something_is_required(api: Api) -> None:
    assert send_picture(api, 404).detail == "Profile not found"


def test_default_schemas_cover_all_client_columns() -> None:
    assert set(ProfileCreate().fields) == WRITABLE
    assert set(ProfileRead().fields) == PROPERTIES


@with_schemas()
def test_default_schemas_apply_without_custom_schemas(api: Api) -> None:
    faults = api.post("/card", 422, json={}).faults
    assert sorted(faults) == [f"json:{name}" for name in sorted(ADA)]
    send_picture(api, 404)
    api.post("/card", json=ADA)
    assert api.put("/card", 422, json={"gender": None}).faults == ["json:gender"]
