"""The texts of the pages come from catalogs: a translation is a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask import Flask
from flask.testing import FlaskClient

from app.console import texts
from app.console.page_globals import percent
from app.core import translations as catalogs
from scripts.texts import extract

from ..conftest import MakeApp, MakePerson
from ..rigs.console.requests import ask
from ..rigs.cookie_browsers import CookieBrowser
from .page_reader import PageReader

# Texts without letters need no translation.
_NO_WORDS = re.compile(r"[\W\d_]*")
# Data is not translated: email addresses, names, initials, user agents and values of events.
# The findings of the doctor are for operators, in English like the commands.
_DATA = re.compile(
    r"@|Frontdesk|^[rR]$|UTC|^http|Werkzeug|^root|^(proofs|password|status|role|active)$", re.ASCII
)
PAGES = (
    "/sign-in",
    "/forgot",
    "/register",
    "/dashboard",
    "/profile",
    "/account",
    "/security",
    "/workspaces",
    "/admin/accounts",
    "/admin/broadcasts",
    "/admin/broadcasts/new",
    "/admin/events",
)


@pytest.fixture
def translations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "translations"
    monkeypatch.setattr(catalogs, "BUILT_IN", folder)
    for kept in (catalogs.available_languages, catalogs._load):
        kept.cache_clear()
    yield folder
    for kept in (catalogs.available_languages, catalogs._load):
        kept.cache_clear()


def write(folder: Path, language: str, translated: dict[str, str] | None = None) -> None:
    """Write a translation; without texts, every text is in brackets."""
    catalog = Catalog(locale=language)
    for message in read_po(BytesIO(extract("console"))):
        if message.id:
            _translate(catalog, message, translated)
    file = folder / language / "LC_MESSAGES" / "console.mo"
    file.parent.mkdir(parents=True)
    with file.open("wb") as out:
        write_mo(out, catalog)


def _translate(catalog: Catalog, message: Message, translated: dict[str, str] | None) -> None:
    if isinstance(message.id, str):
        text = f"⟦{message.id}⟧" if translated is None else translated.get(message.id)
        if text:
            catalog.add(message.id, text, context=message.context)
    elif translated is None:
        catalog.add(message.id, [f"⟦{each}⟧" for each in message.id])


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__COOKIE_SESSIONS="on", AUTH__REGISTRATION="open")


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def test_page_uses_the_language_of_the_browser(client: FlaskClient, translations: Path) -> None:
    write(translations, "de", {"Email": "E-Mail-Adresse"})
    german = client.get("/sign-in", headers={"Accept-Language": "fr;q=0.9,de-AT;q=0.8,en;q=0.1"})
    assert "E-Mail-Adresse" in german.text
    assert '<html lang="de"' in german.text
    # Untranslated texts are in English.
    assert "Password" in german.text
    assert "E-Mail-Adresse" not in client.get("/sign-in").text


def test_only_translated_languages_are_offered(
    app: Flask, translations: Path, person: MakePerson
) -> None:
    write(translations, "de", {})
    reader = PageReader(app, person())
    options = re.findall(r'<option value="([a-zA-Z-]+)"', reader.get("/account"))
    languages = [tag for tag in options if tag != "UTC"]
    assert languages == ["de", "de-AT", "de-CH", "en", "en-GB", "en-US"]


def test_language_of_the_account_has_priority(
    app: Flask, person: MakePerson, translations: Path
) -> None:
    write(translations, "de", {"Inbox": "Posteingang"})
    ada = person("ada", locale="de")
    browser = CookieBrowser(app)
    browser.sign_in(ada)
    assert "Posteingang" in ask(app, "GET", "/dashboard", browser.cookie).text


def test_numbers_and_days_have_the_format_of_the_language(app: Flask, translations: Path) -> None:
    german = {
        "1,000": "1.000",
        "{n}%": "{n}\u00a0%",
        "{day} {month} {year}": "{day}. {month} {year}",
    }
    write(translations, "de", {**german, "Dec": "Dez."})
    formatted = {}
    for language in ("en", "de"):
        with app.test_request_context(headers={"Accept-Language": language}):
            day = texts.format_day(date(2026, 12, 5))
            formatted[language] = [texts.number(2_000_033), percent(1, 3), day]
    assert formatted["en"] == ["2,000,033", "33%", "5 Dec 2026"]
    assert formatted["de"] == ["2.000.033", "33\u00a0%", "5. Dez. 2026"]


def test_contrast_is_written_as_in_the_language(app: Flask, person: MakePerson) -> None:
    for locale, contrast in (("en", "8.7:1"), ("de", "8,7:1")):
        admin = person(f"admin-{locale}", role="admin", locale=locale)
        assert contrast in PageReader(app, admin).get("/admin/mails")


def test_text_has_a_translation_for_each_context(app: Flask) -> None:
    shown = {}
    for language in ("en", "ar"):
        with app.test_request_context(headers={"Accept-Language": language}):
            shown[language] = [texts._("Send"), texts._p("step", "Send")]
    assert shown == {"en": ["Send", "Send"], "ar": ["إرسال", "الإرسال"]}
    with app.test_request_context(headers={"Accept-Language": "es"}):
        # An account is feminine, a member is not.
        assert [texts._("Active"), texts._p("member", "Active")] == ["Activa", "Activo"]


def test_empty_text_stays_empty(app: Flask, translations: Path) -> None:
    write(translations, "de", {"Email": "E-Mail-Adresse"})
    with app.test_request_context(headers={"Accept-Language": "de"}):
        assert texts._("Email") == "E-Mail-Adresse"
        assert texts._("") == ""


def test_every_text_of_these_pages_is_in_the_catalog(
    app: Flask, person: MakePerson, translations: Path
) -> None:
    write(translations, "de")
    root = person("root", role="root", locale="de")
    browser = CookieBrowser(app)
    browser.sign_in(root)
    bare: dict[str, list[str]] = {}
    for path in PAGES:
        is_open = path in ("/sign-in", "/forgot", "/register")
        cookie = None if is_open else browser.cookie
        answer = ask(app, "GET", path, cookie, {"Accept-Language": "de"})
        assert answer.status_code == 200, path
        if found := sorted(untranslated(answer.text)):
            bare[path] = found
    assert not bare, "\n".join(f"{path}: {found}" for path, found in bare.items())


class _Words(HTMLParser):
    """Collects the visible texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._ignored_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "code", "time", "option"):
            self._ignored_depth += 1
        given = dict(attrs)
        names = ("aria-label", "placeholder", "title", "alt")
        self.found += [given[name] or "" for name in names if name in given]

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "code", "time", "option"):
            self._ignored_depth -= 1

    def handle_data(self, data: str) -> None:
        # The name of a key is no text.
        if not self._ignored_depth and data not in ("j", "k", "e"):
            self.found.append(data)


def untranslated(page: str) -> set[str]:
    """Return the texts outside of brackets, except data."""
    words = _Words()
    # A possible line break, in an email address, ends no text.
    words.feed(page.replace("<wbr>", ""))
    depth = 0
    found = set()
    for text in words.found:
        outside = []
        for character in text:
            depth += (character == "⟦") - (character == "⟧")
            if depth == 0 and character != "⟧":
                outside.append(character)
        rest = "".join(outside).strip()
        if not _NO_WORDS.fullmatch(rest) and not _is_data(rest):
            found.add(rest)
    return found


def _is_data(text: str) -> bool:
    return bool(_DATA.search(text))
