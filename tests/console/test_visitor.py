"""Sign-in and sign-out on the pages, without JavaScript."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from .page_client import PageClient, code_of

pytestmark = only_on("sqlite")
FEATURES = {"AUTH__LOGIN_BY_CODE": "on", "AUTH__REGISTRATION": "open"}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def client(app: Flask) -> PageClient:
    return PageClient(app)


def test_password_signs_in_and_the_button_signs_out(client: PageClient, ada: Person) -> None:
    client.open("/")
    assert client.path == "/sign-in"
    client.submit("/sign-in", email=ada.email, password=ada.password)
    assert (client.status, client.path) == (200, "/dashboard")
    assert client.is_signed_in()
    client.submit("/sign-out")
    assert (client.path, client.is_signed_in()) == ("/sign-in", False)
    assert "You are signed out." in client.page.text


def test_signed_in_user_is_redirected_to_the_inbox(client: PageClient, ada: Person) -> None:
    client.sign_in(ada.email, ada.password)
    for path in ("/sign-in", "/register", "/sign-in/code", "/"):
        client.open(path)
        assert client.path == "/dashboard", path


def test_sign_in_returns_to_the_requested_page(client: PageClient, ada: Person) -> None:
    client.open("/confirm?way=password")
    assert client.path == "/sign-in?next=/confirm?way%3Dpassword"
    client.submit("/sign-in", email=ada.email, password=ada.password)
    assert client.path == "/confirm?way=password"


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "%0a/x"],
)
def test_sign_in_never_redirects_to_another_site(
    client: PageClient, ada: Person, elsewhere: str
) -> None:
    client.open("/sign-in", query_string={"next": elsewhere})
    client.submit("/sign-in", email=ada.email, password=ada.password)
    assert client.path == "/dashboard"


def test_wrong_password_is_reported_and_the_email_kept(client: PageClient, ada: Person) -> None:
    seen = client.sign_in(ada.email, "not this one")
    assert client.status == 400
    assert "Incorrect email or password." in seen.text
    [form] = [form for form in seen.forms if form.action == "/sign-in"]
    assert (form.fields["email"], form.fields["password"]) == (ada.email, "")
    assert not client.is_signed_in()


def test_too_many_wrong_passwords_show_the_waiting_time(client: PageClient, ada: Person) -> None:
    for _ in range(5):
        client.sign_in(ada.email, "not this one")
    seen = client.sign_in(ada.email, ada.password)
    assert client.status == 429
    assert "Try again in 5 minutes." in seen.text
    assert int(client.answer.headers["Retry-After"]) > 240


@pytest.mark.parametrize(
    ("status", "words"), [("suspended", "is suspended"), ("deleting", "scheduled for deletion")]
)
def test_inactive_account_sees_the_reason_after_the_correct_password(
    client: PageClient, person: MakePerson, status: str, words: str
) -> None:
    mallory = person("mallory", status=status)
    assert words in client.sign_in(mallory.email, mallory.password).text
    assert not client.is_signed_in()
    assert words not in client.sign_in(mallory.email, "not this one").text


def test_revoked_session_cookie_does_not_prevent_a_sign_in(client: PageClient, ada: Person) -> None:
    client.sign_in(ada.email, ada.password)
    ada.change(password="another long one")
    client.open("/dashboard")
    assert client.path.startswith("/sign-in")
    client.submit("/sign-in", email=ada.email, password="another long one")
    assert client.is_signed_in()


def test_emailed_code_signs_in(client: PageClient, ada: Person, mails: MailOutbox) -> None:
    client.open("/sign-in/code?next=/confirm")
    client.submit("/sign-in/code", email=ada.email)
    seen = client.submit("/sign-in/code/typed", code="00000000")
    assert client.status == 400
    assert "This code or link is invalid" in seen.text
    client.submit("/sign-in/code/typed", code=code_of(mails, ada.email))
    assert client.path == "/confirm"


def test_new_code_replaces_the_old_one(client: PageClient, ada: Person, mails: MailOutbox) -> None:
    client.open("/sign-in/code")
    client.submit("/sign-in/code", email=ada.email)
    before = code_of(mails, ada.email)
    assert "We sent another email" in client.submit("/sign-in/code").text
    client.submit("/sign-in/code/typed", code=before)
    assert client.status == 400
    client.submit("/sign-in/code/typed", code=code_of(mails, ada.email))
    assert client.is_signed_in()


def test_code_is_valid_only_in_its_browser(
    app: Flask, client: PageClient, ada: Person, mails: MailOutbox
) -> None:
    client.open("/sign-in/code")
    client.submit("/sign-in/code", email=ada.email)
    thief = PageClient(app)
    thief.open("/sign-in/code")
    thief.submit("/sign-in/code", email="thief@example.com")
    thief.submit("/sign-in/code/typed", code=code_of(mails, ada.email))
    assert (thief.status, thief.is_signed_in()) == (400, False)


def test_pages_of_later_steps_redirect_to_the_start(client: PageClient) -> None:
    for path in ("/sign-in/second-step", "/sign-in/set-up"):
        client.open(path)
        assert client.path == "/sign-in"


def test_sign_in_page_offers_only_enabled_methods(make_app: MakeApp) -> None:
    seen = PageClient(make_app()).open("/sign-in")
    assert [form.action for form in seen.forms] == ["/sign-in"]
    assert not {"/sign-in/provider", "/register"} & set(seen.links)
    assert "Email me a code" not in seen.text
    more = PageClient(make_app(**FEATURES, AUTH__PASSKEYS="on")).open("/sign-in")
    assert [form.action for form in more.forms] == ["/sign-in", "/sign-in/passkey"]
    assert "/register" in more.links
    assert "Email me a code" in more.text


def test_unknown_path_is_a_page_only_for_browsers(client: PageClient) -> None:
    seen = client.open("/no/such/page", headers={"Accept": "text/html"})
    assert (client.status, client.answer.mimetype) == (404, "text/html")
    assert "Page not found" in seen.text
    assert client.answer.headers["X-Request-ID"] in seen.text
    for path, accepted in (
        ("/no/such/page", "*/*"),
        ("/no/such/page", "application/json"),
        ("/api/v1/nothing", "text/html"),
    ):
        client.open(path, headers={"Accept": accepted})
        assert client.answer.mimetype == "application/problem+json", path
        assert client.answer.json is not None
        assert (client.status, client.answer.json["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "address", ["http://[", "//[", "https://[::1", "//evil.example", "/\\evil"]
)
def test_foreign_url_is_ignored_as_return_path(app: Flask, address: str) -> None:
    """Both in the parameter `next` and in the header `Referer`."""
    client = app.test_client()
    page = client.get("/sign-in", query_string={"next": address}, base_url=HOST)
    assert page.status_code == 200
    assert "evil" not in page.text
    headers = {**SAME_ORIGIN, "Referer": address}
    led = client.post("/dashboard/mark-all", headers=headers, base_url=HOST)
    assert led.headers["Location"] == "/sign-in"


def test_return_path_includes_the_mount_path(app: Flask) -> None:
    led = app.test_client().get(
        "/dashboard?show=unread", base_url=HOST, environ_overrides={"SCRIPT_NAME": "/desk"}
    )
    assert led.headers["Location"] == "/desk/sign-in?next=/desk/dashboard?show%3Dunread"
