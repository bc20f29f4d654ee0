"""The owner's profile on its page."""

from __future__ import annotations

import io
from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema, fields, validate
from PIL import Image

from app.console.owner.profile import field_groups
from app.core.web.fields import Text
from app.profiles.schemas import ProfileCreate

from ..conftest import MakeApp, MakePerson, Person
from .reader import Reader, fault_of, said, visible

FIELDS = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "date_of_birth": "1815-12-10",
    "gender": "female",
    "marital_status": "married",
    "phone": "",
    "address": "",
    "postal_code": "",
    "city": "London",
    "state": "",
    "country": "",
    "bio": "Enchantress\r\nof numbers",
}


@pytest.fixture
def reader(app: Flask, ada: Person) -> Reader:
    return Reader(app, ada)


def profile_of(ada: Person) -> dict[str, Any]:
    found: dict[str, Any] = ada.api().get("/profiles").json
    return found


def picture(size: tuple[int, int] = (40, 30)) -> io.BytesIO:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, "PNG")
    file.seek(0)
    return file


def test_a_new_one_is_made_of_what_is_asked_for(reader: Reader, ada: Person) -> None:
    text = reader.get("/profile")
    assert "You have no profile yet" in visible(text)
    assert "/profile/picture" not in text
    assert said(reader.send("/profile/make", **FIELDS)) == "Profile saved."
    profile = profile_of(ada)
    assert profile["bio"] == "Enchantress\nof numbers"
    assert profile["city"] == "London"
    assert profile["phone"] is None


def test_what_is_wrong_is_said_at_its_field_and_what_was_typed_stays(reader: Reader) -> None:
    reader.get("/profile")
    wrong = {**FIELDS, "first_name": "", "date_of_birth": "yesterday", "city": "x" * 101}
    text = reader.refused("/profile/make", 422, **wrong)
    assert fault_of(text, "first_name")
    assert fault_of(text, "date_of_birth") == "Enter a valid date."
    assert fault_of(text, "city") == "Enter at most 100 characters."
    assert fault_of(text, "last_name") == ""
    assert 'value="yesterday"' in text
    assert "of numbers" in text


PERSONAL = ("date_of_birth", "gender", "marital_status")


def test_form_requires_only_the_names_and_the_api_all_properties(
    reader: Reader, ada: Person
) -> None:
    names = {**FIELDS, **dict.fromkeys(PERSONAL, "")}
    assert said(reader.send("/profile/make", **names)) == "Profile saved."
    assert [profile_of(ada)[name] for name in PERSONAL] == [None, None, None]
    reader.send("/profile", **FIELDS)
    assert profile_of(ada)["gender"] == "female"
    reader.send("/profile", **{**FIELDS, "gender": ""})
    assert profile_of(ada)["gender"] is None
    assert fault_of(reader.refused("/profile", 422, **{**FIELDS, "last_name": ""}), "last_name")
    ada.api().delete("/profiles")
    missing = ada.api().post("/profiles", 422, json={"first_name": "Ada", "last_name": "L"})
    assert missing.faults == [f"json:{name}" for name in PERSONAL]


