"""The first steps after the installation, on the overview of root."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.testing.database import noted_queries

from ..conftest import MakeApp, MakePerson, Person
from .page_reader import PageReader, visible_text

ALL = ("Email server", "Keys", "Second admin", "Brand", "First broadcast")


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional")


@pytest.fixture
def root(person: MakePerson) -> Person:
    return person("root", role="root")


@pytest.fixture
def reader(app: Flask, root: Person) -> PageReader:
    return PageReader(app, root)


def steps(reader: PageReader) -> dict[str, bool]:
    """Return whether each step is done."""
    page = reader.get("/admin")
    found = re.findall(r"<li><span[^>]*>(Done|To do)</span><div><b>([^<]*)</b>", page)
    done = [name for state, name in found if state == "Done"]
    assert not found or f"{len(done)} of {len(found)} steps are done." in visible_text(page)
    return {name: state == "Done" for state, name in found}


def test_steps_of_a_new_service_are_open(reader: PageReader) -> None:
    assert steps(reader) == dict.fromkeys(ALL, False)
    page = reader.get("/admin")
    for path in re.findall(r'href="([^"]*)"', page.partition("<ol")[2].partition("</ol>")[0]):
        reader.get(path)


def test_second_admin_and_first_broadcast_are_found(
    reader: PageReader, root: Person, person: MakePerson
) -> None:
    person("ada")
    assert not steps(reader)["Second admin"]
    person("grace", role="admin")
    assert steps(reader)["Second admin"]
    assert not steps(reader)["First broadcast"]
    sent = {"title": "Hours", "message": "New ones", "channels": ["inapp"]}
    root.api().post("/admin/notifications", 201, json={"data": sent})
    assert steps(reader)["First broadcast"]


@pytest.mark.parametrize(
    ("step", "settings"),
    [
        ("Email server", {"MAIL_SERVER": "mail.example.com"}),
        ("Keys", {"AUTH__MFA": "off"}),
        ("Brand", {"BRAND__NAME": "Harbour"}),
    ],
)
def test_settings_finish_a_step(
    make_app: MakeApp, person: MakePerson, step: str, settings: dict[str, str]
) -> None:
    app = make_app(**{"AUTH__MFA": "optional", **settings})
    found = steps(PageReader(app, person("boss", role="root", into=app)))
    assert [name for name in ALL if found[name]] == [step]


def test_finished_list_is_not_shown(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(MAIL_SERVER="mail.example.com", BRAND__NAME="Harbour")
    root = person("boss", role="root", into=app)
    person("grace", role="admin", into=app)
    sent = {"title": "Hours", "message": "New ones", "channels": ["inapp"]}
    reader = PageReader(app, root)
    assert list(steps(reader).values()) == [True] * 4 + [False]
    root.api().post("/admin/notifications", 201, json={"data": sent})
    assert steps(reader) == {}


def test_list_can_be_hidden_in_a_browser(app: Flask, reader: PageReader, root: Person) -> None:
    with noted_queries(app) as shown:
        assert steps(reader)
    page = reader.send("/admin/first-steps/hide")
    assert reader.here == "/admin"
    assert "Set up your service" not in visible_text(page)
    with noted_queries(app) as hidden:
        assert steps(reader) == {}
    assert len(shown) == len(hidden) + 2
    assert steps(PageReader(app, root))


def test_other_admins_do_not_see_the_list(
    app: Flask, reader: PageReader, person: MakePerson
) -> None:
    assert steps(PageReader(app, person("grace", role="admin"))) == {}
    PageReader(app, person("ada")).post("/admin/first-steps/hide", 403)
