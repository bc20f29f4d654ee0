"""Responses contain exactly the fields of the read schema."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema, fields

from app.accounts.schemas import AccountRead
from app.auth import examples
from app.core.web.fields import IsUnset, Page
from app.core.web.operation import View, find_operation
from app.core.web.paging import Slice
from app.core.web.request_data import called_by_page, takes
from app.core.web.responses import AnswerWith, answers, polled, row_serializer
from app.testing.client import Api

from ..conftest import MakePerson, Person


class Room(Schema):
    name = fields.String()
    door = fields.Integer(allow_none=True)


def test_account_has_only_the_fields_of_its_read_schema(ada: Person) -> None:
    assert list(ada.api().get("/account").json) == list(AccountRead().dump_fields)


def test_additional_attribute_is_not_returned(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(examples.ACCOUNT, "password_hash", "$2b$04$")
    assert "password_hash" not in ada.api().get("/account").json


def test_response_has_the_schemas_fields_that_the_row_has() -> None:
    read = row_serializer(Room, ["key", "name"])
    assert read(("under the mat", "Library")) == {"name": "Library"}
    assert row_serializer(Room, ["door", "name"])((None, "Hall")) == {"name": "Hall", "door": None}


def test_response_shows_whether_a_value_is_set_but_not_the_value() -> None:
    class VerifiedRead(Schema):
        verified = IsUnset(attribute="unverified_since")

    read = row_serializer(VerifiedRead, ["unverified_since"])
    assert [read((value,)) for value in (None, "2030-01-01")] == [
        {"verified": True},
        {"verified": False},
    ]


def test_schema_with_a_renamed_field_is_rejected() -> None:
    class Renamed(Schema):
        title = fields.String(attribute="name")

    with pytest.raises(TypeError, match=r"Renamed\.title"):
        row_serializer(Renamed)


ROOMS = [{"name": "Library", "door": 1}]


@pytest.mark.parametrize("result", [ROOMS, [], tuple(ROOMS), iter(ROOMS), (ROOMS[0], 201), "Room"])
def test_unexpected_result_raises_instead_of_an_empty_response(result: Any) -> None:
    with Flask("host").test_request_context(), pytest.raises(TypeError, match="many=True"):
        answers(200, Room)(lambda: result)()


def test_single_result_instead_of_a_list_raises() -> None:
    with Flask("host").test_request_context(), pytest.raises(TypeError, match="returned a dict"):
        answers(200, Room, many=True)(lambda: ROOMS[0])()


@pytest.mark.parametrize(("many", "result"), [(True, ROOMS), (True, []), (False, {})])
def test_expected_result_is_returned(many: bool, result: Any) -> None:
    with Flask("host").test_request_context():
        assert answers(200, Room, many=many)(lambda: result)().json == result


ADDED = answers(202, Room)(answers(201, Room)(lambda result: result))


def test_a_view_can_answer_with_the_status_of_another_decorator() -> None:
    with Flask("host").test_request_context():
        answered = [ADDED(ROOMS[0]), ADDED(AnswerWith({**ROOMS[0], "key": "mat"}, 202))]
    assert [(each.status_code, each.json) for each in answered] == [
        (201, ROOMS[0]),
        (202, ROOMS[0]),
    ]


def page_value(view: View, *args: Any) -> Any:
    with Flask("host").test_request_context("/?limit=7"), called_by_page(lambda *_: {"limit": 2}):
        return view(*args)


def unchanged(result: Any) -> Any:
    return result


def test_a_page_gets_what_the_schema_shows() -> None:
    room = {**ROOMS[0], "key": "under the mat"}
    assert page_value(ADDED, room) == ROOMS[0]
    assert page_value(ADDED, AnswerWith(room, 202)) == ROOMS[0]
    assert page_value(polled(answers(200, Room, many=True)(unchanged)), [room]) == ROOMS
    ready = AnswerWith(room, ready=True)
    assert page_value(answers(200, Room)(unchanged), ready) is room


def test_a_page_gets_the_rows_of_a_list_with_the_places_of_others() -> None:
    room = {**ROOMS[0], "key": "under the mat"}
    found = Slice([room], after="9", before="7", total=3)
    assert page_value(answers(200, Room, sliced=True)(unchanged), found) == found._replace(
        rows=ROOMS
    )
    limits = []

    @takes(query=Page)
    @answers(200, Room, paged=True)
    def rooms(query: Page.Input) -> Any:
        limits.append(query["limit"])
        return [room]

    # Not one row more: a page counts its rows itself.
    assert (page_value(rooms), limits) == (ROOMS, [2])


def test_every_list_is_paginated(app: Flask) -> None:
    unpaged = [
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
        and (found := find_operation(app.view_functions[rule.endpoint]))
        and any(answer.many and not answer.paged for answer in found.answers.values())
    ]
    # At most twenty banners are in force.
    assert unpaged == ["banners.list_banners"]


def test_next_links_lead_to_the_end_of_lists(person: MakePerson, api: Api) -> None:
    root = person("root", role="root").api()
    for name in ("Gardeners", "Readers"):
        root.post("/workspaces", json={"name": name})
        api.post("/tasks/", 201, json={"title": name})
        data = {"title": name, "message": name, "channels": ["inapp"]}
        root.post("/admin/notifications/", 201, json={"data": data})
    for path in ("/tasks", "/workspaces", "/admin/notifications/all"):
        first, whole = (root.get(f"{path}?limit={limit}") for limit in (1, 9))
        total = len(whole.json)
        assert first.json == whole.json[:1]
        assert first.headers["Link"] == f'</api/v1{path}?limit=1&offset=1>; rel="next"'
        assert "X-Total-Count" not in first.headers
        assert whole.headers["X-Total-Count"] == str(total)
        assert "Link" not in whole.headers
        last = root.get(f"{path}?limit=1&offset={total - 1}")
        assert last.headers["X-Total-Count"] == str(total)
        beyond = root.get(f"{path}?offset={total + 1}")
        assert not {"Link", "X-Total-Count"} & set(beyond.headers.keys())


def test_api_responses_forbid_caching(ada: Person) -> None:
    api = ada.api()
    cache_control = {
        path: api.get(path).headers["Cache-Control"] for path in ("/account", "/tasks", "/health")
    }
    assert set(cache_control.values()) == {"no-store"}
    assert api.get("/nowhere", 404).headers["Cache-Control"] == "no-store"
    assert api.get("/openapi.json").headers["Cache-Control"] == "private, no-cache"
