"""What a profile must have, may have and shows is a host's to say."""

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
from ..rigs.racing import at_once
from .test_in_a_host import make_host
from .test_profiles import ADA

ASKED = ("date_of_birth", "gender", "marital_status")


class CardCreate(ProfileCreate):
    """Our properties without three of them, and two of the host's own."""

    class Meta(ProfileCreate.Meta):
        exclude = ASKED

    motto = fields.String(required=True, validate=validate.Length(max=20))
    since = fields.Date()


class CardRead(ProfileRead):
    class Meta(ProfileRead.Meta):
        exclude = (*ASKED, "phone")


class AnyCard(Schema):
    """Of the host's own making from top to bottom, and asking for nothing."""

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
    """Ada at a host with these schemas, without a profile."""
    host = make_host(backend, MemoryFileStore(), Frontdesk(), schemas)
    ada = make_person(host, "ada", prefix="/in").api()
    ada.post("/teams", json={"name": "Crew", "slug": "crew"})
    return Api(host, "/in/crew", ada.token)


def given(**schemas: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("schemas", [Schemas(**schemas)], ids=["-".join(schemas)])


def send_picture(api: Api, status: int = 200) -> Answer:
    return api.put("/card/avatar", status, data={"avatar": (BytesIO(plain("PNG")), "a.png")})


@given(profile_create=CardCreate)
def test_a_host_asks_for_what_it_wants(api: Api) -> None:
    assert sorted(api.post("/card", 422, json={}).faults) == [
        "json:first_name",
        "json:last_name",
        "json:motto",
    ]
    card = {"first_name": "Ada", "last_name": "Lovelace", "motto": "Onwards"}
    made = api.post("/card", json={**card, "since": "2030-01-01", "likes": ["engines"]}).json
    assert made == api.get("/card").json
    assert (made["motto"], made["since"], made["likes"]) == ("Onwards", "2030-01-01", ["engines"])
    assert made["gender"] is None


@given(profile_create=CardCreate)
def test_an_update_takes_the_same_properties_and_asks_for_none(api: Api) -> None:
    api.post("/card", json={"first_name": "Ada", "last_name": "Lovelace", "motto": "Onwards"})
    assert api.put("/card", 422, json={"motto": "x" * 21}).faults == ["json:motto"]
    assert api.put("/card", json={"city": "London"}).json["motto"] == "Onwards"


@given(profile_create=CardCreate)
def test_what_a_host_has_left_out_is_passed_over(api: Api) -> None:
    card = {"first_name": "Ada", "last_name": "Lovelace", "motto": "Onwards"}
    made = api.post("/card", json={**card, "gender": {"no": "text"}, "id": 7}).json
    assert made["gender"] is None
    assert api.put("/card", json={"date_of_birth": 5}).json["date_of_birth"] is None


@given(profile_create=CardCreate, profile_read=CardRead)
def test_what_leaves_is_decided_by_the_read_schema(api: Api) -> None:
    card = {"first_name": "Ada", "last_name": "Lovelace", "motto": "Onwards", "phone": "+44"}
    made = api.post("/card", json=card).json
    assert not {*ASKED, "phone"} & set(made)
    assert made["motto"] == "Onwards"


@given(profile_create=AnyCard, profile_read=AnyCardRead)
def test_a_schema_of_the_hosts_own_making_reads_and_writes(api: Api) -> None:
    sent = {"born": "1815-12-10", "nickname": "Countess", "gender": ["any"], "account_id": 99}
    made = api.post("/card", json=sent).json
    card = {"city": "Oslo", "born": "1815-12-10", "nickname": "Countess", "avatar": None}
    assert made == card
    assert api.get("/card").json == made


@given(profile_create=AnyCard)
@pytest.mark.parametrize("number", ["1" * 30, "1.5", "x"])
def test_what_cannot_be_stored_is_refused_whatever_the_schema_takes(api: Api, number: str) -> None:
    assert api.post("/card", 422, json={"number": number}).faults == ["json:number"]
    api.get("/card", 404)


@given(profile_create=AnyCard)
def test_the_bounds_of_further_properties_hold_whatever_the_schema_takes(api: Api) -> None:
    many = {f"property{number}": number for number in range(65)}
    assert api.post("/card", 422, json=many).faults == ["json:"]
    assert api.post("/card", 422, json={"a": "x" * 16 * 1024}).faults == ["json:"]
    assert api.post("/card", 422, json={"a": "a\0b"}).faults == ["json:a"]


@given(profile_create=AnyCard)
def test_where_nothing_is_asked_for_an_avatar_makes_the_profile(api: Api) -> None:
    made = send_picture(api).json
    assert (made["city"], made["first_name"]) == ("Oslo", None)
    assert made["avatar"]
    assert api.get("/card").json == made
    api.put("/card", json={"city": "Bergen"})
    assert send_picture(api).json["city"] == "Bergen"


@given(profile_create=AnyCard)
def test_of_avatars_that_come_at_once_one_makes_the_profile(api: Api) -> None:
    def put() -> int:
        client = Api(api.app, api.prefix, api.token)
        return send_picture(client).status

    assert at_once(*[put] * 3) == [200] * 3


@given(profile_create=CardCreate)
def test_where_something_is_asked_for_an_avatar_comes_after_the_profile(api: Api) -> None:
    assert send_picture(api, 404).detail == "Profile not found"


def test_our_own_schemas_are_about_all_columns_that_a_client_sees() -> None:
    assert set(ProfileCreate().fields) == WRITABLE
    assert set(ProfileRead().fields) == PROPERTIES


@given()
def test_without_schemas_of_the_hosts_own_ours_hold(api: Api) -> None:
    faults = api.post("/card", 422, json={}).faults
    assert sorted(faults) == [f"json:{name}" for name in sorted(ADA)]
    send_picture(api, 404)
    api.post("/card", json=ADA)
    assert api.put("/card", 422, json={"gender": None}).faults == ["json:gender"]
