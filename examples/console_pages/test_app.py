from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_frontdesk.testing import PASSWORD, Kit, Person

from app import Note, create_app, db

OWN = {"Sec-Fetch-Site": "same-origin"}
SignedIn = Callable[[Person], FlaskClient]


@pytest.fixture
def app() -> Flask:
    app = create_app("sqlite://")
    app.debug = True  # cookies without TLS
    return app


@pytest.fixture
def signed_in(app: Flask) -> SignedIn:
    def sign_in(account: Person) -> FlaskClient:
        client = app.test_client()
        form = {"email": account.email, "password": PASSWORD}
        assert client.post("/console/sign-in", data=form, headers=OWN).status_code == 303
        return client

    return sign_in


def pin_note(app: Flask, account: Person, text: str) -> None:
    with app.app_context():
        db.session.add(Note(account_id=account.id, text=text))
        db.session.commit()


def test_user_sees_only_own_notes(app: Flask, frontdesk: Kit, signed_in: SignedIn) -> None:
    ada, bob = frontdesk.account("ada"), frontdesk.account("bob")
    pin_note(app, ada, "Milk is out")
    page = signed_in(ada).get("/console/notes").text
    assert "Milk is out" in page
    assert "Pinboard" in page
    assert 'href="/console/dashboard"' in page
    assert "Notes to review" not in page
    assert "Milk is out" not in signed_in(bob).get("/console/notes").text


def test_input_is_shown_again_after_the_session_has_ended(
    app: Flask, frontdesk: Kit, signed_in: SignedIn
) -> None:
    ada = frontdesk.account("ada")
    browser = signed_in(ada)
    form = {"text": "Milk is out"}
    page = {**OWN, "Referer": "http://localhost/console/notes"}
    assert (
        "Milk is out"
        in browser.post("/console/notes/new", data=form, headers=OWN, follow_redirects=True).text
    )
    other_browser = signed_in(ada)
    assert other_browser.post("/console/security/sessions", headers=OWN).status_code == 303
    form["text"] = "Water the plants"
    ended = browser.post("/console/notes/new", data=form, headers=page)
    assert ended.headers["Location"] == "/console/sign-in?next=/console/notes"
    sign_in = {"email": ada.email, "password": PASSWORD}
    assert browser.post("/console/sign-in", data=sign_in, headers=OWN).status_code == 303
    notes = browser.get("/console/notes").text
    assert 'value="Water the plants"' in notes
    assert "You were signed out before your changes were saved." in notes


def test_admin_approves_a_note_and_the_author_is_notified(
    app: Flask, frontdesk: Kit, signed_in: SignedIn
) -> None:
    ada, grace = frontdesk.account("ada"), frontdesk.account("grace", role="admin")
    pin_note(app, ada, "Milk is out")
    browser = signed_in(grace)
    assert "Milk is out" in browser.get("/console/review").text
    assert browser.post("/console/review/1", headers=OWN).status_code == 303
    assert "No notes to review" in browser.get("/console/review").text
    inbox = signed_in(ada).get("/console/dashboard").text
    assert "Everyone sees your note: Milk is out." in inbox


def test_only_admins_approve_notes(app: Flask, frontdesk: Kit, signed_in: SignedIn) -> None:
    ada = frontdesk.account("ada")
    pin_note(app, ada, "Milk is out")
    response = app.test_client().get("/console/notes")
    assert response.headers["Location"] == "/console/sign-in?next=/console/notes"
    mine = signed_in(ada)
    assert mine.get("/console/review").status_code == 403
    assert mine.post("/console/review/1", headers=OWN).status_code == 403
    other_site = {"Sec-Fetch-Site": "cross-site"}
    assert (
        signed_in(frontdesk.account("grace", role="admin"))
        .post("/console/review/1", headers=other_site)
        .status_code
        == 403
    )


def test_sign_in_opens_the_notes(app: Flask, frontdesk: Kit, signed_in: SignedIn) -> None:
    ada = signed_in(frontdesk.account("ada"))
    assert ada.get("/console/").headers["Location"] == "/console/notes"


def test_message_is_shown_after_a_note_was_pinned(
    app: Flask, frontdesk: Kit, signed_in: SignedIn
) -> None:
    ada = signed_in(frontdesk.account("ada"))
    ada.post("/console/notes/new", data={"text": "Milk is out"}, headers=OWN)
    assert "<p>Pinned.</p>" in ada.get("/console/notes").text


def test_admin_sees_own_entries_and_no_hidden_ones(
    app: Flask, frontdesk: Kit, signed_in: SignedIn
) -> None:
    pin_note(app, frontdesk.account("ada"), "Milk is out")
    grace = signed_in(frontdesk.account("grace", role="root"))
    page = grace.get("/console/admin/accounts").text
    entries = page.partition("<nav")[2].partition("</nav>")[0]
    titles = re.findall(r"</svg>([^<]+)", entries)
    assert titles[0] == "Notes"
    assert titles[titles.index("Overview") - 1] == "Notes to review"
    assert titles[-1] == "Handbook"
    assert re.search(r"Notes to review<[^>]*>1<", entries)
    assert not {"Emails", "Settings"} & {*titles}
    assert grace.get("/console/admin/settings").status_code == 404


def test_page_of_an_account_has_its_notes(app: Flask, frontdesk: Kit, signed_in: SignedIn) -> None:
    ada = frontdesk.account("ada")
    pin_note(app, ada, "Milk is out")
    grace = signed_in(frontdesk.account("grace", role="admin"))
    page = f"/console/admin/accounts/{ada.id}"
    assert "Milk is out" not in grace.get(page).text
    assert "Milk is out" in grace.get(f"{page}?tab=Notes of the account").text


def test_pages_have_the_brand_the_banner_and_the_footer(
    app: Flask, frontdesk: Kit, signed_in: SignedIn
) -> None:
    page = signed_in(frontdesk.account("ada")).get("/console/notes").text
    assert '<img class="logo" src="/static/logo.svg" alt="Pinboard"' in page
    assert '<link rel="icon" href="/static/icon.svg">' in page
    assert "Test system" in page
    assert "Imprint" in page
    visitor = app.test_client()
    assert "Test system" in visitor.get("/console/sign-in").text
    for name in re.findall(r'(?:href|src)="(/static/[^"]+)"', page):
        assert visitor.get(name).status_code == 200
