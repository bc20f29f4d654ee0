"""Personal fields of a broadcast on the pages that write, check and send it."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.testing.people import Person

from ..conftest import MakePerson, only_on
from ..profiles.test_profiles import ADA
from .page_reader import PageReader, error_of, hidden_fields, visible_text

pytestmark = only_on("sqlite")

PATH = "/admin/broadcasts"
DRAFT = {
    "data.title": "Hello {{ first_name|you }}",
    "data.message": "Your address is {{ email }}.",
    "data.channels": ["email", "sms"],
    "audience": "filtered",
    "status": "active",
    "role": "user",
}


@pytest.fixture
def app(make_app: Any) -> Flask:
    made: Flask = make_app(AUTH__COOKIE_SESSIONS="on")
    return made


@pytest.fixture
def admin(app: Flask, person: MakePerson) -> PageReader:
    return PageReader(app, person("boss", role="admin"))


@pytest.fixture
def people(admin: PageReader, person: MakePerson) -> list[Person]:
    people = [person(f"ada{number}") for number in range(4)]
    people[0].api().post("/profiles", json={**ADA, "first_name": "<b>Ada"})
    return people


def test_unknown_field_is_refused_by_its_name(admin: PageReader) -> None:
    form = {**DRAFT, "step": "check", "data.title": "{{ age }}", "data.message": "Hello {{ x"}
    refused = admin.send_rejected(f"{PATH}/new", 422, **form)
    assert error_of(refused, "data-title").startswith("The field age does not exist. Fields: fir")
    assert "{{ first_name|there }}" in error_of(refused, "data-message")
    for path in ("test", "reach"):
        admin.post(f"{PATH}/{path}", 422, data=form)


def test_check_shows_the_message_of_three_recipients_escaped(
    admin: PageReader, people: list[Person]
) -> None:
    checked = admin.post(f"{PATH}/new", 200, data={**DRAFT, "step": "check", "count": "1"}).text
    shown = visible_text(checked)
    for person, name in zip(people[:3], ("<b>Ada", "you", "you"), strict=True):
        assert f"For {person.email} Hello {name} Your address is {person.email}." in shown
    assert people[3].email not in checked
    assert "<b>Ada" not in checked
    assert "The length varies by recipient." in shown
    form = hidden_fields(checked, f"{PATH}/mail")
    mail = admin.post(f"{PATH}/mail", 200, data={**DRAFT, **form}).text
    assert "Hello &lt;b&gt;Ada" in mail
    assert f"Your address is {people[0].email}." in mail


def test_broadcast_is_sent_with_the_names_of_its_recipients(
    admin: PageReader, people: list[Person]
) -> None:
    checked = admin.post(f"{PATH}/new", 200, data={**DRAFT, "step": "check", "count": "1"}).text
    page = admin.send(PATH, **{**DRAFT, **hidden_fields(checked, PATH)})
    assert "Hello {{ first_name|you }}" in page
    titles = [each.api().get("/notifications/").json[0]["title"] for each in people]
    assert titles == ["Hello <b>Ada", "Hello you", "Hello you", "Hello you"]
    nowhere = {**DRAFT, "step": "check", "status": "suspended"}
    assert "For boss@" in visible_text(admin.post(f"{PATH}/new", 200, data=nowhere).text)
