"""Sign-in on the pages through several identity providers, and the confirmation of a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import Person

from ..auth.factors import enrolled
from ..conftest import MakePerson, only_on
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from ..rigs.oidc.fake_fixtures import MakeProvidersApp, client_of, client_of_apple
from ..rigs.oidc.fakes import Apple, Fake, GitHub, Google, Microsoft
from .page_client import PageClient, ParsedPage, code_of

pytestmark = only_on("sqlite")
ACME = {"metadata_url": "https://idp.example.com/.well-known/openid-configuration"}
LINK = "/security/identities/link"


def callback(name: str) -> str:
    return f"/sign-in/provider/{name}/callback"


@pytest.fixture
def make(make_providers_app: MakeProvidersApp) -> MakeProvidersApp:
    """Create the service at a known URL, with sign-up through the providers."""

    def make(**given: Any) -> Flask:
        return make_providers_app(CORE__PUBLIC_URL=HOST, AUTH__MFA="optional", **given)

    return make


def come_back(
    client: PageClient, name: str, fake: Fake, query: str = "", **user: Any
) -> ParsedPage:
    """Consent at the provider, and open the callback page."""
    path = f"/sign-in/provider/{name}{query}"
    answer = client.client.get(path, base_url=HOST, headers=SAME_ORIGIN)
    assert answer.status_code == 302, answer.text
    back = fake.authorize(answer.headers["Location"], **user)
    if isinstance(fake, Apple):
        # The form comes from another site, without cookies.
        returned = client.client.application.test_client()
        answer = returned.post(f"/api/v1/idp/{name}/return", base_url=HOST, data=back)
        return client.open(answer.headers["Location"].removeprefix(HOST))
    headers = {"Sec-Fetch-Site": "cross-site"}
    return client.open(callback(name), query_string=back, headers=headers)


def user_of(person: Person) -> dict[str, Any]:
    return {"sub": "g-1", "email": person.email, "email_verified": True}


def test_each_provider_has_a_button_for_sign_in_and_sign_up(make: MakeProvidersApp) -> None:
    """A provider of the kind `apple` whose redirect URI is not the console's has none."""
    providers = {"acme": client_of("oidc", title="Acme", **ACME), "google": client_of("google")}
    for allowed in (True, False):
        signs_up = {"AUTH__ALLOW_IDP_OAUTH_SIGNUP": str(allowed), "AUTH__REGISTRATION": "open"}
        client = PageClient(make(**providers, **signs_up))
        seen = client.open("/sign-in?next=/account")
        assert {f"/sign-in/provider/{name}?next=/account" for name in providers} <= {*seen.links}
        assert "Continue with Acme Continue with Google" in seen.text
        assert ("Continue with Acme" in client.open("/register").text) is allowed


def test_contracts_provider_keeps_its_pages_next_to_others(
    make: MakeProvidersApp, google: Google
) -> None:
    settings = {"IDP_METADATA_URL": ACME["metadata_url"], "IDP_OAUTH_CLIENT_ID": "frontdesk"}
    app = make(google=client_of("google"), AUTH__ENABLE_IDP_OAUTH="true", **settings)
    links = PageClient(app).open("/sign-in").links
    assert [each for each in links if "provider" in each] == [
        "/sign-in/provider",
        "/sign-in/provider/google",
    ]


def test_named_provider_signs_in_and_opens_the_requested_page(
    make: MakeProvidersApp, google: Google, person: MakePerson
) -> None:
    app = make(google=client_of("google"))
    ada, client = person("ada", into=app), PageClient(app)
    seen = come_back(client, "google", google, "?next=/account", **user_of(ada))
    assert ("Returning from Google." in seen.text, client.is_signed_in()) == (True, False)
    client.submit(callback("google"))
    assert (client.path, client.is_signed_in()) == ("/account", True)


def test_github_signs_in_on_the_pages(
    make: MakeProvidersApp, github: GitHub, person: MakePerson
) -> None:
    app = make(github=client_of("github"))
    ada, client = person("ada", into=app), PageClient(app)
    emails = [{"email": ada.email, "primary": True, "verified": True}]
    come_back(client, "github", github, id=1, login="ada", emails=emails)
    client.submit(callback("github"))
    assert client.is_signed_in()


def test_apple_signs_in_if_its_redirect_uri_is_the_console_page(
    make: MakeProvidersApp, apple: Apple, person: MakePerson, tmp_path: Path
) -> None:
    own = client_of_apple(apple, tmp_path, redirect_uri=f"{HOST}{callback('apple')}")
    app = make(apple=own)
    ada, client = person("ada", into=app), PageClient(app)
    assert "/sign-in/provider/apple" in client.open("/sign-in").links
    come_back(client, "apple", apple, **user_of(ada))
    client.submit(callback("apple"))
    assert client.is_signed_in()


