"""Errors on pages: plain sentences with the labels of fields, and no raw texts of the API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from flask import Flask
from jinja2 import Undefined
from markupsafe import Markup

from app.console.error_texts import field_error, labeled_error, message_for
from app.console.forms import FormState
from app.core.coded_messages import ValidationMessage
from app.core.errors import Conflict, Fault, Invalid, NotFound, Unavailable
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.console.requests import ask, path_of
from ..rigs.console.routes import page_routes
from ..rigs.console.world import World
from .page_client import PageClient
from .page_reader import PageReader, visible_text

# Texts of marshmallow and names of fields, which only developers understand.
RAW = re.compile(
    r"Length must be|Missing data|Not a valid (string|integer|list|datetime)|may not be null"
    r"|\b(slug|typed|data\.title|mfa_token|login_id|account_receiver_ids|created_after)\b"
)


@pytest.fixture
def reader(app: Flask, ada: Person) -> PageReader:
    return PageReader(app, ada)


@pytest.mark.parametrize(
    ("code", "params", "text"),
    [
        ("required", {}, "This field is required."),
        ("too_short", {"min": 1}, "This field is required."),
        ("too_short", {"min": 8}, "Enter at least 8 characters."),
        ("too_long", {"max": 20}, "Enter at most 20 characters."),
        ("out_of_range", {"min": 1, "max": 9}, "Enter a number from 1 to 9."),
        ("out_of_range", {"min": 1}, "The number is out of range."),
        ("invalid_format", {"expected": "datetime"}, "Enter a valid date."),
        ("invalid_format", {"expected": "tune"}, "The text of the API."),
        ("not_one_of", {"choices": ["owner", "admin"]}, "Choose one of the options."),
        ("invalid", {}, "The text of the API."),
    ],
)
def test_code_of_a_fault_becomes_a_plain_sentence(
    app: Flask, code: str, params: Mapping[str, Any], text: str
) -> None:
    with app.test_request_context():
        assert field_error(Fault("form", "name", "The text of the API.", code, params)) == text


def test_message_of_an_application_is_shown(app: Flask) -> None:
    message = ValidationMessage("Say your name.", "required")
    with app.test_request_context():
        assert field_error(Fault.of("form", "name", message)) == "Say your name."


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("slug", "Address: This field is required."),
        ("data.title", "Title: This field is required."),
        ("favourite_engine", "Favourite engine: This field is required."),
        ("mfa_token", "This page is incomplete or has expired. Start again."),
        ("credential.response", "The browser sent no valid passkey. Try again."),
        ("", "This field is required."),
    ],
)
def test_error_outside_of_its_field_has_the_label(app: Flask, field: str, text: str) -> None:
    with app.test_request_context():
        assert labeled_error(Fault("form", field, "Missing.", "required")) == text


def test_form_lists_errors_of_fields_that_it_does_not_show(app: Flask) -> None:
    faults = [Fault("form", name, "Long.", "too_long", {"max": 9}) for name in ("name", "slug")]
    with app.test_request_context():
        state = FormState(Invalid(faults=faults))
        assert state.error("name") == "Enter at most 9 characters."
        assert state.message == "Check the fields below."
        assert state.other_errors == ["Address: Enter at most 9 characters."]
        assert FormState(Invalid(faults=faults)).message == "Some values are invalid."


FORMS: Mapping[str, Mapping[str, str]] = {
    "/workspaces/new": {"name": "", "slug": "Not This"},
    "/account": {"phone": "x", "locale": "?", "time_zone": "?"},
    "/profile/make": {"first_name": "x" * 200},
    "/security/password": {},
    "/security/email": {},
    "/invitation": {},
}


@pytest.mark.parametrize("path", FORMS)
def test_rejected_form_shows_no_raw_text_of_the_api(reader: PageReader, path: str) -> None:
    assert not RAW.search(visible_text(reader.send_rejected(path, 422, **FORMS[path])))


def test_broadcast_without_a_count_shows_a_plain_sentence(world: World) -> None:
    admin = world.site.cookie_of(world.people["admin"])
    form = {"data.title": "Hi", "data.message": "Hello", "audience": "everyone", "typed": "7"}
    answer = ask(world.site.app, "POST", "/admin/broadcasts", admin, data=form)
    assert answer.status_code == 422
    assert "Wait until the recipients are counted." in answer.text
    assert not RAW.search(visible_text(answer.text))


class OutOfStock(Conflict):
    code = "out_of_stock"
    detail = "The shop has no kettles"


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (NotFound(), "Not found."),
        (Conflict(), "The data was changed at the same time. Reload the page and try again."),
        (Conflict("The kettle is sold"), "The kettle is sold."),
        (OutOfStock(), "The shop has no kettles."),
        (
            Unavailable("The bucket refused"),
            "This is temporarily unavailable. Try again in a moment.",
        ),
        (Unavailable(Markup("Closed on Sundays.")), "Closed on Sundays."),
    ],
)
def test_problem_becomes_a_plain_sentence(app: Flask, problem: Any, text: str) -> None:
    with app.test_request_context():
        assert message_for(problem) == text


@pytest.mark.parametrize(
    ("support", "days", "text"),
    [
        ("", None, "Your account is suspended. Contact support."),
        ("help@example.com", None, "Your account is suspended. Contact help@example.com."),
        ("help@example.com", 3, "Your account is suspended until {day}. Contact help@example.com."),
    ],
)
def test_suspended_account_sees_the_end_and_the_contact(
    make_app: MakeApp,
    person: MakePerson,
    clock: SteppingClock,
    support: str,
    days: int | None,
    text: str,
) -> None:
    app = make_app(BRAND__SUPPORT_EMAIL=support)
    mallory = person("mallory", into=app)
    signed_in = PageClient(app)
    signed_in.sign_in(mallory.email, mallory.password)
    admin = person("boss", into=app, role="admin").api()
    suspension: dict[str, Any] = {"status": "suspended"}
    day = ""
    if days is not None:
        until = clock.now().replace(month=6, day=1 + days, year=clock.now().year + 1)
        suspension["suspended_until"] = until.isoformat()
        day = f"{until:%-d %b %Y}"
    admin.patch(f"/admin/accounts/{mallory.id}", json=suspension)
    assert text.format(day=day) in signed_in.open("/dashboard").text
    assert text.format(day=day) in PageClient(app).sign_in(mallory.email, mallory.password).text


def test_deactivated_account_sees_that_it_is_not_active(app: Flask, person: MakePerson) -> None:
    mallory = person("mallory", status="inactive")
    page = PageClient(app).sign_in(mallory.email, mallory.password)
    assert "Your account is not active. Contact support." in page.text


class UnknownAttribute(Undefined):
    """An undefined value of a template, which must not be an attribute of an object."""

    def __init__(self, hint: str | None = None, obj: Any = None, name: Any = None, **more: Any):
        super().__init__(hint, obj, name, **more)
        is_optional = (
            obj is None or isinstance(obj, (Mapping, tuple)) or not str(name).isidentifier()
        )
        assert is_optional or type(obj).__module__.startswith("jinja2"), f"{obj!r} has no {name}"


def test_templates_read_only_attributes_that_exist(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.console.resources.Undefined", UnknownAttribute)
    for who in ("admin", "root", "owner"):
        cookie = world.site.cookie_of(world.people[who])
        for route in page_routes():
            answer = ask(world.site.app, "GET", path_of(world, route), cookie)
            assert answer.status_code < 500, route.path


@pytest.mark.parametrize(("path", "status"), [("/admin", 403), ("/workspaces/none", 404)])
def test_missing_pages_keep_the_navigation_of_a_signed_in_user(
    reader: PageReader, path: str, status: int
) -> None:
    text = reader.get(path, status)
    assert 'href="/account"' in text.partition("<main")[0]
    assert f"Error {status}" in visible_text(text)


@pytest.mark.parametrize(
    ("links", "shown"),
    [
        ("{}", ["Help"]),
        ('{"Help": "https://h.example", "Terms": "https://t.example"}', ["Help", "Terms"]),
    ],
)
def test_footer_of_visitors_has_help_once(make_app: MakeApp, links: str, shown: list[str]) -> None:
    app = make_app(BRAND__SUPPORT_EMAIL="help@example.com", BRAND__LINKS=links)
    page = PageClient(app).open("/forgot")
    assert [text for text in page.texts if text in ("Help", "Terms")] == shown
