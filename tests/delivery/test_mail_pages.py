"""Emails in a real browser: on a small screen, in light and dark mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, cast

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from app.core.config.settings import CoreSettings
from app.core.process.folders import templates_folder
from app.delivery.mail.brand import BrandSettings
from app.delivery.mail.previews import Previews
from app.delivery.mail.templates import Templates
from app.delivery.message import Email

BRANDS = {
    "plain": BrandSettings(NAME="Frontdesk"),
    "yellow": BrandSettings(
        NAME="The Library",
        COLOR="#ffd23f",
        FOOTER="You have an account with us.",
        ADDRESS="1 Long Street\nSmalltown",
        SUPPORT_EMAIL="help@library.example.com",
        LINKS={"Privacy": f"https://library.example.com/{'privacy/' * 20}"},
    ),
}
LONG = "x" * 1500
# Values longer than those of any real email.
EXTREME: dict[str, Any] = {
    "link": f"https://client.example/reset?token={LONG}",
    "client_host": f"https://{'client.' * 20}example.com",
    "title": LONG[:200],
    "message": f"On Friday, see https://example.com/{LONG}\n{LONG}",
}
ADDRESS = f"{'ada.' * 30}@example.com"
NAMES = sorted(path.stem for path in templates_folder().glob("*.html"))
# Some mail programs cut off larger emails.
LARGEST = 100 * 1024
# For each visible text: its contrast with the background.
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


def make(name: str, brand: BrandSettings, **given: Any) -> Email:
    app, core = Flask("host"), CoreSettings()
    previews = Previews(Templates(app, core, brand), core)
    with app.test_request_context():
        return previews.email(name, ADDRESS, given)


@pytest.fixture(params=BRANDS.values(), ids=list(BRANDS))
def brand(request: pytest.FixtureRequest) -> BrandSettings:
    return cast(BrandSettings, request.param)


@pytest.fixture(params=NAMES)
def mail(request: pytest.FixtureRequest, brand: BrandSettings) -> Email:
    return make(request.param, brand, **EXTREME)


@pytest.fixture(scope="module")
def small_screen(browser: Browser) -> Iterator[Page]:
    """One page for all emails."""
    page = browser.new_page(viewport={"width": 320, "height": 600}, device_scale_factor=2)
    yield page
    page.close()


@pytest.fixture
def page(small_screen: Page) -> Page:
    """In light mode by default."""
    small_screen.emulate_media(color_scheme="light")
    return small_screen


@pytest.mark.parametrize("name", NAMES)
def test_every_email_uses_the_layout(name: str) -> None:
    source = (templates_folder() / f"{name}.html").read_text()
    assert source.startswith('{% extends "frontdesk/mail.html" %}')


@pytest.mark.parametrize("name", NAMES)
def test_every_template_variable_has_a_sample(name: str) -> None:
    app, core = Flask("host"), CoreSettings()
    with app.app_context():
        assert Previews(Templates(app, core, BrandSettings()), core).unknown(name) == set()


def test_every_email_is_complete_in_html_and_text(mail: Email, brand: BrandSettings) -> None:
    assert len(mail.html.encode()) <= LARGEST
    assert mail.html.count("<h1") == 1
    links = re.findall(r'(?:href|src)="([^"]*)"', mail.html)
    assert [link for link in links if not link.startswith(("http://", "https://", "mailto:"))] == []
    (heading,) = re.findall(r"<h1[^>]*>([^<]+)</h1>", mail.html)
    assert heading in mail.text
    assert all(link.removeprefix("mailto:") in mail.text for link in links)
    assert brand.FOOTER in mail.text


def test_emails_about_security_name_the_support_address_or_else_the_start_page() -> None:
    for address in ("help@example.com", ""):
        mail = make("identity_linked", BrandSettings(SUPPORT_EMAIL=address))
        assert f"contact us: {address or 'http'}" in mail.text


def test_preview_text_is_not_repeated(mail: Email) -> None:
    (shown,) = re.findall(r'<div style="display: none[^>]*>([^<]*)</div>', mail.html)
    assert len(shown) > 10
    assert shown not in mail.text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_emails_fit_small_screens_with_contrast(
    page: Page, mail: Email, theme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=theme)
    page.set_content(mail.html)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    contrasts: dict[str, float] = page.evaluate(CONTRASTS)
    assert len(contrasts) > 3
    assert {text: ratio for text, ratio in contrasts.items() if ratio < 4.5} == {}


def test_emails_support_dark_mode(page: Page, mail: Email) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_content(mail.html)
    colors = page.evaluate(
        "[...document.querySelectorAll('body, .card')].map("
        "(e) => Math.max(...getComputedStyle(e).backgroundColor.match(/\\d+/g).map(Number)))"
    )
    assert max(colors) < 64


def test_logo_replaces_the_name_and_keeps_its_proportions(browser: Browser) -> None:
    brand = BrandSettings(NAME="The Library", LOGO_URL="https://library.example.com/logo.svg")
    mail = make("password_changed", brand)
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
def test_button_text_has_contrast_on_every_color(page: Page, color: str) -> None:
    page.set_content(make("reset_password", BrandSettings(COLOR=color)).html)
    ratio = page.evaluate(CONTRASTS)["Reset password"]
    assert ratio >= 4.5
