"""The documentation's passkey script, in Chromium with a virtual authenticator."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from werkzeug.serving import make_server

from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson
from ..rigs.backends import free_port
from ..rigs.servers import ROOT
from ..rigs.virtual_authenticator import Device

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

CODE = ROOT / "examples" / "tutorial" / "passkeys.js"
_FORM = '<form><input name="username" autocomplete="username webauthn"></form>'
_CALL = """
async ([name, ...given]) => {
  const page = await import("/passkeys.js");
  try {
    return await page[name](...given);
  } catch (error) {
    return { refused: error.code || error.name, name: error.name };
  }
}
"""
# Simulates an older browser.
_WITHOUT_JSON = """
() => {
  delete PublicKeyCredential.parseCreationOptionsFromJSON;
  delete PublicKeyCredential.parseRequestOptionsFromJSON;
  delete PublicKeyCredential.prototype.toJSON;
}
"""


class Site:
    def __init__(self, base: str, tokens: dict[str, str]) -> None:
        self.base = base
        self.tokens = tokens


@pytest.fixture
def site(make_app: MakeApp, person: MakePerson) -> Iterator[Site]:
    port = free_port()
    base = f"http://localhost:{port}"
    settings = {"AUTH__PASSKEYS": "on", "AUTH__COOKIE_SESSIONS": "on"}
    app = make_app(**settings, CORE__CLIENT_HOST=base)
    tokens = {name: person(name, into=app).token() for name in ("ada", "grace")}
    server = make_server("127.0.0.1", port, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Site(base, tokens)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    page = browser.new_page()
    page.route("**/page.html", lambda route: route.fulfill(body=_FORM, content_type="text/html"))
    page.route(
        "**/passkeys.js", lambda route: route.fulfill(path=CODE, content_type="text/javascript")
    )
    page.goto(f"{site.base}/page.html")
    yield page
    page.close()


@pytest.fixture
def device(page: Page) -> Device:
    return Device(page)


def call(page: Page, name: str, *args: Any) -> Any:
    return page.evaluate(_CALL, [name, *args])


def sign_in_by_passkey(page: Page) -> str:
    answer = call(page, "signIn")
    assert "account" in answer, answer
    return str(answer["account"]["email"])


@pytest.mark.parametrize("has_json", [True, False], ids=["current", "without JSON"])
def test_passkey_from_enrollment_to_removal(
    page: Page, site: Site, device: Device, mails: MailOutbox, has_json: bool
) -> None:
    if not has_json:
        page.evaluate(_WITHOUT_JSON)
    token = site.tokens["ada"]
    added = call(page, "addPasskey", token, "Laptop")
    assert (added["kind"], added["name"]) == ("passkey", "Laptop")
    [created] = device.credentials
    assert (created["isResidentCredential"], created["rpId"]) == (True, "localhost")
    mails.assert_sent("ada@example.com", "a passkey was added", "Laptop")

    assert sign_in_by_passkey(page) == "ada@example.com"
    assert sign_in_by_passkey(page) == "ada@example.com"
    assert device.credentials[0]["signCount"] > created["signCount"]

    [listed] = call(page, "passkeys", token)
    assert listed["last_used_at"] is not None
    assert call(page, "rename", token, listed["id"], "Old laptop")["name"] == "Old laptop"
    token = call(page, "signIn")["access_token"]
    call(page, "remove", token, listed["id"])
    assert call(page, "passkeys", token) == []
    assert call(page, "signIn")["refused"] == "passkey_refused"


def test_autofill_signs_in(page: Page, site: Site, device: Device) -> None:
    call(page, "addPasskey", site.tokens["ada"], "Laptop")
    email = page.evaluate(
        """
        async () => {
          const { offerPasskeys } = await import("/passkeys.js");
          return new Promise((show) => offerPasskeys((answer) => show(answer.account.email)));
        }
        """
    )
    assert email == "ada@example.com"


def test_autofill_request_is_renewed_and_aborted_by_the_button(
    page: Page, site: Site, device: Device
) -> None:
    call(page, "addPasskey", site.tokens["ada"], "Laptop")
    device.touches(False)
    page.evaluate(
        """
        async () => {
          const { offerPasskeys } = await import("/passkeys.js");
          const over = offerPasskeys(() => {}, 5000);
          window.offered = over.then(() => "over", (error) => error.name);
        }
        """
    )
    for _ in ("requested", "renewed"):
        page.wait_for_event("response", lambda answer: answer.url.endswith("/options"))
    device.touches(True)
    page.evaluate(
        """
        async () => {
          const { signIn } = await import("/passkeys.js");
          window.signedIn = signIn().then((answer) => answer.account.email);
        }
        """
    )
    assert page.evaluate("window.offered") == "over"
    assert page.evaluate("window.signedIn") == "ada@example.com"


def test_passkey_signs_in_to_a_cookie_session(page: Page, site: Site, device: Device) -> None:
    call(page, "addPasskey", site.tokens["ada"], "Laptop")
    assert call(page, "signIn", {}, "/session/passkey")["account"]["email"] == "ada@example.com"
    account = page.evaluate("async () => (await fetch('/api/v1/account')).json()")
    assert account["email"] == "ada@example.com"


def test_two_accounts_use_one_authenticator(page: Page, site: Site, device: Device) -> None:
    call(page, "addPasskey", site.tokens["ada"], "Laptop")
    [ada_credential] = device.credentials
    call(page, "addPasskey", site.tokens["grace"], "Laptop")
    assert len({each["userHandle"] for each in device.credentials}) == 2
    device.forget(ada_credential["credentialId"])
    assert sign_in_by_passkey(page) == "grace@example.com"


def test_authenticator_adds_no_second_passkey_for_the_account(
    page: Page, site: Site, device: Device
) -> None:
    call(page, "addPasskey", site.tokens["ada"], "Laptop")
    assert call(page, "addPasskey", site.tokens["ada"], "Again")["refused"] == 11
    assert len(device.credentials) == 1


def test_user_verification_is_required(page: Page, site: Site, device: Device) -> None:
    call(page, "addPasskey", site.tokens["ada"], "Laptop")
    device.verifies(False)
    assert call(page, "signIn")["name"] == "NotAllowedError"
    device.verifies(True)
    assert sign_in_by_passkey(page) == "ada@example.com"


def test_assertion_without_user_verification_is_rejected(
    page: Page, site: Site, device: Device
) -> None:
    call(page, "addPasskey", site.tokens["ada"], "Laptop")
    device.verifies(False)
    answer = page.evaluate(
        """
        async () => {
          const { requestOptions, asJson } = await import("/passkeys.js");
          const ask = (path, json) => fetch(`/api/v1/login/passkey${path}`, {
            method: "POST", body: JSON.stringify(json),
            headers: { "Content-Type": "application/json" },
          });
          const options = await (await ask("/options", {})).json();
          options.userVerification = "discouraged";
          const publicKey = requestOptions(options);
          const credential = await navigator.credentials.get({ publicKey });
          const refused = await ask("", { credential: asJson(credential) });
          return [refused.status, (await refused.json()).code];
        }
        """
    )
    assert answer == [400, "passkey_refused"]


def test_authenticator_without_discoverable_credentials_is_not_used(
    page: Page, site: Site, device: Device
) -> None:
    device.replace(hasResidentKey=False, transport="usb")
    assert call(page, "addPasskey", site.tokens["ada"], "Old key")["name"] == "NotAllowedError"


def test_security_key_signs_in(page: Page, site: Site, device: Device) -> None:
    device.replace(transport="usb")
    call(page, "addPasskey", site.tokens["ada"], "Key ring")
    assert sign_in_by_passkey(page) == "ada@example.com"
