"""Emailed codes for new users of Microsoft, which verifies no email addresses."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema, fields

from app import Parts, Schemas
from app.accounts.service import Accounts
from app.auth.idp.users import IdpUserInfo
from app.core.context import service
from app.core.keystore import KeystoreUnavailable
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..audit.entries import records
from ..conftest import Backend, MakePerson, only_on
from ..registration.visitors import GROUPED, code_in, grouped
from ..rigs.cases import for_each
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import OTHER_TENANT, TENANT, Google, Microsoft
from ..rigs.oidc.host import make_host
from ..rigs.oidc.visitor import REDIRECT_URI
from ..rigs.racing import run_concurrently

ZOE, ADA = "zoe@example.com", "ada@example.com"
CLIENT = client_of("microsoft", tenant="common")
OTHER_CLIENT = client_of(
    "oidc", metadata_url="https://idp.example.com/.well-known/openid-configuration"
)


@pytest.fixture
def app(make_providers_app: MakeProvidersApp, microsoft: Microsoft) -> Flask:
    return make_providers_app(
        microsoft=CLIENT, acme=OTHER_CLIENT, AUTH__ALLOW_IDP_OAUTH_SIGNUP="true"
    )


def code_of(answer: Any) -> str:
    return str(answer.json["code"])


def ask(app: Flask, microsoft: Microsoft, email: str = ZOE, sub: str = "1", **claims: Any) -> str:
    """Sign in at Microsoft as an unknown user, and return the id of the sign-in."""
    answer = Guest(app, "microsoft").sign_in(microsoft, 403, email=email, sub=sub, **claims)
    assert code_of(answer) == "email_code_required"
    return str(answer.json["login_id"])


def verify(app: Flask, login_id: str, code: str, status: int = 200, name: str = "microsoft") -> Any:
    body = {"login_id": login_id, "code": code}
    return Api(app).post(f"/idp/{name}/verify", status, json=body)


def mailed_code(mails: MailOutbox, email: str = ZOE) -> str:
    return code_in(mails.last(email).text)


def other_than(code: str) -> str:
    return f"{(int(code) + 1) % 10**8:08d}"


def test_code_creates_the_account_and_the_identity_needs_no_other_code(
    app: Flask, microsoft: Microsoft, mails: MailOutbox
) -> None:
    login_id = ask(app, microsoft)
    answer = verify(app, login_id, mailed_code(mails))
    assert (answer.json["account"]["email"], answer.json["token_type"]) == (ZOE, "bearer")
    mails.clear()
    again = Guest(app, "microsoft").sign_in(microsoft, email=ZOE, sub="1")
    assert again.json["account"]["id"] == answer.json["account"]["id"]
    mails.assert_empty()
    types = [(each.type, each.data) for each in records(app, type="login.succeeded")]
    assert types == [("login.succeeded", {"proofs": ["provider"]})] * 2


@pytest.mark.parametrize("pattern", GROUPED)
def test_code_may_be_grouped(
    app: Flask, microsoft: Microsoft, mails: MailOutbox, pattern: str
) -> None:
    verify(app, ask(app, microsoft), grouped(mailed_code(mails), pattern))


def test_response_and_email_do_not_reveal_whether_an_account_exists(
    app: Flask, microsoft: Microsoft, mails: MailOutbox, person: MakePerson
) -> None:
    person("ada", into=app)
    answers = [
        Guest(app, "microsoft").sign_in(microsoft, 403, email=email, sub=email)
        for email in (ADA, ZOE)
    ]
    bodies = [{**answer.json, "login_id": "", "request_id": ""} for answer in answers]
    assert bodies[0] == bodies[1]
    texts = [
        mails.last(email).text.replace(mailed_code(mails, email), "CODE").replace(email, "EMAIL")
        for email in (ADA, ZOE)
    ]
    assert texts[0].replace("ada", "zoe") == texts[1]


def test_code_does_not_replace_the_sign_up_policy(
    make_providers_app: MakeProvidersApp, microsoft: Microsoft, mails: MailOutbox
) -> None:
    app = make_providers_app(microsoft=CLIENT)
    login_id = ask(app, microsoft)
    assert code_of(verify(app, login_id, mailed_code(mails), 400)) == "no_account"


@pytest.mark.parametrize("keystore", ["", "database"])
def test_code_is_single_use(
    make_providers_app: MakeProvidersApp, microsoft: Microsoft, mails: MailOutbox, keystore: str
) -> None:
    settings = {"CORE__KEYSTORE": keystore} if keystore else {}
    app = make_providers_app(microsoft=CLIENT, AUTH__ALLOW_IDP_OAUTH_SIGNUP="true", **settings)
    login_id, code = ask(app, microsoft), mailed_code(mails)
    attempts = [
        lambda: (
            Api(app)
            .client.post("/api/v1/idp/microsoft/verify", json={"login_id": login_id, "code": code})
            .status_code
        )
    ] * 4
    assert run_concurrently(*attempts) == [200, 400, 400, 400]
    assert code_of(verify(app, login_id, code, 400)) == "invalid_token"


def test_five_wrong_codes_end_the_code(app: Flask, microsoft: Microsoft, mails: MailOutbox) -> None:
    login_id, code = ask(app, microsoft), mailed_code(mails)
    for _ in range(5):
        assert code_of(verify(app, login_id, other_than(code), 400)) == "invalid_token"
    assert code_of(verify(app, login_id, code, 400)) == "invalid_token"
    # The sign-in that needed a code, and six attempts.
    assert len(records(app, type="login.failed")) == 7


def test_code_is_valid_only_with_its_own_id_and_provider(
    app: Flask, microsoft: Microsoft, mails: MailOutbox
) -> None:
    first = ask(app, microsoft)
    code = mailed_code(mails)
    second = ask(app, microsoft, sub="2")
    for login_id in (second, "unknown", "é"):
        assert code_of(verify(app, login_id, code, 400)) == "invalid_token"
    assert code_of(verify(app, first, code, 400, "acme")) == "invalid_token"
    assert code_of(verify(app, first, code, 404, "other")) == "provider_not_found"
    verify(app, first, code)


# Redis has its own clock.
@only_on("sqlite")
def test_code_expires_after_ten_minutes(
    app: Flask, microsoft: Microsoft, mails: MailOutbox, clock: SteppingClock
) -> None:
    login_id, code = ask(app, microsoft), mailed_code(mails)
    clock.step(minutes=10, seconds=1)
    assert code_of(verify(app, login_id, code, 400)) == "invalid_token"


def test_user_of_the_code_is_the_user_of_the_sign_in(
    app: Flask, microsoft: Microsoft, mails: MailOutbox
) -> None:
    """A person cannot use the address of another tenant's user: each user has an own code."""
    own = ask(app, microsoft, sub="1")
    code = mailed_code(mails)
    other = ask(app, microsoft, sub="1", tid=OTHER_TENANT)
    assert code_of(verify(app, other, code, 400)) == "invalid_token"
    verify(app, own, code)
    assert code_of(verify(app, other, mailed_code(mails), 400)) == "linked_to_another"


