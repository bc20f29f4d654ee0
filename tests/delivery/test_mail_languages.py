"""The language of an email: the recipient's, otherwise the browser's, otherwise the default."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po
from flask import Flask

from app.core import translations as catalogs
from app.core.context import service
from app.delivery.mail.channel import EmailRenderer
from app.delivery.mail.templates import Templates
from app.delivery.message import Email, StoredMessage

from ..conftest import MakeApp, MakePerson
from ..rigs.cases import for_each
from .test_mail_templates import host_with

GERMAN = {
    "reset your password": "Passwort zurücksetzen",
    "Reset your password": "Neues Passwort",
    "Hello {username},": "Guten Tag {username},",
    "Questions? {link}": "Fragen? {link}",
    "Open": "Öffnen",
    "You can keep it until {deletes_on}.": "Behalten bis {deletes_on}.",
    "{day} {month} {year}": "{day}. {month} {year}",
    "Jan": "Jänner",
}


@pytest.fixture(autouse=True)
def _translations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for language in ("de", "ar"):
        catalog = Catalog(locale=language)
        for text, translated in GERMAN.items():
            catalog.add(text, translated)
        file = tmp_path / "languages" / language / "LC_MESSAGES" / "emails.po"
        file.parent.mkdir(parents=True)
        with file.open("wb") as out:
            write_po(out, catalog)
    monkeypatch.setattr(catalogs, "BUILT_IN", tmp_path / "languages")
    catalogs.available_languages.cache_clear()
    catalogs._load.cache_clear()
    yield
    catalogs.available_languages.cache_clear()
    catalogs._load.cache_clear()


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(BRAND__SUPPORT_EMAIL="help@example.com")


def recovery(app: Flask, to: str, browser: str = "") -> Email:
    with app.test_request_context(headers={"Accept-Language": browser}):
        values: dict[str, Any] = {"token": "t", "code": "0", "code_minutes": 5, "token_hours": 48}
        topic = "reset your password"
        return service(Templates).to_account("reset_password", to, topic, path="/r", **values)


def broadcast(app: Flask, locale: str | None) -> Email:
    message = StoredMessage(id=1, title="Closed", message="Today", created_at=datetime.now(UTC))
    with app.app_context():
        templates = service(Templates)
        language = templates.language_for(locale)
        renderer = EmailRenderer(templates, message, "https://a.example", language)
        return renderer.render("ada@example.com")


def test_email_has_the_language_of_the_account(app: Flask, person: MakePerson) -> None:
    ada = person("ada", locale="de-AT")
    mail = recovery(app, ada.email, "fr")
    assert mail.subject == "Frontdesk: Passwort zurücksetzen"
    assert '<html lang="de" dir="ltr">' in mail.html
    assert f"Guten Tag {ada.email}," in mail.text
    assert "Fragen? help@example.com" in mail.text


def test_email_without_an_account_has_the_language_of_the_browser(app: Flask) -> None:
    assert "Guten Tag" in recovery(app, "new@example.com", "fr, de;q=0.5").text
    assert "Hello new@example.com," in recovery(app, "new@example.com", "fr").text


def test_default_language_is_a_setting(make_app: MakeApp) -> None:
    app = make_app(CORE__LANGUAGE="de")
    assert "Guten Tag" in recovery(app, "new@example.com", "fr").text
    assert "Hello" in recovery(app, "new@example.com", "en").text
    assert "Öffnen" in broadcast(app, None).html


def test_background_delivery_has_the_language_of_the_account(app: Flask) -> None:
    german = broadcast(app, "de")
    assert "Öffnen" in german.html
    assert german.text.endswith("Fragen? help@example.com\n")
    assert "Open" in broadcast(app, None).html


def test_arabic_email_is_written_from_right_to_left(app: Flask, person: MakePerson) -> None:
    mail = recovery(app, person("ada", locale="ar").email)
    assert '<html lang="ar" dir="rtl">' in mail.html
    assert "text-align: right" in mail.html
    # Values are isolated from the direction of the sentence.
    assert "\u2068ada" in mail.text


def test_date_is_written_in_the_language_of_the_email(app: Flask, person: MakePerson) -> None:
    ada, bob = person("ada", locale="de"), person("bob")
    with app.app_context():
        in_german, in_english = (
            service(Templates).to_account(
                "deletion_requested",
                each.email,
                "your account will be deleted",
                path="/keep",
                token="t",
                deletes_on=date(2030, 1, 15),
            )
            for each in (ada, bob)
        )
    assert "Behalten bis 15. Jänner 2030." in in_german.html
    assert "deleted on 15 Jan 2030." in in_english.text


@for_each(
    ("text", "written"),
    [
        ("{day}", "15. Jänner 2030"),
        ("{day:%d.%m.%Y}", "15.01.2030"),
        ("{day.year}", "2030"),
        ("{at}", "2030-01-15 09:30:00"),
        ("{at:%H:%M}", "09:30"),
    ],
)
def test_application_chooses_the_format_of_a_date_or_time(text: str, written: str) -> None:
    host = host_with({"visit.html": f'{{{{ translate("Visit: {text}.", day=day, at=at) }}}}'})
    values = {"day": date(2030, 1, 15), "at": datetime(2030, 1, 15, 9, 30)}
    with host.test_request_context():
        mail = service(Templates).email("ada@example.com", "Visit", "visit", "de", **values)
    assert mail.html == f"Visit: {written}."


def test_date_in_arabic_is_isolated_from_the_direction_of_the_sentence(app: Flask) -> None:
    with app.app_context():
        translate = service(Templates).translator("ar")
        assert translate("On {day}.", day=date(2030, 1, 15)) == "On \u206815. Jänner 2030\u2069."
