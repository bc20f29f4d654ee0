"""Linked identities: issuer and subject identify a user; the email only links the first sign-in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import product

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.service import Accounts
from app.auth.idp.calls import MAX_CALLS
from app.auth.idp.models import Identity
from app.core.context import current_frontdesk, service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.oidc.node import Provider
from ..rigs.oidc.proxy import USERINFO, Proxy
from ..rigs.oidc.visitor import REDIRECT_URI, Query, Visitor
from ..rigs.racing import run_concurrently

MakeApp = Callable[..., Flask]


@pytest.fixture
def ada(idp_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=idp_app)


def identities(app: Flask) -> list[Identity]:
    with app.app_context():
        return list(current_frontdesk.session.scalars(select(Identity).order_by(Identity.id)))


def subjects(app: Flask) -> list[str]:
    return [identity.subject for identity in identities(app)]


def set_claims(proxy: Proxy, **claims: object) -> None:
    """Change the claims that the provider returns for every user."""
    proxy.alter_json(USERINFO, lambda document: document | claims)


def make_callback(visitor: Visitor, callback: Query) -> Callable[[], int]:
    body = {"code": callback["code"], "state": callback["state"], "redirect_uri": REDIRECT_URI}
    return lambda: visitor.api.client.post("/api/v1/idp/callback", json=body).status_code


def test_first_sign_in_links_the_account_with_the_email(
    visitor: Visitor, ada: Person, provider: Provider
) -> None:
    visitor.sign_in("ada")
    (identity,) = identities(ada.app)
    assert (identity.account_id, identity.provider) == (ada.id, "default")
    assert (identity.issuer, identity.subject) == (provider.issuer, "ada")
    assert identity.email == ada.email


def test_owner_is_notified_once(visitor: Visitor, ada: Person, mails: MailOutbox) -> None:
    visitor.sign_in("ada")
    (mail,) = mails.sent
    assert (mail.to, mail.subject) == (ada.email, "Frontdesk: new sign-in method added")
    assert "sign in to your Frontdesk account with 127.0.0.1" in mail.text
    visitor.sign_in("ada")
    assert len(mails.sent) == 1


@pytest.fixture
def known(visitor: Visitor, ada: Person, person: MakePerson) -> Visitor:
    """Return a visitor with an identity linked to Ada's account; Bob has an account too."""
    person("bob", into=ada.app)
    visitor.sign_in("ada")
    return visitor


@for_each(
    ("email", "verified"),
    product(["countess@example.com", "bob@example.com", "no address", None], [True, False, None]),
)
def test_linked_identity_signs_in_whatever_the_email(
    known: Visitor, ada: Person, proxy: Proxy, email: str | None, verified: bool | None
) -> None:
    set_claims(proxy, email=email, email_verified=verified)
    account = known.sign_in("ada").json["account"]
    assert (account["id"], account["email"]) == (ada.id, ada.email)
    assert subjects(ada.app) == ["ada"]


def test_linked_identity_signs_in_after_the_account_changed_its_email(
    visitor: Visitor, ada: Person, person: MakePerson
) -> None:
    visitor.sign_in("ada")
    ada.change(email="countess@example.com")
    newer_account = person("ada", into=ada.app)
    assert visitor.sign_in("ada").json["account"]["id"] == ada.id != newer_account.id


def test_each_sign_in_updates_the_last_use(
    visitor: Visitor, ada: Person, clock: SteppingClock
) -> None:
    visitor.sign_in("ada")
    clock.step(minutes=5)
    visitor.sign_in("ada")
    (identity,) = identities(ada.app)
    assert identity.last_used_at - identity.linked_at > timedelta(minutes=5)


def test_another_subject_with_the_same_email_is_rejected(
    visitor: Visitor, ada: Person, mails: MailOutbox
) -> None:
    visitor.sign_in("ada")
    refused = Visitor(Api(ada.app)).sign_in("duplicate", 400)
    assert refused.json["code"] == "linked_to_another"
    assert subjects(ada.app) == ["ada"]
    assert len(mails.sent) == 1


def test_operator_can_unlink_identities(visitor: Visitor, ada: Person) -> None:
    visitor.sign_in("ada")
    result = ada.app.test_cli_runner().invoke(args=["accounts", "unlink", ada.email])
    assert result.exit_code == 0
    Visitor(Api(ada.app)).sign_in("duplicate")
    assert subjects(ada.app) == ["duplicate"]


def test_deleting_the_account_deletes_its_identities(
    make_idp_app: MakeApp, person: MakePerson
) -> None:
    app = make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
    ada = person("ada", into=app)
    visitor = Visitor(Api(app))
    visitor.sign_in("ada")
    with app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
    assert identities(app) == []
    assert visitor.sign_in("ada").json["account"]["id"] != ada.id


def test_inactive_account_is_not_linked(visitor: Visitor, ada: Person, mails: MailOutbox) -> None:
    ada.change(status="suspended")
    assert visitor.sign_in("ada", 400).detail == "Inactive account"
    assert (identities(ada.app), mails.sent) == ([], [])