def test_emails_to_one_address_are_limited_together_with_sign_in_codes(
    make_providers_app: MakeProvidersApp, microsoft: Microsoft, mails: MailOutbox
) -> None:
    app = make_providers_app(
        microsoft=CLIENT,
        AUTH__LOGIN_BY_CODE="on",
        AUTH__LOGIN_CODE_LIMIT="2 per hour",
        AUTH__RATE_LIMITS_ENABLED="true",
    )
    ask(app, microsoft, sub="1")
    Api(app).post("/login/code", 202, json={"email": ZOE})
    answer = Guest(app, "microsoft").sign_in(microsoft, 429, email=ZOE, sub="3")
    assert (code_of(answer), "Retry-After" in answer.headers) == ("too_many_attempts", True)
    assert len(mails.to(ZOE)) == 2
    ask(app, microsoft, "yan@example.com", sub="4")


@for_each(
    ("claims", "outcome"),
    [
        ({}, "email_not_verified"),
        ({"email": None}, "email_not_verified"),
        ({"email": ["zoe@example.com"]}, "email_not_verified"),
        ({"email": "no address"}, "email_not_verified"),
        ({"email": "zoe\N{KELVIN SIGN}@example.com"}, "ambiguous_email"),
    ],
)
def test_no_code_is_sent_to_an_unusable_address(
    app: Flask, microsoft: Microsoft, mails: MailOutbox, claims: dict[str, Any], outcome: str
) -> None:
    answer = Guest(app, "microsoft").sign_in(microsoft, 400, sub="9", **claims)
    assert code_of(answer) == outcome
    mails.assert_empty()