def test_setting_decides_what_the_form_requires(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(PROFILES__FORM_REQUIRED='["city", "phone"]')
    reader = Reader(app, person("ada", into=app))
    text = reader.refused("/profile/make", 422, **dict.fromkeys(FIELDS, ""))
    assert [name for name in FIELDS if fault_of(text, name)] == ["phone", "city"]
    reader.send("/profile/make", **{**dict.fromkeys(FIELDS, ""), "city": "London", "phone": "1"})


def test_what_clients_keep_there_stays_as_it_is(reader: Reader, ada: Person) -> None:
    others = {"favourite_engine": "analytical", "settings": {"beta": True}}
    ada.api().post("/profiles", json={**FIELDS, "bio": "x", **others})
    text = visible(reader.get("/profile"))
    assert "favourite_engine analytical" in text
    assert '{"beta":true}' in text
    reader.send("/profile", **{**FIELDS, "city": "Ockham", "country": "England"})
    profile = profile_of(ada)
    assert (profile["city"], profile["country"]) == ("Ockham", "England")
    assert {name: profile[name] for name in others} == others
    reader.send("/profile", **{**FIELDS, "city": ""})
    assert profile_of(ada)["city"] is None


def test_it_is_deleted(reader: Reader, ada: Person) -> None:
    reader.send("/profile/make", **FIELDS)
    assert said(reader.send("/profile/delete")) == "Profile deleted."
    ada.api().get("/profiles", 404)


def test_a_picture_is_shown_and_removed(reader: Reader, ada: Person) -> None:
    reader.send("/profile/make", **FIELDS)
    assert "/profile/picture/remove" not in reader.get("/profile")
    reader.post("/profile/picture", data={"avatar": (picture(), "me.png")})
    text = reader.get("/profile")
    assert said(text) == "Picture saved."
    name = profile_of(ada)["avatar"].rpartition("/")[2]
    assert text.count(f'src="/api/v1/profiles/avatars/{name}"') == 2
    assert said(reader.send("/profile/picture/remove")) == "Picture removed."
    assert profile_of(ada)["avatar"] is None


@pytest.mark.parametrize(
    ("content", "status", "fault"),
    [
        (b"no picture", 422, "Not a PNG, JPEG, WebP or GIF picture."),
        (b"", 422, "The file is empty."),
        (b"x" * (5 * 1024 * 1024 + 1), 413, "The picture is larger than 5 MiB."),
        (b"x" * (6 * 1024 * 1024), 413, "The picture is larger than 5 MiB."),
    ],
)
def test_what_is_no_picture_is_refused_at_the_field(
    reader: Reader, content: bytes, status: int, fault: str
) -> None:
    reader.send("/profile/make", **FIELDS)
    sent = {"avatar": (io.BytesIO(content), "me.png")}
    answer = reader.post("/profile/picture", status, data=sent)
    assert fault_of(answer.get_data(as_text=True), "avatar") == fault


def test_a_form_without_a_file_is_refused_at_the_field(reader: Reader) -> None:
    reader.send("/profile/make", **FIELDS)
    text = reader.refused("/profile/picture", 422)
    assert fault_of(text, "avatar") == "This field is required."


class HostsProfile(Schema):
    """Of a host with properties and wishes of its own."""

    nickname = Text(min=1, max=20, required=True, metadata={"title": "What friends say"})
    first_name = Text(max=100)
    size = fields.String(required=True, validate=validate.OneOf(["S", "M", "L"]))
    shoe_size = fields.Integer()
    newsletter = fields.Boolean()
    tags = fields.List(fields.String())


def test_the_fields_are_those_of_the_schema_in_force() -> None:
    groups = {group.title: group.fields for group in field_groups(HostsProfile())}
    assert [field.name for field in groups["Name"]] == ["first_name"]
    assert [
        (field.name, field.label, field.type, field.required, field.choices)
        for field in groups["More"]
    ] == [
        ("nickname", "What friends say", "text", True, []),
        ("size", "Size", "text", True, ["S", "M", "L"]),
        ("shoe_size", "Shoe size", "number", False, []),
        ("newsletter", "Newsletter", "checkbox", False, []),
    ]


def test_ours_are_all_there_save_the_picture() -> None:
    found = [field.name for group in field_groups(ProfileCreate()) for field in group.fields]
    assert sorted(found) == sorted(set(ProfileCreate().load_fields) - {"avatar"})


@pytest.mark.parametrize("action", ["", "/make", "/delete", "/picture", "/picture/remove"])
def test_nobody_does_anything(app: Flask, action: str) -> None:
    answer = Reader(app).post(f"/profile{action}")
    assert answer.headers["Location"].startswith("/sign-in")
