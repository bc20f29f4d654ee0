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
from .page_reader import PageReader, error_of, notice_of, visible_text

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
def reader(app: Flask, ada: Person) -> PageReader:
    return PageReader(app, ada)


def profile_of(ada: Person) -> dict[str, Any]:
    found: dict[str, Any] = ada.api().get("/profiles").json
    return found


def picture(size: tuple[int, int] = (40, 30)) -> io.BytesIO:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, "PNG")
    file.seek(0)
    return file


def test_profile_is_created(reader: PageReader, ada: Person) -> None:
    text = reader.get("/profile")
    assert "You have no profile yet" in visible_text(text)
    assert "/profile/picture" not in text
    assert notice_of(reader.send("/profile/make", **FIELDS)) == "Profile saved."
    profile = profile_of(ada)
    assert profile["bio"] == "Enchantress\nof numbers"
    assert profile["city"] == "London"
    assert profile["phone"] is None


def test_errors_are_shown_at_their_fields_and_input_is_kept(reader: PageReader) -> None:
    reader.get("/profile")
    wrong = {**FIELDS, "first_name": "", "date_of_birth": "yesterday", "city": "x" * 101}
    text = reader.send_rejected("/profile/make", 422, **wrong)
    assert error_of(text, "first_name")
    assert error_of(text, "date_of_birth") == "Enter a valid date."
    assert error_of(text, "city") == "Enter at most 100 characters."
    assert error_of(text, "last_name") == ""
    assert 'value="yesterday"' in text
    assert "of numbers" in text


PERSONAL = ("date_of_birth", "gender", "marital_status")


def test_form_requires_only_the_names_and_the_api_all_properties(
    reader: PageReader, ada: Person
) -> None:
    names = {**FIELDS, **dict.fromkeys(PERSONAL, "")}
    assert notice_of(reader.send("/profile/make", **names)) == "Profile saved."
    assert [profile_of(ada)[name] for name in PERSONAL] == [None, None, None]
    reader.send("/profile", **FIELDS)
    assert profile_of(ada)["gender"] == "female"
    reader.send("/profile", **{**FIELDS, "gender": ""})
    assert profile_of(ada)["gender"] is None
    assert error_of(
        reader.send_rejected("/profile", 422, **{**FIELDS, "last_name": ""}), "last_name"
    )
    ada.api().delete("/profiles")
    missing = ada.api().post("/profiles", 422, json={"first_name": "Ada", "last_name": "L"})
    assert missing.faults == [f"json:{name}" for name in PERSONAL]


def test_setting_decides_what_the_form_requires(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(PROFILES__FORM_REQUIRED='["city", "phone"]')
    reader = PageReader(app, person("ada", into=app))
    text = reader.send_rejected("/profile/make", 422, **dict.fromkeys(FIELDS, ""))
    assert [name for name in FIELDS if error_of(text, name)] == ["phone", "city"]
    reader.send("/profile/make", **{**dict.fromkeys(FIELDS, ""), "city": "London", "phone": "1"})


def test_properties_of_clients_stay_unchanged(reader: PageReader, ada: Person) -> None:
    others = {"favourite_engine": "analytical", "settings": {"beta": True}}
    ada.api().post("/profiles", json={**FIELDS, "bio": "x", **others})
    text = visible_text(reader.get("/profile"))
    assert "favourite_engine analytical" in text
    assert '{"beta":true}' in text
    reader.send("/profile", **{**FIELDS, "city": "Ockham", "country": "England"})
    profile = profile_of(ada)
    assert (profile["city"], profile["country"]) == ("Ockham", "England")
    assert {name: profile[name] for name in others} == others
    reader.send("/profile", **{**FIELDS, "city": ""})
    assert profile_of(ada)["city"] is None


def test_profile_is_deleted(reader: PageReader, ada: Person) -> None:
    reader.send("/profile/make", **FIELDS)
    assert notice_of(reader.send("/profile/delete")) == "Profile deleted."
    ada.api().get("/profiles", 404)


def test_picture_is_shown_and_removed(reader: PageReader, ada: Person) -> None:
    reader.send("/profile/make", **FIELDS)
    assert "/profile/picture/remove" not in reader.get("/profile")
    reader.post("/profile/picture", data={"avatar": (picture(), "me.png")})
    text = reader.get("/profile")
    assert notice_of(text) == "Picture saved."
    name = profile_of(ada)["avatar"].rpartition("/")[2]
    assert text.count(f'src="/api/v1/profiles/avatars/{name}"') == 2
    assert notice_of(reader.send("/profile/picture/remove")) == "Picture removed."
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
def test_invalid_picture_is_reported_at_its_field(
    reader: PageReader, content: bytes, status: int, fault: str
) -> None:
    reader.send("/profile/make", **FIELDS)
    sent = {"avatar": (io.BytesIO(content), "me.png")}
    answer = reader.post("/profile/picture", status, data=sent)
    assert error_of(answer.get_data(as_text=True), "avatar") == fault


def test_missing_picture_is_reported_at_its_field(reader: PageReader) -> None:
    reader.send("/profile/make", **FIELDS)
    text = reader.send_rejected("/profile/picture", 422)
    assert error_of(text, "avatar") == "This field is required."


class HostsProfile(Schema):
    """The schema of an application with its own properties."""

    nickname = Text(min=1, max=20, required=True, metadata={"title": "What friends say"})
    first_name = Text(max=100)
    size = fields.String(required=True, validate=validate.OneOf(["S", "M", "L"]))
    shoe_size = fields.Integer()
    newsletter = fields.Boolean()
    tags = fields.List(fields.String())


def test_form_has_the_fields_of_the_schema() -> None:
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


def test_form_has_all_built_in_fields_except_the_picture() -> None:
    found = [field.name for group in field_groups(ProfileCreate()) for field in group.fields]
    assert sorted(found) == sorted(set(ProfileCreate().load_fields) - {"avatar"})


@pytest.mark.parametrize("action", ["", "/make", "/delete", "/picture", "/picture/remove"])
def test_forms_redirect_anonymous_visitors_to_sign_in(app: Flask, action: str) -> None:
    answer = PageReader(app).post(f"/profile{action}")
    assert answer.headers["Location"].startswith("/sign-in")