def test_apple_is_not_offered_if_it_returns_to_another_client(
    make: MakeProvidersApp, apple: Apple, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    client = PageClient(make(apple=client_of_apple(apple, tmp_path)))
    assert "Apple" not in client.open("/sign-in").text
    client.open("/sign-in/provider/apple")
    assert client.status == 503
    assert f"{HOST}{callback('apple')} is not an allowed redirect URI" in capfd.readouterr().err


def test_response_with_another_issuer_is_rejected(
    make: MakeProvidersApp, google: Google, person: MakePerson
) -> None:
    app = make(google=client_of("google"))
    ada, client = person("ada", into=app), PageClient(app)
    answer = client.client.get("/sign-in/provider/google", base_url=HOST, headers=SAME_ORIGIN)
    back = google.authorize(answer.headers["Location"], **user_of(ada))
    client.open(callback("google"), query_string={**back, "iss": "https://evil.example"})
    seen = client.submit(callback("google"))
    assert (client.status, client.is_signed_in()) == (400, False)
    assert "The identity provider's response was rejected." in seen.text
    assert "/sign-in/provider/google" in seen.links


def test_code_of_one_provider_is_rejected_on_the_page_of_another(
    make: MakeProvidersApp, google: Google, github: GitHub, person: MakePerson
) -> None:
    app = make(google=client_of("google"), github=client_of("github"))
    ada, client = person("ada", into=app), PageClient(app)
    answer = client.client.get("/sign-in/provider/google", base_url=HOST, headers=SAME_ORIGIN)
    back = google.authorize(answer.headers["Location"], **user_of(ada))
    client.open(callback("github"), query_string=back)
    seen = client.submit(callback("github"))
    assert (client.status, client.is_signed_in()) == (400, False)
    assert "This sign-in was started in another browser" in seen.text


def test_canceled_sign_in_names_the_provider(make: MakeProvidersApp) -> None:
    client = PageClient(make(acme=client_of("oidc", title="Acme", **ACME)))
    seen = client.open(f"{callback('acme')}?error=access_denied&state=x")
    assert "Acme did not sign you in" in seen.text
    assert "/sign-in/provider/acme" in seen.links


def test_pages_of_unknown_providers_do_not_exist(make: MakeProvidersApp, app: Flask) -> None:
    for client in (PageClient(make(google=client_of("google"))), PageClient(app)):
        for path in ("/sign-in/provider/acme", callback("acme")):
            client.open(path)
            assert client.status == 404


@pytest.fixture
def ada(make: MakeProvidersApp, google: Google, person: MakePerson) -> Person:
    """The owner of an account who must confirm each link."""
    return person("ada", into=make(google=client_of("google"), AUTH__IDP_LINKING="confirm"))


def asks_to_link(ada: Person, google: Google, query: str = "") -> PageClient:
    """Sign in at Google with the address of the account."""
    client = PageClient(ada.app)
    come_back(client, "google", google, query, **user_of(ada))
    seen = client.submit(callback("google"))
    assert "An account with this email address exists. Sign in" in seen.text
    assert client.path == f"/sign-in?next={LINK}"
    return client


def test_owner_confirms_a_link_after_sign_in_with_a_second_factor(
    ada: Person, google: Google, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    client = asks_to_link(ada, google, "?next=/account")
    client.submit("/sign-in", email=ada.email, password=ada.password)
    seen = client.submit("/sign-in/second-step", otp=phone.next_code())
    assert client.path == LINK
    assert "Link your account with Google?" in seen.text
    seen = client.submit(LINK)
    assert client.path == "/account"
    assert "You can now sign in with Google." in seen.text
    # The link is single-use.
    assert "has expired" in client.open(LINK).text
    client.open("/account")
    client.submit("/sign-out")
    come_back(client, "google", google, **user_of(ada))
    client.submit(callback("google"))
    client.submit("/sign-in/second-step", otp=phone.next_code())
    assert client.is_signed_in()


def test_link_of_another_account_is_rejected(
    ada: Person, google: Google, person: MakePerson
) -> None:
    client = asks_to_link(ada, google)
    eve = person("eve", into=ada.app)
    client.submit("/sign-in", email=eve.email, password=eve.password)
    seen = client.submit(LINK)
    assert (client.status, "invalid, was used, or has expired" in seen.text) == (400, True)


def test_request_to_link_expires_after_ten_minutes(
    ada: Person, google: Google, clock: SteppingClock
) -> None:
    client = asks_to_link(ada, google)
    clock.step(minutes=11)
    client.sign_in(ada.email, ada.password, f"/sign-in?next={LINK}")
    assert "has expired" in client.page.text
    answer = client.client.post(LINK, base_url=HOST, headers=SAME_ORIGIN)
    assert answer.status_code == 422
    assert "has expired" in answer.text


def test_link_page_does_not_exist_without_providers(app: Flask, person: MakePerson) -> None:
    client, ada = PageClient(app), person("ada")
    client.sign_in(ada.email, ada.password)
    client.open(LINK)
    assert client.status == 404


def test_new_user_of_microsoft_enters_the_emailed_code(
    make: MakeProvidersApp, microsoft: Microsoft, person: MakePerson, mails: MailOutbox
) -> None:
    app = make(microsoft=client_of("microsoft", tenant="common"))
    ada, client = person("ada", into=app), PageClient(app)
    code = "/sign-in/provider/microsoft/code"
    client.open(code)
    assert client.path == "/sign-in"
    come_back(client, "microsoft", microsoft, "?next=/account", sub="m-1", email=ada.email)
    seen = client.submit(callback("microsoft"))
    assert "Microsoft has not verified your email address" in seen.text
    seen = client.submit(code, code="00000000")
    assert (client.status, "invalid, was used, or has expired" in seen.text) == (400, True)
    client.submit(code, code=code_of(mails, ada.email))
    assert (client.path, client.is_signed_in()) == ("/account", True)


def test_emailed_code_leaves_the_confirmation_to_the_owner(
    make: MakeProvidersApp, microsoft: Microsoft, person: MakePerson, mails: MailOutbox
) -> None:
    app = make(microsoft=client_of("microsoft", tenant="common"), AUTH__IDP_LINKING="confirm")
    ada, client = person("ada", into=app), PageClient(app)
    come_back(client, "microsoft", microsoft, sub="m-1", email=ada.email)
    client.submit(callback("microsoft"))
    seen = client.submit("/sign-in/provider/microsoft/code", code=code_of(mails, ada.email))
    assert "then link the account with Microsoft." in seen.text
    client.submit("/sign-in", email=ada.email, password=ada.password)
    client.submit(LINK)
    assert "You can now sign in with Microsoft." in client.page.text
