"""The host of links to pages: the configured client, or the console."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from pydantic_settings import BaseSettings, SettingsConfigDict

from app import Frontdesk
from app.accounts.account import Account
from app.auth.mails import Mails
from app.auth.proofs import IssuedProof
from app.auth.settings import AuthSettings
from app.auth.webauthn.relying_party import RelyingParty
from app.core.config.environment import load
from app.core.config.settings import CoreSettings
from app.core.context import current_frontdesk, service
from app.delivery.mail.previews import Previews
from app.delivery.mail.templates import Templates
from app.extension.settings import ComposedSettings
from app.extension.sources import service_settings
from app.testing.client import Api
from app.testing.outbox import MailOutbox

from ..auth.test_recovery import ask
from ..conftest import MakeApp, MakePerson
from ..rigs.hosts import plain_app

URL = "https://desk.example.com"
CLIENT = "https://app.example.com"
DEFAULT = "http://localhost:3000"


@pytest.mark.parametrize(
    ("settings", "host"),
    [
        ({}, DEFAULT),
        ({"CORE__PUBLIC_URL": URL}, URL),
        ({"CORE__PUBLIC_URL": URL, "CORE__CONSOLE_PATH": "/desk"}, f"{URL}/desk"),
        ({"CORE__PUBLIC_URL": URL, "CORE__CONSOLE_ENABLED": "false"}, DEFAULT),
        ({"CORE__PUBLIC_URL": URL, "CORE__CLIENT_HOST": CLIENT}, CLIENT),
        # Set explicitly to the default.
        ({"CORE__PUBLIC_URL": URL, "CORE__CLIENT_HOST": DEFAULT}, DEFAULT),
    ],
)
def test_emails_of_the_service_link_to_the_configured_host(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, settings: dict[str, str], host: str
) -> None:
    app = make_app(**settings)
    person("ada", into=app)
    token, _ = ask(Api(app), mails)
    assert f"{host}/reset?token={token}" in mails.sent[-1].text.split()
    with app.app_context():
        core = current_frontdesk.settings.core
        preview = Previews(service(Templates), core).email("account_made", "ada@example.com")
        assert f"{host}/?token=" in preview.text


def test_passkeys_belong_to_the_host_of_the_pages(make_app: MakeApp) -> None:
    def party(**settings: str) -> tuple[str, list[str]]:
        with make_app(AUTH__PASSKEYS="on", **settings).app_context():
            found = service(RelyingParty)
            return found.id, list(found.origins)

    console = party(CORE__PUBLIC_URL=URL, CORE__CONSOLE_PATH="/desk")
    assert console == ("desk.example.com", [URL])
    client = party(CORE__PUBLIC_URL=URL, CORE__CLIENT_HOST=CLIENT)
    assert client == ("app.example.com", [CLIENT])


def link_of(**core: Any) -> str:
    """Return the link in an email of an application with these settings."""
    app, db = plain_app(SECRET_KEY="a secret for this host alone, which is long enough")
    app.config["FRONTDESK"] = {"CORE": core}
    frontdesk: Frontdesk[Account] = Frontdesk()
    frontdesk.init_app(app, db, account_model=Account)
    with app.app_context():
        # An email has the language of its recipient's account.
        db.create_all()
    return link_in(app)


def link_in(app: Flask) -> str:
    with app.app_context():
        mail = service(Mails).recovery("ada@example.com", *IssuedProof("T0", "C0"))
    [link] = [word for word in mail.text.split() if word.endswith("?token=T0")]
    return link


def test_links_depend_on_whether_the_console_is_mounted() -> None:
    assert link_of(PUBLIC_URL=URL) == f"{DEFAULT}/reset?token=T0"
    assert link_of(PUBLIC_URL=URL, CONSOLE_PATH="/desk") == f"{URL}/desk/reset?token=T0"
    assert link_of(PUBLIC_URL=URL, CONSOLE_ENABLED=True) == f"{URL}/reset?token=T0"
    both = {"PUBLIC_URL": URL, "CONSOLE_ENABLED": True, "CLIENT_HOST": CLIENT}
    assert link_of(**both) == f"{CLIENT}/reset?token=T0"


def test_unset_host_is_recognized_in_all_forms_of_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    class Flat(CoreSettings, AuthSettings, BaseSettings):
        model_config = SettingsConfigDict(extra="ignore")

    class Named(Flat):
        CLIENT_HOST: str = CLIENT

    class Composed(ComposedSettings):
        CORE: CoreSettings = CoreSettings(PUBLIC_URL=URL)

    class Plain:
        PUBLIC_URL = URL

    def host(settings: object) -> str:
        return service_settings(settings).core.page_host

    assert host(load(Composed)) == URL
    assert host(Plain()) == URL
    monkeypatch.setenv("PUBLIC_URL", URL)
    assert (host(load(Flat)), host(load(Named))) == (URL, CLIENT)
    monkeypatch.setenv("CLIENT_HOST", DEFAULT)
    assert host(load(Flat)) == DEFAULT
    monkeypatch.setenv("CORE__PROJECT_NAME", "Library")
    assert host(load(Composed)) == URL
    assert service_settings(load(Composed)).core.PROJECT_NAME == "Library"
    monkeypatch.setenv("CORE__CLIENT_HOST", DEFAULT)
    assert host(load(Composed)) == DEFAULT
