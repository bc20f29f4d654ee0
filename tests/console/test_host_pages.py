"""An application's own pages in the console: navigation, layout, errors and checks."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask, Response
from flask.testing import FlaskClient
from markupsafe import Markup

from app import (
    AuthSettings,
    Frontdesk,
    SetupError,
    active_account_required,
    anyone,
    blueprints,
    roles_required,
)
from app.accounts.account import Account
from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.testing.people import PASSWORD

from ..rigs.hosts import HostSettings, plain_app

OWN = {"Sec-Fetch-Site": "same-origin"}
TEMPLATES = {
    "billing.html": """{% extends "console/desk.html" %}
{% block title %}Billing{% endblock %}
{% block content %}{% for bill in bills %}<p>{{ bill }}</p>{% endfor %}
<a href="{{ url(".dashboard") }}">Back</a>{% endblock %}""",
    "shop.html": """{% extends "console/desk.html" %}
{% block content %}{% call(f) ui.form(".order") %}{{ ui.field(f, "title", "Title") }}
{{ ui.field(f, "card_number", "Card number") }}{% endcall %}{% endblock %}""",
    "orders.html": """{% for order in orders %}
<p>{{ account.email }}: {{ order }}</p>{% endfor %}""",
    "blocks.html": """{% extends "console/desk.html" %}
{% block banner %}<p>Test system</p>{% endblock %}
{% block footer %}<p>Imprint</p>{% endblock %}""",
    "console/visitor/sign_in.html": """{% extends "ours/console/visitor/sign_in.html" %}
{% block lead %}<p>Welcome to the Shop.</p>{% endblock %}""",
}


class Settings(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, COOKIE_SESSIONS="alone")


@pytest.fixture
def frontdesk() -> Frontdesk:
    return Frontdesk()


Made = Callable[[], Flask]


@pytest.fixture
def make(frontdesk: Frontdesk, tmp_path: Path) -> Made:
    def make() -> Flask:
        host, db = plain_app()
        host.debug = True
        folder = tmp_path / "templates"
        for name, text in TEMPLATES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        host.template_folder = str(folder)
        frontdesk.init_app(host, db, settings=Settings(), account_model=Account)
        frontdesk.mount(host, "/api", only=["notifications", "administration"])
        host.register_blueprint(blueprints.console, url_prefix="/desk")
        with host.app_context():
            db.create_all()
            for name, role in (("ada", "user"), ("boss", "admin")):
                service(Accounts).create(f"{name}@example.com", PASSWORD, role=role)
        return host

    return make


def signed_in(host: Flask, name: str) -> FlaskClient:
    client = host.test_client()
    form = {"email": f"{name}@example.com", "password": PASSWORD}
    assert client.post("/desk/sign-in", data=form, headers=OWN).status_code == 303
    return client


@pytest.fixture
def host(frontdesk: Frontdesk, make: Made) -> Flask:
    @frontdesk.console.page("billing", title="Billing & more", section="Shop")
    @active_account_required
    def billing() -> Response:
        return frontdesk.console.render("billing.html", bills=["One <kettle>"])

    @frontdesk.console.page("stock", "/shop/stock", title="Stock", section="Administration")
    @active_account_required
    @roles_required("admin")
    def stock() -> Response:
        return frontdesk.console.render("billing.html", bills=["Forty kettles"])

    @frontdesk.console.page("pay", methods=["POST"])
    @active_account_required
    def pay() -> str:
        return "paid"

    @frontdesk.console.page("broken")
    @anyone
    def broken() -> str:
        raise ZeroDivisionError

    return make()


def test_page_is_in_the_navigation_and_in_the_layout(host: Flask) -> None:
    page = signed_in(host, "ada").get("/desk/billing")
    assert "One &lt;kettle&gt;" in page.text
    assert "Billing &amp; more" in page.text
    assert 'href="/desk/billing" aria-current="page"' in page.text
    assert 'href="/desk/dashboard"' in page.text
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


def test_page_for_admins_is_in_the_administration_section(host: Flask) -> None:
    admins = signed_in(host, "boss").get("/desk/dashboard").text
    assert 'href="/desk/shop/stock"' in admins
    assert admins.count(">Administration<") == 1
    adas = signed_in(host, "ada")
    assert "/desk/shop/stock" not in adas.get("/desk/dashboard").text
    assert adas.get("/desk/shop/stock").status_code == 403


def test_anonymous_visitor_is_redirected_to_sign_in(host: Flask) -> None:
    asked = host.test_client().get("/desk/billing")
    assert asked.headers["Location"] == "/desk/sign-in?next=/desk/billing"


def test_cross_site_forms_are_rejected(host: Flask) -> None:
    client = signed_in(host, "ada")
    assert client.post("/desk/pay", headers=OWN).text == "paid"
    assert client.post("/desk/pay", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


@pytest.mark.parametrize("keep", [(), ("title", "size")])
def test_only_named_fields_of_a_form_are_kept_for_the_next_sign_in(
    frontdesk: Frontdesk, make: Made, keep: tuple[str, ...]
) -> None:
    @frontdesk.console.page("shop")
    @active_account_required
    def shop() -> Response:
        return frontdesk.console.render("shop.html")

    @frontdesk.console.page("order", methods=["POST"], keep=keep)
    @active_account_required
    def order() -> str:
        return "ordered"

    host = make()
    client = signed_in(host, "ada")
    with host.app_context():
        keystore = current_frontdesk.keystore
        accounts = service(Accounts)
        with transaction(accounts.session):
            accounts.get("ada@example.com").tokens_valid_from = datetime.now(UTC) + timedelta(1)
    names = ("title", "card_number", "cvc", "iban", "ssn", "answer", "text")
    form = {name: f"typed {name}" for name in names}
    headers = {**OWN, "Referer": "http://localhost/desk/shop"}
    ended = client.post("/desk/order", data=form, headers=headers)
    assert ended.headers["Location"] == "/desk/sign-in?next=/desk/shop"
    stored = [value for value in vars(keystore).values() if "typed" in str(value)]
    assert [name for name in names if f"typed {name}" in str(stored)] == [*keep[:1]]
    lost = "Your changes could not be kept."
    assert (lost in client.get("/desk/sign-in").text) == (not keep)
    with host.app_context():
        accounts = service(Accounts)
        with transaction(accounts.session):
            accounts.get("ada@example.com").tokens_valid_from = None
    sign_in = {"email": "ada@example.com", "password": PASSWORD}
    assert client.post("/desk/sign-in", data=sign_in, headers=OWN).status_code == 303
    page = client.get("/desk/shop").text
    assert ('value="typed title"' in page) == bool(keep)
    assert ("Your changes were not saved and could not be kept." in page) == (not keep)
    assert "could not be kept" not in client.get("/desk/shop").text


def test_errors_are_shown_as_pages(host: Flask) -> None:
    answer = host.test_client().get("/desk/broken")
    assert answer.status_code == 500
    assert answer.mimetype == "text/html"


def test_application_template_replaces_and_extends_a_template(host: Flask) -> None:
    page = host.test_client().get("/desk/sign-in").text
    assert "Welcome to the Shop." in page
    assert 'name="password"' in page


def test_page_without_an_authorization_decorator_is_rejected(frontdesk: Frontdesk) -> None:
    with pytest.raises(SetupError, match="has no authorization decorator"):

        @frontdesk.console.page("open")
        def open_page() -> str:
            return ""


def test_existing_page_name_is_rejected_when_mounted(frontdesk: Frontdesk, make: Made) -> None:
    @frontdesk.console.page("dashboard", "/mine")
    @anyone
    def dashboard() -> str:
        return ""

    with pytest.raises(SetupError, match="already has a page 'dashboard'"):
        make()


def test_invalid_page_name_is_rejected(frontdesk: Frontdesk) -> None:
    with pytest.raises(SetupError, match="is not a valid page name"):
        frontdesk.console.page("My Page")


def test_missing_cookie_sessions_are_reported(frontdesk: Frontdesk) -> None:
    host, db = plain_app()
    frontdesk.init_app(host, db, settings=HostSettings(), account_model=Account)
    with pytest.raises(SetupError, match=r"AUTH\.COOKIE_SESSIONS"):
        host.register_blueprint(blueprints.console, url_prefix="/desk")


def nav_of(page: str) -> list[str]:
    """Return the titles in the navigation."""
    return re.findall(r"</svg>([^<]+)", page.partition("<nav")[2].partition("</nav>")[0])


def test_hidden_entries_and_sections_have_no_pages(frontdesk: Frontdesk, make: Made) -> None:
    frontdesk.console.hide("Workspaces", "mail_templates_page", "profile_page")
    host = make()
    boss = signed_in(host, "boss")
    titles = nav_of(boss.get("/desk/dashboard").text)
    assert "Accounts" in titles
    assert not {"Workspaces", "Invitations", "Emails", "Profile"} & {*titles}
    for path in ("/profile", "/workspaces", "/admin/mails", "/admin/mails/notification"):
        assert boss.get(f"/desk{path}").status_code == 404, path
    assert boss.post("/desk/profile", headers=OWN).status_code == 404
    for path in ("/admin", "/admin/accounts", "/account", "/security"):
        assert boss.get(f"/desk{path}").status_code == 200, path


def test_hidden_page_keeps_the_pages_of_entries_below_its_path(
    frontdesk: Frontdesk, make: Made
) -> None:
    frontdesk.console.hide("admin_home_page")
    boss = signed_in(make(), "boss")
    assert boss.get("/desk/admin").status_code == 404
    assert boss.get("/desk/admin/accounts").status_code == 200


def test_unknown_names_are_not_hidden(frontdesk: Frontdesk, make: Made) -> None:
    frontdesk.console.hide("Workspaces", "Shops")
    with pytest.raises(SetupError, match="the console has no Shops"):
        make()


def test_entries_have_a_position_a_count_and_links(frontdesk: Frontdesk, make: Made) -> None:
    def orders_of(account: Account) -> int:
        return 7 if account.email == "ada@example.com" else 0

    @frontdesk.console.page("orders", title="Orders", position=1, count=orders_of)
    @active_account_required
    def orders() -> Response:
        return frontdesk.console.render("billing.html", bills=[])

    frontdesk.console.link("Handbook", "https://example.com/handbook", position=2)
    frontdesk.console.link("Shop", "/shop", section="Elsewhere", count=orders_of)
    frontdesk.console.link("Stock", "/stock", section="Administration", roles=("root",))
    host = make()
    page = signed_in(host, "ada").get("/desk/orders").text
    assert nav_of(page)[:3] == ["Orders", "Handbook", "Inbox"]
    assert nav_of(page)[-1] == "Shop"
    assert page.count(">7<") == 2
    link = '<a href="https://example.com/handbook" rel="noopener" hx-boost="false">'
    assert link in page
    assert ">7<" not in signed_in(host, "boss").get("/desk/orders").text
    assert "/stock" not in signed_in(host, "boss").get("/desk/orders").text


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//example.com", "shop", "https://", ""])
def test_invalid_links_are_rejected(frontdesk: Frontdesk, url: str) -> None:
    with pytest.raises(SetupError, match="is not a valid link"):
        frontdesk.console.link("Shop", url)


def test_application_names_the_page_after_a_sign_in(frontdesk: Frontdesk, make: Made) -> None:
    @frontdesk.console.page("orders", title="Orders")
    @active_account_required
    def orders() -> Response:
        return frontdesk.console.render("billing.html", bills=[])

    frontdesk.console.home = ".orders"
    client = signed_in(make(), "ada")
    assert client.get("/desk/").headers["Location"] == "/desk/orders"
    assert 'class="brand" href="/desk/orders"' in client.get("/desk/account").text


def test_unknown_page_after_a_sign_in_is_rejected(frontdesk: Frontdesk, make: Made) -> None:
    frontdesk.console.home = ".orders"
    with pytest.raises(SetupError, match=r"the console has no page '\.orders'"):
        make()


def test_message_of_a_form_is_shown_once(frontdesk: Frontdesk, make: Made) -> None:
    @frontdesk.console.page("orders", "/orders/<int:number>")
    @active_account_required
    def orders(number: int) -> Response:
        return frontdesk.console.render("billing.html", bills=[str(number)])

    @frontdesk.console.page("order", methods=["POST"])
    @active_account_required
    def order() -> Response:
        return frontdesk.console.redirect(".orders", "Ordered <1>.", kind="info", number=4)

    client = signed_in(make(), "ada")
    answer = client.post("/desk/order", headers=OWN)
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/desk/orders/4"
    page = client.get("/desk/orders/4").text
    assert "Ordered &lt;1&gt;." in page
    assert 'class="toast info"' in page
    assert "Ordered" not in client.get("/desk/orders/4").text


def test_panels_of_an_account_are_on_its_page(frontdesk: Frontdesk, make: Made) -> None:
    @frontdesk.console.account_panel("Orders & more")
    def orders(account: Account) -> tuple[str, dict[str, object]]:
        return "orders.html", {"orders": ["One <kettle>"]}

    @frontdesk.console.account_panel("Balance")
    def balance(account: Account) -> Markup:
        return Markup("<b>{}</b>").format(f"<{account.email}>")

    @frontdesk.console.account_panel("Text")
    def text(account: Account) -> str:
        return "<i>plain</i>"

    boss = signed_in(make(), "boss")
    page = boss.get("/desk/admin/accounts/1").text
    tabs = re.findall(r'href="([^"]*)"[^>]*>([^<]+)</a>', page.partition('class="tabs"')[2])
    own = {title: path for path, title in tabs if "tab=" in path}
    assert "kettle" not in page
    shown = boss.get("/desk/admin/accounts/1?tab=Orders+%26+more").text
    assert "<h2>Orders &amp; more</h2>" in shown
    assert "<p>ada@example.com: One &lt;kettle&gt;</p>" in shown
    assert "plain&lt;" not in shown
    assert "<b>&lt;ada@example.com&gt;</b>" in boss.get(html.unescape(own["Balance"])).text
    assert "&lt;i&gt;plain&lt;/i&gt;" in boss.get(html.unescape(own["Text"])).text
    assert boss.get("/desk/admin/accounts/1?tab=Shops").status_code == 200


def test_application_fills_the_blocks_of_the_layouts(frontdesk: Frontdesk, make: Made) -> None:
    @frontdesk.console.page("blocks")
    @active_account_required
    def blocks() -> Response:
        return frontdesk.console.render("blocks.html")

    page = signed_in(make(), "ada").get("/desk/blocks").text
    assert page.index("<p>Test system</p>") < page.index("<main") < page.index("<p>Imprint</p>")
