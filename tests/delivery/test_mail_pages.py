"""How our mails look, in a real browser: on a small screen, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from app.core.process.folders import templates_folder
from app.delivery.mail.brand import BrandSettings
from app.delivery.mail.channel import Pages
from app.delivery.mail.templates import Templates
from app.delivery.message import StoredMessage

BRANDS = {
    "plain": BrandSettings(NAME="Frontdesk"),
    "yellow": BrandSettings(
        NAME="The Library",
        COLOR="#ffd23f",
        FOOTER="The Library\n1 Long Street",
        SUPPORT_EMAIL="help@library.example.com",
    ),
}
LONG = "x" * 1500
ACCOUNT = {
    "username": f"{'ada.' * 30}@example.com",
    "project": "Frontdesk",
    "client_host": f"https://{'client.' * 20}example.com",
}
MORE: dict[str, Any] = {
    "link": f"https://client.example/reset?token={LONG}",
    "code": "01234567",
    "token_hours": 48,
    "code_minutes": 10,
    "provider": "provider.example",
    "workspace": "The Library",
    "inviter": "grace@example.com",
    "type": "admin",
    "message": f"Come and see.\n{LONG}",
    "days": 2,
}
NAMES = sorted(path.stem for path in templates_folder().glob("*.html"))
# For each text that is seen: the ratio of its colour's luminance to that of what is behind it.
CONTRASTS = """
() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) =>
    0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const behind = (element) => {
    const color = numbers(getComputedStyle(element).backgroundColor);
    return color.length === 4 && color[3] === 0 ? behind(element.parentElement) : color;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = {};
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text) continue;
    const pair = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))];
    found[text] = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  }
  return found;
}
"""


@pytest.fixture(params=BRANDS.values(), ids=list(BRANDS))
def templates(request: pytest.FixtureRequest) -> Templates:
    return Templates(Flask("host"), request.param)


@pytest.fixture(params=NAMES)
def html(request: pytest.FixtureRequest, templates: Templates) -> str:
    if request.param == "notification":
        text = f"On Friday, see https://example.com/{LONG}\n{LONG}"
        message = StoredMessage(id=1, title=LONG[:200], message=text, created_at=datetime.now(UTC))
        return Pages(templates, message, "https://client.example").to(ACCOUNT["username"]).html
    with templates.app.test_request_context():
        given = {**ACCOUNT, **MORE}
        return templates.email("ada@example.com", "Hello", request.param, **given).html


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    page = browser.new_page(
        viewport={"width": 320, "height": 600}, color_scheme=request.param, device_scale_factor=2
    )
    yield page
    page.close()


@pytest.mark.parametrize("name", NAMES)
def test_every_mail_fills_the_one_layout(name: str) -> None:
    source = (templates_folder() / f"{name}.html").read_text()
    assert source.startswith('{% extends "frontdesk/mail.html" %}')


def test_nothing_is_wider_than_a_small_screen_and_all_can_be_read(page: Page, html: str) -> None:
    page.set_content(html)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    contrasts: dict[str, float] = page.evaluate(CONTRASTS)
    assert len(contrasts) > 3
    assert {text: ratio for text, ratio in contrasts.items() if ratio < 4.5} == {}


def test_a_dark_screen_stays_dark(browser: Browser, html: str) -> None:
    page = browser.new_page(color_scheme="dark")
    page.set_content(html)
    colors = page.evaluate(
        "[...document.querySelectorAll('body, .card')].map("
        "(e) => Math.max(...getComputedStyle(e).backgroundColor.match(/\\d+/g).map(Number)))"
    )
    page.close()
    assert max(colors) < 64


def test_a_logo_stands_in_the_names_place_and_keeps_its_shape(browser: Browser) -> None:
    brand = BrandSettings(NAME="The Library", LOGO_URL="https://library.example.com/logo.svg")
    templates = Templates(Flask("host"), brand)
    with templates.app.test_request_context():
        mail = templates.email("ada@example.com", "Hello", "password_changed", **ACCOUNT)
    assert mail.text.startswith("The Library\n")
    page = browser.new_page(viewport={"width": 320, "height": 600})
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="100"/>'
    page.route("**/logo.svg", lambda route: route.fulfill(body=svg, content_type="image/svg+xml"))
    page.set_content(mail.html, wait_until="load")
    size = page.locator("img").bounding_box()
    page.close()
    assert size is not None
    assert size["width"] <= 248
    assert size["width"] / size["height"] == pytest.approx(8, rel=0.05)


@pytest.mark.parametrize("color", ["#000000", "#1f4e79", "#767676", "#ffd23f", "#ffffff"])
def test_a_buttons_text_can_be_read_on_any_brands_colour(browser: Browser, color: str) -> None:
    templates = Templates(Flask("host"), BrandSettings(COLOR=color))
    page = browser.new_page()
    with templates.app.test_request_context():
        given = {**ACCOUNT, **MORE}
        page.set_content(templates.email("a@b.example", "Hello", "reset_password", **given).html)
    ratio = page.evaluate(CONTRASTS)["Choose a new password"]
    page.close()
    assert ratio >= 4.5
