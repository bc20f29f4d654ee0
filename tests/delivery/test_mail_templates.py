"""Templates of emails, their values, and their layout."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from jinja2 import DictLoader

from app import BrandSettings, Frontdesk
from app.core.config.environment import SettingsError
from app.core.context import service
from app.delivery.mail.channel import EmailRenderer
from app.delivery.mail.templates import Templates
from app.delivery.message import Email, StoredMessage

from ..rigs.hosts import HostSettings, plain_app
from ..rigs.servers import ROOT

LINK = "https://client.example/dashboard"


BRAND: dict[str, Any] = {
    "NAME": "The Library",
    "COLOR": "#7a1f3d",
    "TEXT_COLOR": "#fff1f5",
    "FOOTER": "Open <daily>",
    "ADDRESS": "1 <Long> Street",
    "SUPPORT_EMAIL": "a@b.example",
    "LINKS": {"Privacy": "https://library.example.com/privacy?a&b"},
}


def host_with(files: dict[str, str] | None = None, **settings: Any) -> Flask:
    """An application without Frontdesk's blueprints, which would add their templates."""
    host, db = plain_app()
    host.jinja_loader = DictLoader(files or {})
    given = HostSettings()
    vars(given).update(settings)
    Frontdesk().init_app(host, db, settings=given)
    return host


def notification(host: Flask, message: str = "On Friday.", **more: Any) -> Email:
    with host.app_context():
        stored = StoredMessage(
            id=1, title="Closed", message=message, created_at=datetime.now(UTC), **more
        )
        return EmailRenderer(service(Templates), stored, LINK).render("ada@example.com")


def changed(host: Flask) -> Email:
    with host.test_request_context():
        return service(Templates).email("ada@example.com", "Hello", "password_changed")


def test_notification_has_equal_text_and_html() -> None:
    mail = notification(host_with(), "On <b>Friday</b>, see https://a.example/x.")
    assert "On &lt;b&gt;Friday&lt;/b&gt;" in mail.html
    assert '<a class="link" href="https://a.example/x"' in mail.html
    assert "Sent to ada@example.com." in mail.html
    assert "On <b>Friday</b>, see https://a.example/x." in mail.text
    assert LINK in mail.html
    assert LINK in mail.text


def test_receivers_address_is_escaped() -> None:
    with host_with().app_context():
        stored = StoredMessage(id=1, title="a", message="b", created_at=datetime.now(UTC))
        renderer = EmailRenderer(service(Templates), stored, LINK)
        assert "Sent to &lt;i&gt;@example.com." in renderer.render("<i>@example.com").html
        assert "Sent to bob@example.com." in renderer.render("bob@example.com").html


def test_applications_template_gets_the_documented_values() -> None:
    words = "{{ title }}|{{ message }}|{{ message_html }}|{{ email }}|{{ link }}|{{ brand.NAME }}"
    host = host_with({"notification.html": words})
    assert notification(host, "a\nb").html == (f"Closed|a\nb|a<br>\nb|ada@example.com|{LINK}|Host")


def test_documented_template_uses_the_layout() -> None:
    page = re.search(r"```html\n(.*?)```", (ROOT / "docs" / "custom-emails.md").read_text(), re.S)
    assert page is not None
    mail = notification(
        host_with({"note.html": page[1]}), template_file="note.html", context={"number": 17}
    )
    assert '<meta name="viewport"' in mail.html
    assert mail.text == (
        "Host\n\nClosed\n\nOn Friday.\n\nOpen note 17: https://pinboard.example.com/notes/17\n"
    )


def test_applications_text_template_is_used() -> None:
    files = {"order.html": "<p>HTML</p>", "order.txt": "Text for {{ email }}"}
    assert notification(host_with(files), template_file="order.html").text == (
        "Text for ada@example.com"
    )


@pytest.mark.parametrize("is_reloaded", [True, False])
def test_new_text_template_is_found_with_auto_reload(is_reloaded: bool) -> None:
    files = {"order.html": "<p>HTML</p>"}
    host = host_with(files)
    with host.app_context():
        service(Templates).environment.auto_reload = is_reloaded
    first = changed(host).text
    files["password_changed.txt"] = "Another"
    assert changed(host).text == ("Another" if is_reloaded else first)


def test_applications_layout_replaces_the_default() -> None:
    host = host_with(
        {"frontdesk/mail.html": "<p>Ours, {{ email }}</p>{% block content %}{% endblock %}"}
    )
    assert notification(host).html.startswith("<p>Ours, ada@example.com</p>")
    assert changed(host).html.startswith("<p>Ours, </p>")


def test_applications_email_gets_the_context_processors() -> None:
    host = host_with({"password_changed.html": "<p>{{ motto }}, {{ config['MOTTO'] }}</p>"})
    host.config["MOTTO"] = "slowly"
    host.context_processor(lambda: {"motto": "Make haste"})
    mail = changed(host)
    assert (mail.html, mail.text) == ("<p>Make haste, slowly</p>", "Make haste, slowly\n")


@pytest.mark.parametrize("brand", [BrandSettings(**BRAND), BRAND])
def test_every_email_has_the_brand(brand: Any) -> None:
    host = host_with(BRAND=brand)
    for mail in (notification(host), changed(host)):
        assert "The Library" in mail.html
        assert "1 &lt;Long&gt; Street" in mail.html
        assert "Open &lt;daily&gt;" in mail.html
        assert 'href="mailto:a@b.example"' in mail.html
        assert 'href="https://library.example.com/privacy?a&amp;b"' in mail.html
    assert "color: #fff1f5" in notification(host).html
    assert changed(host).text.endswith(
        "Open <daily>\n\n1 <Long> Street\n\nPrivacy: https://library.example.com/privacy?a&b\n"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COLOR", "red; background: url(//x)"),
        ("LOGO_URL", "javascript:alert(1)"),
        ("SUPPORT_EMAIL", "no address"),
        ("TEXT_COLOR", "white"),
        ("LINKS", {"Privacy": "/privacy"}),
        ("COLOUR", "#ffffff"),
    ],
)
def test_invalid_brand_setting_is_named(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"Invalid settings: BRAND__{name}"):
        host_with(BRAND={name: value})