def test_new_user_is_linked_in_the_transaction_of_the_sign_up(
    make_idp_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
    account = Visitor(Api(app)).sign_in("zoe").json["account"]
    assert [(each.subject, each.account_id) for each in identities(app)] == [("zoe", account["id"])]
    assert mails.sent == []


@pytest.fixture
def new_user(make_idp_app: MakeApp, person: MakePerson) -> Visitor:
    """Return a visitor without an account; Kim, Sam and Fim have accounts."""
    app = make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
    for name in ("kim", "sam", "fim"):
        person(name, into=app)
    return Visitor(Api(app))


@for_each(
    "address",
    [
        "\N{KELVIN SIGN}im@example.com",
        "\N{LATIN SMALL LETTER LONG S}am@example.com",
        "k\N{LATIN SMALL LETTER DOTLESS I}m@example.com",
        "\N{FULLWIDTH LATIN SMALL LETTER K}im@example.com",
        "\N{LATIN SMALL LIGATURE FI}m@example.com",
        "kim@ex\N{FULLWIDTH LATIN SMALL LETTER A}mple.com",
        "kim@\N{MATHEMATICAL BOLD SMALL E}xample.com",
    ],
)
def test_email_with_lookalike_characters_is_rejected(
    new_user: Visitor, proxy: Proxy, address: str
) -> None:
    set_claims(proxy, email=address)
    assert new_user.sign_in("eve", 400).json["code"] == "ambiguous_email"
    assert identities(new_user.api.app) == []


@pytest.mark.parametrize("address", ["josé@example.com", "ada@bücher.example", "коля@пример.рф"])
def test_internationalized_email_is_accepted(
    make_idp_app: MakeApp, proxy: Proxy, address: str
) -> None:
    set_claims(proxy, email=address)
    visitor = Visitor(Api(make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")))
    assert visitor.sign_in("eve").json["account"]["email"] == address


@only_on("sqlite")
def test_state_store_in_the_same_database_is_not_locked(
    make_idp_app: MakeApp, person: MakePerson
) -> None:
    """SQLite has one writer, and the state store writes on its own connection."""
    app = make_idp_app(CORE__KEYSTORE="database")
    before = person("ada", into=app).api()
    for _ in ("met", "known"):
        before.delete("/logout")
        Visitor(Api(app)).sign_in("ada")
        before.get("/account")


class TestAtOnce:
    """As many concurrent callbacks as the provider client allows."""

    def test_one_user_is_linked_once(
        self, visitor: Visitor, ada: Person, mails: MailOutbox
    ) -> None:
        visits = [Visitor(Api(ada.app)) for _ in range(MAX_CALLS)]
        calls = [make_callback(visit, visit.go("ada")) for visit in visits]
        assert run_concurrently(*calls) == [200] * MAX_CALLS
        assert (subjects(ada.app), len(mails.sent)) == (["ada"], 1)

    def test_one_new_user_gets_one_account(self, make_idp_app: MakeApp) -> None:
        app = make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
        visits = [Visitor(Api(app)) for _ in range(MAX_CALLS)]
        calls = [make_callback(visit, visit.go("zoe")) for visit in visits]
        assert run_concurrently(*calls) == [200] * MAX_CALLS
        assert subjects(app) == ["zoe"]

    def test_only_one_of_two_subjects_with_one_email_is_linked(self, ada: Person) -> None:
        visits = [
            (Visitor(Api(ada.app)), login) for login in ("ada", "duplicate") * (MAX_CALLS // 2)
        ]
        calls = [make_callback(visit, visit.go(login)) for visit, login in visits]
        assert run_concurrently(*calls) == [200] * (MAX_CALLS // 2) + [400] * (MAX_CALLS // 2)
        assert len(identities(ada.app)) == 1

    def test_started_sign_in_is_finished_once(self, visitor: Visitor, ada: Person) -> None:
        url = visitor.begin()
        callbacks = [visitor.browser.sign_in(url, "ada", REDIRECT_URI) for _ in range(MAX_CALLS)]
        calls = [make_callback(with_cookie_of(visitor), callback) for callback in callbacks]
        assert run_concurrently(*calls) == [200] + [400] * (MAX_CALLS - 1)


def test_copied_cookie_does_not_finish_a_sign_in_again(visitor: Visitor, ada: Person) -> None:
    url = visitor.begin()
    first, second = (visitor.browser.sign_in(url, "ada", REDIRECT_URI) for _ in range(2))
    copied = with_cookie_of(visitor)
    visitor.finish(first)
    assert copied.finish(second, 400).json["code"] == "unknown_sign_in"


def with_cookie_of(visitor: Visitor) -> Visitor:
    """Return another browser with a copy of the session cookie."""
    name = visitor.api.app.config["SESSION_COOKIE_NAME"]
    cookie = visitor.api.client.get_cookie(name)
    assert cookie is not None
    other = Visitor(Api(visitor.api.app))
    other.api.client.set_cookie(name, cookie.value)
    return other
