"""Owners list, link and unlink the identities of their accounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.auth.idp.identities import Identities
from app.auth.idp.models import Identity
from app.core.context import current_frontdesk, service
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cookie_browsers import CookieBrowser
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import Fake, GitHub, Google
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor
from ..rigs.racing import request, run_concurrently
from .passkey_holder import Holder

PATH = "/account/identities"
ISSUER = "https://accounts.google.com"
# A user of the provider with another address, which is not verified.
USER: dict[str, Any] = {"sub": "1", "email": "Lovelace@Example.org", "email_verified": False}
# Of requests at once.
ROUNDS = 10
OCTOCAT = {"id": 7, "login": "ada", "emails": []}


@pytest.fixture
def app(make_providers_app: MakeProvidersApp, google: Google, github: GitHub) -> Flask:
    return make_providers_app(
        google=client_of("google"), github=client_of("github"), AUTH__SESSIONS="on"
    )


@pytest.fixture
def ada(app: Flask, person: MakePerson) -> Person:
    return person("ada", into=app)


@pytest.fixture
def eve(app: Flask, person: MakePerson) -> Person:
    return person("eve", into=app)


def begin(api: Api, provider: str = "google", status: int = 200) -> str:
    answer = api.post(f"{PATH}/{provider}", status, json={"redirect_uri": REDIRECT_URI})
    return str(answer.json["provider_url"])


def finish(
    api: Api, found: dict[str, str], status: int = 200, provider: str = "google", **more: Any
) -> Answer:
    body = {"code": found["code"], "state": found["state"], "redirect_uri": REDIRECT_URI}
    return api.post(f"/idp/{provider}/callback", status, json=body, **more)


def link(api: Api, fake: Fake, status: int = 200, **user: Any) -> Answer:
    return finish(api, fake.authorize(begin(api), **user), status)


def send(api: Api, found: dict[str, str], provider: str = "google") -> Callable[[], int]:
    """Return a function that finishes a sign-in or a link and returns the status."""
    body = {"code": found["code"], "state": found["state"], "redirect_uri": REDIRECT_URI}
    path = f"{api.prefix}/idp/{provider}/callback"
    headers = {"Authorization": f"Bearer {api.token}"} if api.token else {}
    return lambda: api.client.post(path, json=body, headers=headers).status_code


def code_of(answer: Answer) -> str:
    return str(answer.json["code"])


def linked(app: Flask) -> list[tuple[Any, str]]:
    """Return the account and the user of each identity."""
    with app.app_context():
        rows = service(Identities).session.execute(
            select(Identity.account_id, Identity.subject).order_by(Identity.id)
        )
        return [(account_id, subject) for account_id, subject in rows]


def audited(person: Person) -> list[tuple[str, str]]:
    found = person.api().get("/account/events").json
    kinds = [(each["type"], each["data"].get("issuer", "")) for each in reversed(found)]
    return [each for each in kinds if each[0].startswith("identity.")]


def test_owner_links_lists_and_unlinks_an_identity(
    ada: Person, google: Google, github: GitHub, mails: MailOutbox
) -> None:
    api = ada.api()
    assert api.get(PATH).json == []
    identity = link(api, google, **USER).json
    # The provider has not verified the address.
    assert identity["email"] == "lovelace@example.org"
    assert (identity["provider"], identity["issuer"]) == ("google", ISSUER)
    other = finish(api, github.authorize(begin(api, "github"), **OCTOCAT), provider="github").json
    # The user of the provider has no address.
    assert (other["provider"], other["email"]) == ("github", "")
    assert api.get(PATH).json == [identity, other]
    assert [mail.to for mail in mails.sent] == [ada.email] * 2
    assert "new sign-in method added" in mails.sent[0].subject
    guest = Guest(ada.app, "google")
    assert guest.sign_in(google, **USER).json["account"]["id"] == ada.id

    assert api.delete(f"{PATH}/{identity['id']}").json["id"] == identity["id"]
    assert [each["id"] for each in api.get(PATH).json] == [other["id"]]
    assert code_of(api.delete(f"{PATH}/{identity['id']}", 404)) == "identity_not_found"
    assert code_of(guest.sign_in(google, 400, **USER)) == "email_not_verified"
    github_issuer = "https://github.com"
    assert audited(ada) == [
        ("identity.linked", ISSUER),
        ("identity.linked", github_issuer),
        ("identity.unlinked", ISSUER),
    ]


def test_link_opens_no_session(ada: Person, google: Google) -> None:
    api = ada.api()
    before = api.get("/sessions").json
    answer = link(api, google, **USER)
    assert "access_token" not in answer.json
    assert [each["id"] for each in api.get("/sessions").json] == [each["id"] for each in before]


@only_on("sqlite")
def test_link_of_the_same_user_again_returns_the_identity(
    ada: Person, google: Google, mails: MailOutbox
) -> None:
    api = ada.api()
    identity = link(api, google, **USER).json
    assert link(api, google, **USER).json == identity
    assert (len(mails.sent), len(audited(ada))) == (1, 1)


@only_on("sqlite")
def test_user_of_another_account_is_not_linked(ada: Person, eve: Person, google: Google) -> None:
    link(ada.api(), google, **USER)
    assert code_of(link(eve.api(), google, 409, **USER)) == "identity_taken"
    assert linked(ada.app) == [(ada.id, "1")]


@only_on("sqlite")
def test_account_has_one_user_of_a_provider(ada: Person, google: Google) -> None:
    api = ada.api()
    link(api, google, **USER)
    answer = link(api, google, 400, **USER | {"sub": "2"})
    assert code_of(answer) == "linked_to_another"
    assert linked(ada.app) == [(ada.id, "1")]


@only_on("sqlite")
@pytest.mark.parametrize("email", [None, 7, "no address", "a\x00@example.com", "a" * 500])
def test_unreadable_address_is_not_stored(ada: Person, google: Google, email: object) -> None:
    assert link(ada.api(), google, sub="1", email=email).json["email"] == ""


@only_on("sqlite")
def test_link_is_refused_where_a_sign_in_would_be(
    ada: Person, google: Google, clock: SteppingClock
) -> None:
    api = ada.api()
    # Without an account at the provider, a forged code.
    assert code_of(finish(api, {"code": "x", "state": state_of(begin(api))}, 400)) == (
        "sign_in_refused"
    )
    found = google.authorize(begin(api), **USER)
    clock.step(minutes=11)
    assert code_of(finish(api, found, 400)) == "unknown_sign_in"
    assert linked(ada.app) == []


def state_of(url: str) -> str:
    return url.split("state=")[1].split("&")[0]


@only_on("sqlite")
class TestBegin:
    def test_requirements(self, ada: Person, clock: SteppingClock) -> None:
        api = ada.api()
        assert code_of(api.post(f"{PATH}/other", 404, json={})) == "provider_not_found"
        # Without a body, the redirect URI is that of the provider.
        assert "provider_url" in api.post(f"{PATH}/google").json
        bad = {"redirect_uri": "https://evil.example/"}
        assert api.post(f"{PATH}/google", 422, json=bad).faults == ["json:redirect_uri"]
        assert code_of(Api(ada.app).post(f"{PATH}/google", 401, json={})) == "invalid_credentials"
        clock.step(minutes=16)
        answer = api.post(f"{PATH}/google", 401, json={})
        assert code_of(answer) == "reauthentication_required"
        assert "Set-Cookie" not in answer.headers

    def test_session_cookie_is_sent_after_the_provider_returns(self, ada: Person) -> None:
        """Also in an application that does not set the attribute of its cookie."""
        ada.app.config["SESSION_COOKIE_SAMESITE"] = None
        cookie = ada.api().post(f"{PATH}/google").headers["Set-Cookie"]
        assert "SameSite=Lax" in cookie

    def test_provider_that_is_away(self, ada: Person, make_providers_app: MakeProvidersApp) -> None:
        away = {"metadata_url": "http://127.0.0.1:1/.well-known/openid-configuration"}
        app = make_providers_app(acme=client_of("oidc", **away))
        api = Api(app, token=Person(app, ada.id, ada.email, prefix="/api/v1").token())
        assert code_of(api.post(f"{PATH}/acme", 502, json={})) == "provider_unavailable"

    def test_without_providers(self, make_app: MakeApp, person: MakePerson) -> None:
        api = person("ada", into=make_app()).api()
        for answer in (api.get(PATH, 404), api.post(f"{PATH}/google", 404, json={})):
            assert code_of(answer) == "feature_off"
        assert code_of(api.delete(f"{PATH}/1", 404)) == "feature_off"


@only_on("sqlite")
class TestHostile:
    def test_link_needs_the_credential_of_its_account(
        self, ada: Person, eve: Person, google: Google
    ) -> None:
        api = ada.api()
        found = google.authorize(begin(api), **USER)
        for token in (None, eve.token()):
            other = api.as_token(token)
            other.client = api.client
            assert code_of(finish(other, found, 400)) == "unknown_sign_in"
        other.token = "invalid"
        assert code_of(finish(other, found, 401)) == "invalid_credentials"
        assert linked(ada.app) == []
        # The owner's own request still works, once.
        finish(api, found)
        assert code_of(finish(api, found, 400)) == "unknown_sign_in"

    def test_link_of_another_browser(self, ada: Person, google: Google) -> None:
        found = google.authorize(begin(ada.api()), **USER)
        assert code_of(finish(ada.api(), found, 400)) == "unknown_sign_in"
        assert linked(ada.app) == []

    def test_link_of_an_attacker_in_the_browser_of_another_account(
        self, ada: Person, eve: Person, google: Google
    ) -> None:
        """The attacker wants to sign in to the attacker's account as the victim's identity, or
        the attacker's identity linked to the victim's account."""
        victim, attacker = ada.api(), eve.api()
        begin(victim)
        url = begin(attacker)
        # The victim opens the attacker's URL, and consents.
        assert code_of(finish(victim, google.authorize(url, **USER), 400)) == "unknown_sign_in"
        # The attacker's code with the state of the victim's own link.
        code = google.authorize(begin(attacker), sub="666")["code"]
        forged = {"code": code, "state": state_of(begin(victim))}
        assert code_of(finish(victim, forged, 400)) == "sign_in_refused"
        assert linked(ada.app) == []

    def test_code_of_one_provider_at_the_callback_of_another(
        self, ada: Person, google: Google, github: GitHub
    ) -> None:
        api = ada.api()
        found = google.authorize(begin(api), **USER)
        other = github.authorize(begin(api, "github"), **OCTOCAT)
        assert code_of(finish(api, found, 400, "github")) == "unknown_sign_in"
        assert code_of(finish(api, {**found, "state": other["state"]}, 400, "github")) == (
            "sign_in_refused"
        )
        assert linked(ada.app) == []
        finish(api, found)

    def test_sign_in_does_not_link_and_link_does_not_sign_in(
        self, ada: Person, google: Google
    ) -> None:
        api, guest = ada.api(), Guest(ada.app, "google")
        guest.api = api
        sign_in, own = google.authorize(guest.begin(), **USER), google.authorize(begin(api), **USER)
        # The state of a sign-in, with the credential of the account.
        assert code_of(finish(api, sign_in, 400)) == "email_not_verified"
        assert linked(ada.app) == []
        finish(api, own)
        again = google.authorize(begin(api), **USER)
        api.token = None
        # The user could sign in now, but has begun a link.
        assert code_of(finish(api, again, 400)) == "unknown_sign_in"
        state = state_of(guest.begin())
        assert code_of(finish(api, {**again, "state": state}, 400)) == "sign_in_refused"

    def test_link_is_not_finished_at_the_contracts_callback(
        self, make_idp_app: Callable[..., Flask], person: MakePerson
    ) -> None:
        ada = person("ada", into=make_idp_app())
        visitor, api = Visitor(ada.api()), ada.api()
        visitor.api = api
        found = visitor.browser.sign_in(begin(api, "default"), "ada", REDIRECT_URI)
        for body in (found, {"code": found["code"]}):
            body = {**body, "redirect_uri": REDIRECT_URI}
            assert code_of(api.post("/idp/callback", 400, json=body)) == "unknown_sign_in"
        stateless = {"code": found["code"], "redirect_uri": REDIRECT_URI}
        assert code_of(api.post("/idp/default/callback", 400, json=stateless)) == "unknown_sign_in"
        assert linked(ada.app) == []
        finish(api, found, provider="default")
        assert linked(ada.app) == [(ada.id, "ada")]

    @pytest.mark.parametrize("sessions", ["on", "off"])
    def test_suspended_owner_links_nothing(
        self,
        make_providers_app: MakeProvidersApp,
        person: MakePerson,
        google: Google,
        sessions: str,
    ) -> None:
        app = make_providers_app(google=client_of("google"), AUTH__SESSIONS=sessions)
        ada = person("ada", into=app)
        api = ada.api()
        found = google.authorize(begin(api), **USER)
        ada.change(status="suspended")
        finish(api, found, 401)
        assert linked(app) == []

    def test_cookie_of_a_page_of_another_site_links_nothing(
        self, make_providers_app: MakeProvidersApp, person: MakePerson, google: Google
    ) -> None:
        app = make_providers_app(google=client_of("google"), AUTH__COOKIE_SESSIONS="on")
        browser = CookieBrowser(app)
        browser.sign_in(person("ada", into=app))
        forged: dict[str, Any] = {"headers": {"Sec-Fetch-Site": "cross-site"}}
        assert code_of(browser.post(f"{PATH}/google", 403, json={}, **forged)) == "cross_site"
        found = google.authorize(begin(browser), **USER)
        assert code_of(finish(browser, found, 403, **forged)) == "cross_site"
        assert linked(app) == []
        finish(browser, found)
        assert [subject for _, subject in linked(app)] == ["1"]


class TestUnlink:
    @only_on("sqlite")
    def test_identity_of_another_account(self, ada: Person, eve: Person, google: Google) -> None:
        identity = link(ada.api(), google, **USER).json
        api = eve.api()
        assert api.get(PATH).json == []
        assert code_of(api.delete(f"{PATH}/{identity['id']}", 404)) == "identity_not_found"
        assert linked(ada.app) == [(ada.id, "1")]

    @only_on("sqlite")
    def test_recent_sign_in_is_required(
        self, ada: Person, google: Google, clock: SteppingClock
    ) -> None:
        api = ada.api()
        identity = link(api, google, **USER).json
        clock.step(minutes=16)
        answer = api.delete(f"{PATH}/{identity['id']}", 401)
        assert code_of(answer) == "reauthentication_required"

    def test_only_sign_in_method_stays(
        self, make_providers_app: MakeProvidersApp, google: Google, github: GitHub
    ) -> None:
        app = make_providers_app(
            google=client_of("google"),
            github=client_of("github"),
            AUTH__PASSKEYS="on",
            AUTH__PASSWORDS="off",
            AUTH__ALLOW_IDP_OAUTH_SIGNUP="true",
        )
        verified = USER | {"email_verified": True}
        api = Api(app, token=Guest(app, "google").sign_in(google, **verified).json["access_token"])
        (identity,) = api.get(PATH).json
        path = f"{PATH}/{identity['id']}"
        assert code_of(api.delete(path, 409)) == "only_sign_in_method"
        # The provider of this identity is not configured any more.
        former = add_identity(app, identity["id"], "https://former.example.com")
        assert code_of(api.delete(path, 409)) == "only_sign_in_method"
        api.delete(f"{PATH}/{former}")
        other = finish(api, github.authorize(begin(api, "github"), **OCTOCAT), provider="github")
        api.delete(path)
        assert code_of(api.delete(f"{PATH}/{other.json['id']}", 409)) == "only_sign_in_method"
        Holder(api).add()
        api.delete(f"{PATH}/{other.json['id']}")
        assert linked(app) == []

    @only_on("sqlite")
    @pytest.mark.parametrize(
        ("settings", "status"),
        [
            ({"AUTH__PASSWORDS": "off"}, 409),
            ({"AUTH__PASSWORDS": "off", "AUTH__LOGIN_BY_CODE": "on"}, 200),
            ({}, 200),
        ],
    )
    def test_methods_by_the_settings(
        self,
        make_providers_app: MakeProvidersApp,
        ada: Person,
        google: Google,
        settings: dict[str, str],
        status: int,
    ) -> None:
        app = make_providers_app(google=client_of("google"), **settings)
        user = USER | {"email": ada.email, "email_verified": True}
        token = Guest(app, "google").sign_in(google, **user).json["access_token"]
        api = Api(app, token=token)
        api.delete(f"{PATH}/{api.get(PATH).json[0]['id']}", status)


def add_identity(app: Flask, like: int, issuer: str) -> int:
    """Add an identity to the account of another one, and return its id."""
    with app.app_context():
        session = current_frontdesk.session
        found = session.get(Identity, like)
        assert found is not None
        columns = ("account_id", "provider", "subject", "email", "linked_at", "last_used_at")
        values = {name: getattr(found, name) for name in columns}
        added = Identity(**values, issuer=issuer)
        session.add(added)
        session.commit()
        return added.id


class TestAtOnce:
    def test_one_user_is_linked_to_one_of_two_accounts(
        self, ada: Person, eve: Person, google: Google, mails: MailOutbox
    ) -> None:
        apis = [ada.api(), eve.api()]
        calls = [send(api, google.authorize(begin(api), **USER)) for api in apis]
        assert run_concurrently(*calls) == [200, 409]
        assert len(linked(ada.app)) == len(mails.sent) == 1

    def test_two_users_of_one_provider_are_not_linked_to_one_account(
        self, ada: Person, google: Google
    ) -> None:
        api, other = ada.api(), ada.api()
        users = [(api, "1"), (other, "2")]
        calls = [send(api, google.authorize(begin(api), sub=subject)) for api, subject in users]
        assert run_concurrently(*calls) == [200, 400]
        assert len(linked(ada.app)) == 1

    def test_copied_state_links_once(self, ada: Person, google: Google) -> None:
        api = ada.api()
        url = begin(api)
        finders = [send(api, google.authorize(url, **USER)) for _ in range(4)]
        assert run_concurrently(*finders) == [200, 400, 400, 400]

    def test_link_by_the_owner_and_first_sign_in(self, ada: Person, google: Google) -> None:
        api, guest = ada.api(), Guest(ada.app, "google")
        user = {"sub": "1", "email": ada.email, "email_verified": True}
        own, sign_in = google.authorize(begin(api), **user), google.authorize(guest.begin(), **user)
        assert run_concurrently(send(api, own), send(guest.api, sign_in)) == [200, 200]
        assert linked(ada.app) == [(ada.id, "1")]

    def test_unlinking_and_a_sign_in(self, ada: Person, google: Google) -> None:
        """The sign-in came first, or links the account again by the verified address."""
        api = ada.api()
        user: dict[str, Any] = {"sub": "1", "email": ada.email, "email_verified": True}
        for _ in range(3):
            identity = link(api, google, **user).json
            guest = Guest(ada.app, "google")
            sign_in = send(guest.api, google.authorize(guest.begin(), **user))
            unlinking = request(api, "DELETE", f"{PATH}/{identity['id']}")
            assert run_concurrently(sign_in, unlinking) == [200, 200]
            assert linked(ada.app) in ([], [(ada.id, "1")])

    def test_one_of_the_last_two_identities_stays(
        self, make_providers_app: MakeProvidersApp, google: Google
    ) -> None:
        app = make_providers_app(
            google=client_of("google"),
            github=client_of("github"),
            AUTH__PASSWORDS="off",
            AUTH__ALLOW_IDP_OAUTH_SIGNUP="true",
        )
        verified = USER | {"email_verified": True}
        api = Api(app, token=Guest(app, "google").sign_in(google, **verified).json["access_token"])
        issuers = {ISSUER, "https://github.com"}
        for _ in range(ROUNDS):
            [left] = api.get(PATH).json
            [missing] = issuers - {left["issuer"]}
            ids = [left["id"], add_identity(app, left["id"], missing)]
            calls = [request(api, "DELETE", f"{PATH}/{each}") for each in ids]
            assert run_concurrently(*calls) == [200, 409]
            assert len(linked(app)) == 1
