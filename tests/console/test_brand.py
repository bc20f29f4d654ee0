"""The brand's images on pages, and the policy that allows them."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.console.blueprint import POLICY, policy
from app.delivery.mail.brand import BrandSettings

from ..conftest import MakeApp

CDN = "https://cdn.example.com"


def sign_in_page(app: Flask) -> tuple[str, str]:
    answer = app.test_client().get("/sign-in")
    return answer.text, answer.headers["Content-Security-Policy"]


def test_logo_of_another_site_is_allowed_by_the_policy(make_app: MakeApp) -> None:
    app = make_app(BRAND__LOGO_URL=f"{CDN}/logo.svg", BRAND__ICON_URL="https://b.example/icon.png")
    page, sent = sign_in_page(app)
    assert f'<img class="logo" src="{CDN}/logo.svg" alt="Frontdesk"' in page
    assert '<link rel="icon" href="https://b.example/icon.png">' in page
    assert f"img-src 'self' data: blob: https://b.example {CDN};" in sent
    assert sent.replace(f" https://b.example {CDN}", "") == POLICY


def test_images_of_the_application_need_no_other_policy(make_app: MakeApp) -> None:
    app = make_app(BRAND__LOGO_URL="/static/logo.svg", BRAND__LOGO_DARK_URL="/static/dark.svg")
    page, sent = sign_in_page(app)
    assert 'src="/static/logo.svg"' in page
    assert sent == POLICY
    css = app.test_client().get("/assets/brand.css").text
    assert css.count('.brand .logo{content:url("/static/dark.svg")}') == 2


def test_icon_is_next_to_the_name_without_a_logo(make_app: MakeApp) -> None:
    page, _ = sign_in_page(make_app(BRAND__ICON_URL="/static/icon.svg", BRAND__NAME="Pinboard"))
    brand = re.findall(r'class="brand"[^>]*>\s*(.*)', page)
    expected = '<img class="mark" src="/static/icon.svg" alt=""><span class="cut">Pinboard</span>'
    assert brand == [expected]


@pytest.mark.parametrize(
    "url",
    [
        "//evil.example/logo.svg",
        "logo.svg",
        "https://a.example;script-src/x",
        'https://a.example/"x',
        "https://a.example\n",
        "/\\evil.example",
        "data:image/png;base64,AA",
    ],
)
@pytest.mark.parametrize("name", ["LOGO_URL", "LOGO_DARK_URL", "ICON_URL"])
def test_invalid_images_are_rejected(name: str, url: str) -> None:
    with pytest.raises(ValueError, match=name):
        BrandSettings.model_validate({name: url})


def test_policy_names_each_site_once() -> None:
    brand = BrandSettings(LOGO_URL=f"{CDN}:8443/a.svg", LOGO_DARK_URL=f"{CDN}:8443/b.svg")
    assert policy(brand).count("cdn.example.com") == 1