def test_other_providers_send_no_code(
    make_providers_app: MakeProvidersApp, google: Google, mails: MailOutbox
) -> None:
    app = make_providers_app(google=client_of("google"))
    answer = Guest(app, "google").sign_in(google, 400, email=ZOE, sub="1")
    assert code_of(answer) == "email_not_verified"
    mails.assert_empty()


def test_malformed_request_is_rejected(app: Flask) -> None:
    answer = Api(app).post("/idp/microsoft/verify", 422, json={})
    assert answer.faults == ["json:login_id", "json:code"]


def test_state_store_does_not_have_the_code_or_the_id(
    app: Flask, microsoft: Microsoft, mails: MailOutbox
) -> None:
    store = app.extensions["frontdesk"].keystore
    written: list[str] = []
    put = store.put

    def note(key: str, value: str, seconds: int) -> None:
        written.extend((key, value))
        put(key, value, seconds)

    store.put = note
    login_id = ask(app, microsoft)
    del store.put
    code = mailed_code(mails)
    assert written
    assert not [text for text in written if login_id in text or code in text]


def test_state_store_that_is_unavailable_sends_no_code(
    app: Flask, microsoft: Microsoft, mails: MailOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*values: object) -> None:
        raise KeystoreUnavailable

    login_id = ask(app, microsoft)
    code = mailed_code(mails)
    mails.clear()
    store = app.extensions["frontdesk"].keystore
    with monkeypatch.context() as patch:
        patch.setattr(store, "put", fail)
        answer = Guest(app, "microsoft").sign_in(microsoft, 503, email=ZOE, sub="2")
        assert code_of(answer) == "keystore_unavailable"
        patch.setattr(store, "get", fail)
        assert code_of(verify(app, login_id, code, 503)) == "keystore_unavailable"
    mails.assert_empty()
    verify(app, login_id, code)


def test_groups_of_the_user_become_roles_after_the_code(
    make_providers_app: MakeProvidersApp, microsoft: Microsoft, mails: MailOutbox
) -> None:
    client = client_of("microsoft", tenant=TENANT, groups_claim="roles", roles={"Boss": "admin"})
    app = make_providers_app(microsoft=client, AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
    login_id = ask(app, microsoft, roles=["Boss"])
    answer = verify(app, login_id, mailed_code(mails))
    assert answer.json["account"]["role"] == "admin"


class Signup(Schema):
    since = fields.Date(required=True)


def test_listener_gets_claims_and_auth_data_after_the_code(
    backend: Backend, microsoft: Microsoft, mails: MailOutbox
) -> None:
    received: list[IdpUserInfo] = []

    def create(person: IdpUserInfo, options: dict[str, Any]) -> None:
        received.append(person)
        service(Accounts).create(person.email, None)

    settings = {
        "SECRET_KEY": "another secret key for tests, long enough for HS256",
        "PROVIDERS": {"microsoft": client_of("microsoft", tenant=TENANT)},
        "IDP_REDIRECT_URI": REDIRECT_URI,
        "ALLOW_IDP_OAUTH_SIGNUP": True,
    }
    app = make_host(
        backend.database_url,
        settings,
        on_sign_up=create,
        schemas=Schemas(idp_payload=Signup),
        parts=Parts(one_off_mail=mails),
    )
    guest = Guest(app, "microsoft")
    found = microsoft.authorize(guest.begin(), email=ZOE, sub="1", name="Zoe")
    answer = guest.finish(found, 403, auth_data={"since": "2026-01-31"})
    assert received == []
    verify(app, answer.json["login_id"], mailed_code(mails))
    [user] = received
    assert (user.email, user.subject, user.claims["name"]) == (ZOE, "1", "Zoe")
    assert user.issuer == f"https://login.microsoftonline.com/{TENANT}/v2.0"
    assert user.auth_payload == Signup().load({"since": "2026-01-31"})
