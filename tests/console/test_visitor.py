"""Signing in and out on the pages, without script."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from .guest import Guest, code_of

pytestmark = only_on("sqlite")
FEATURES = {"AUTH__LOGIN_BY_CODE": "on", "AUTH__REGISTRATION": "open"}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def guest(app: Flask) -> Guest:
    return Guest(app)


def test_the_right_password_leads_in_and_the_button_out(guest: Guest, ada: Person) -> None:
    guest.open("/")
    assert guest.path == "/sign-in"
    guest.press("/sign-in", email=ada.email, password=ada.password)
    assert (guest.status, guest.path) == (200, "/dashboard")
    assert guest.is_in()
    guest.press("/sign-out")
    assert (guest.path, guest.is_in()) == ("/sign-in", False)
    assert "You are signed out." in guest.seen.text


def test_who_is_in_need_not_sign_in(guest: Guest, ada: Person) -> None:
    guest.sign_in(ada.email, ada.password)
    for path in ("/sign-in", "/register", "/sign-in/code", "/"):
        guest.open(path)
        assert guest.path == "/dashboard", path


def test_one_comes_to_the_page_that_was_asked_for(guest: Guest, ada: Person) -> None:
    guest.open("/confirm?way=password")
    assert guest.path == "/sign-in?next=/confirm?way%3Dpassword"
    guest.press("/sign-in", email=ada.email, password=ada.password)
    assert guest.path == "/confirm?way=password"


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "%0a/x"],
)
def test_and_to_no_page_of_others(guest: Guest, ada: Person, elsewhere: str) -> None:
    guest.open("/sign-in", query_string={"next": elsewhere})
    guest.press("/sign-in", email=ada.email, password=ada.password)
    assert guest.path == "/dashboard"


def test_a_wrong_password_is_told_and_the_address_kept(guest: Guest, ada: Person) -> None:
    seen = guest.sign_in(ada.email, "not this one")
    assert guest.status == 400
    assert "Incorrect email or password." in seen.text
    [form] = [form for form in seen.forms if form.action == "/sign-in"]
    assert (form.fields["email"], form.fields["password"]) == (ada.email, "")
    assert not guest.is_in()


def test_too_many_wrong_ones_tell_when_to_come_again(guest: Guest, ada: Person) -> None:
    for _ in range(5):
        guest.sign_in(ada.email, "not this one")
    seen = guest.sign_in(ada.email, ada.password)
    assert guest.status == 429
    assert "Try again in 5 minutes." in seen.text
    assert int(guest.answer.headers["Retry-After"]) > 240


@pytest.mark.parametrize(
    ("status", "words"), [("suspended", "is suspended"), ("deleting", "scheduled for deletion")]
)
def test_who_may_not_come_in_is_told_why(
    guest: Guest, person: MakePerson, status: str, words: str
) -> None:
    mallory = person("mallory", status=status)
    assert words in guest.sign_in(mallory.email, mallory.password).text
    assert not guest.is_in()
    assert words not in guest.sign_in(mallory.email, "not this one").text


def test_a_cookie_that_counts_no_longer_is_no_hindrance(guest: Guest, ada: Person) -> None:
    guest.sign_in(ada.email, ada.password)
    ada.change(password="another long one")
    guest.open("/dashboard")
    assert guest.path.startswith("/sign-in")
    guest.press("/sign-in", email=ada.email, password="another long one")
    assert guest.is_in()


def test_a_mailed_code_signs_in(guest: Guest, ada: Person, mails: MailOutbox) -> None:
    guest.open("/sign-in/code?next=/confirm")
    guest.press("/sign-in/code", email=ada.email)
    seen = guest.press("/sign-in/code/typed", code="00000000")
    assert guest.status == 400
    assert "This code or link is invalid" in seen.text
    guest.press("/sign-in/code/typed", code=code_of(mails, ada.email))
    assert guest.path == "/confirm"


def test_another_mail_ends_the_code_before(guest: Guest, ada: Person, mails: MailOutbox) -> None:
    guest.open("/sign-in/code")
    guest.press("/sign-in/code", email=ada.email)
    before = code_of(mails, ada.email)
    assert "We sent another email" in guest.press("/sign-in/code").text
    guest.press("/sign-in/code/typed", code=before)
    assert guest.status == 400
    guest.press("/sign-in/code/typed", code=code_of(mails, ada.email))
    assert guest.is_in()


def test_a_code_counts_in_its_own_browser_alone(
    app: Flask, guest: Guest, ada: Person, mails: MailOutbox
) -> None:
    guest.open("/sign-in/code")
    guest.press("/sign-in/code", email=ada.email)
    thief = Guest(app)
    thief.open("/sign-in/code")
    thief.press("/sign-in/code", email="thief@example.com")
    thief.press("/sign-in/code/typed", code=code_of(mails, ada.email))
    assert (thief.status, thief.is_in()) == (400, False)


def test_pages_of_a_step_begin_at_its_start(guest: Guest) -> None:
    for path in ("/sign-in/second-step", "/sign-in/set-up"):
        guest.open(path)
        assert guest.path == "/sign-in"


def test_only_what_is_switched_on_is_offered(make_app: MakeApp) -> None:
    seen = Guest(make_app()).open("/sign-in")
    assert [form.action for form in seen.forms] == ["/sign-in"]
    assert not {"/sign-in/code", "/sign-in/provider", "/register"} & set(seen.links)
    more = Guest(make_app(**FEATURES, AUTH__PASSKEYS="on")).open("/sign-in")
    assert [form.action for form in more.forms] == ["/sign-in", "/sign-in/passkey"]
    assert {"/sign-in/code", "/register"} <= set(more.links)


def test_an_address_where_nothing_is_is_a_page_to_people_alone(guest: Guest) -> None:
    seen = guest.open("/no/such/page", headers={"Accept": "text/html"})
    assert (guest.status, guest.answer.mimetype) == (404, "text/html")
    assert "Page not found" in seen.text
    assert guest.answer.headers["X-Request-ID"] in seen.text
    for path, accepted in (
        ("/no/such/page", "*/*"),
        ("/no/such/page", "application/json"),
        ("/api/v1/nothing", "text/html"),
    ):
        guest.open(path, headers={"Accept": accepted})
        assert guest.answer.mimetype == "application/problem+json", path
        assert guest.answer.json is not None
        assert (guest.status, guest.answer.json["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "address", ["http://[", "//[", "https://[::1", "//evil.example", "/\\evil"]
)
def test_an_address_that_is_none_of_ours_leads_nowhere(app: Flask, address: str) -> None:
    """As what was wanted, and as the page that a form says it was on."""
    client = app.test_client()
    page = client.get("/sign-in", query_string={"next": address}, base_url=HOST)
    assert page.status_code == 200
    assert "evil" not in page.text
    headers = {**SAME_ORIGIN, "Referer": address}
    led = client.post("/dashboard/mark-all", headers=headers, base_url=HOST)
    assert led.headers["Location"] == "/sign-in"


def test_who_is_led_to_sign_in_comes_back_below_the_mount_too(app: Flask) -> None:
    led = app.test_client().get(
        "/dashboard?show=unread", base_url=HOST, environ_overrides={"SCRIPT_NAME": "/desk"}
    )
    assert led.headers["Location"] == "/desk/sign-in?next=/desk/dashboard?show%3Dunread"
