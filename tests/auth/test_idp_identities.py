"""Who somebody is: issuer and subject decide, and the e-mail at the first meeting only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import product

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.service import Accounts
from app.auth.idp.models import Identity
from app.auth.idp.oidc import SEATS
from app.core.context import current_frontdesk, service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.oidc.node import Provider
from ..rigs.oidc.proxy import USERINFO, Proxy
from ..rigs.oidc.visitor import REDIRECT_URI, Query, Visitor
from ..rigs.racing import at_once

MakeApp = Callable[..., Flask]


@pytest.fixture
def ada(idp_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=idp_app)


def identities(app: Flask) -> list[Identity]:
    with app.app_context():
        return list(current_frontdesk.session.scalars(select(Identity).order_by(Identity.id)))


def subjects(app: Flask) -> list[str]:
    return [identity.subject for identity in identities(app)]


def say(proxy: Proxy, **claims: object) -> None:
    """Let the provider tell something else about whoever signs in."""
    proxy.alter_json(USERINFO, lambda document: document | claims)


def finishing(visitor: Visitor, back: Query) -> Callable[[], int]:
    body = {"code": back["code"], "state": back["state"], "redirect_uri": REDIRECT_URI}
    return lambda: visitor.api.client.post("/api/v1/idp/callback", json=body).status_code


def test_the_first_sign_in_links_the_account_that_has_the_address(
    visitor: Visitor, ada: Person, provider: Provider
) -> None:
    visitor.sign_in("ada")
    (identity,) = identities(ada.app)
    assert (identity.account_id, identity.provider) == (ada.id, "default")
    assert (identity.issuer, identity.subject) == (provider.issuer, "ada")
    assert identity.email == ada.email


def test_the_owner_is_told_once(visitor: Visitor, ada: Person, mails: MailOutbox) -> None:
    visitor.sign_in("ada")
    (mail,) = mails.sent
    assert (mail.to, mail.subject) == (ada.email, "Frontdesk: a new way to sign in")
    assert "signing in at 127.0.0.1 opens your Frontdesk account" in mail.text
    visitor.sign_in("ada")
    assert len(mails.sent) == 1


@pytest.fixture
def known(visitor: Visitor, ada: Person, person: MakePerson) -> Visitor:
    """Ada has signed in by the provider; there is a Bob, too."""
    person("bob", into=ada.app)
    visitor.sign_in("ada")
    return visitor


@for_each(
    ("email", "verified"),
    product(["countess@example.com", "bob@example.com", "no address", None], [True, False, None]),
)
def test_who_is_known_is_let_in_whatever_the_email(
    known: Visitor,
    ada: Person,
    proxy: Proxy,
    email: str | None,
    verified: bool | None,
) -> None:
    say(proxy, email=email, email_verified=verified)
    account = known.sign_in("ada").json["account"]
    assert (account["id"], account["email"]) == (ada.id, ada.email)
    assert subjects(ada.app) == ["ada"]


def test_who_is_known_is_let_in_after_a_change_of_address_with_us(
    visitor: Visitor, ada: Person, person: MakePerson
) -> None:
    visitor.sign_in("ada")
    ada.change(email="countess@example.com")
    heir = person("ada", into=ada.app)
    assert visitor.sign_in("ada").json["account"]["id"] == ada.id != heir.id


def test_each_sign_in_is_noted(visitor: Visitor, ada: Person, clock: SteppingClock) -> None:
    visitor.sign_in("ada")
    clock.step(minutes=5)
    visitor.sign_in("ada")
    (identity,) = identities(ada.app)
    assert identity.last_used_at - identity.linked_at > timedelta(minutes=5)


def test_an_address_that_passed_to_somebody_else_opens_nothing(
    visitor: Visitor, ada: Person, mails: MailOutbox
) -> None:
    visitor.sign_in("ada")
    refused = Visitor(Api(ada.app)).sign_in("twin", 400)
    assert refused.json["code"] == "linked_to_another"
    assert subjects(ada.app) == ["ada"]
    assert len(mails.sent) == 1


def test_an_operator_may_unlink_them(visitor: Visitor, ada: Person) -> None:
    visitor.sign_in("ada")
    told = ada.app.test_cli_runner().invoke(args=["accounts", "unlink", ada.email])
    assert told.exit_code == 0
    Visitor(Api(ada.app)).sign_in("twin")
    assert subjects(ada.app) == ["twin"]


def test_a_deleted_account_takes_them_along(make_idp_app: MakeApp, person: MakePerson) -> None:
    app = make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
    ada = person("ada", into=app)
    visitor = Visitor(Api(app))
    visitor.sign_in("ada")
    with app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
    assert identities(app) == []
    assert visitor.sign_in("ada").json["account"]["id"] != ada.id


def test_an_inactive_account_is_not_linked(
    visitor: Visitor, ada: Person, mails: MailOutbox
) -> None:
    ada.change(status="suspended")
    assert visitor.sign_in("ada", 400).detail == "Inactive account"
    assert (identities(ada.app), mails.sent) == ([], [])


def test_a_newcomer_is_linked_in_the_transaction_of_the_sign_up(
    make_idp_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
    account = Visitor(Api(app)).sign_in("zoe").json["account"]
    assert [(each.subject, each.account_id) for each in identities(app)] == [("zoe", account["id"])]
    assert mails.sent == []


@pytest.fixture
def newcomer(make_idp_app: MakeApp, person: MakePerson) -> Visitor:
    """Where Kim, Sam and Fim have accounts."""
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
def test_an_address_of_look_alikes_is_refused(
    newcomer: Visitor, proxy: Proxy, address: str
) -> None:
    say(proxy, email=address)
    assert newcomer.sign_in("eve", 400).json["code"] == "ambiguous_email"
    assert identities(newcomer.api.app) == []


@pytest.mark.parametrize("address", ["josé@example.com", "ada@bücher.example", "коля@пример.рф"])
def test_an_address_in_other_letters_is_its_owners(
    make_idp_app: MakeApp, proxy: Proxy, address: str
) -> None:
    say(proxy, email=address)
    visitor = Visitor(Api(make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")))
    assert visitor.sign_in("eve").json["account"]["email"] == address


@only_on("sqlite")
def test_no_write_of_ours_stands_before_a_keystore_in_the_database(
    make_idp_app: MakeApp, person: MakePerson
) -> None:
    """SQLite has one writer, and the keystore writes on a connection of its own."""
    app = make_idp_app(CORE__KEYSTORE="database")
    before = person("ada", into=app).api()
    for _ in ("met", "known"):
        before.delete("/logout")
        Visitor(Api(app)).sign_in("ada")
        before.get("/account")


class TestAtOnce:
    """As many callbacks at the same moment as find a seat at the provider."""

    def test_one_person_is_linked_once(
        self, visitor: Visitor, ada: Person, mails: MailOutbox
    ) -> None:
        visits = [Visitor(Api(ada.app)) for _ in range(SEATS)]
        acts = [finishing(visit, visit.go("ada")) for visit in visits]
        assert at_once(*acts) == [200] * SEATS
        assert (subjects(ada.app), len(mails.sent)) == (["ada"], 1)

    def test_one_newcomer_becomes_one_account(self, make_idp_app: MakeApp) -> None:
        app = make_idp_app(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
        visits = [Visitor(Api(app)) for _ in range(SEATS)]
        acts = [finishing(visit, visit.go("zoe")) for visit in visits]
        assert at_once(*acts) == [200] * SEATS
        assert subjects(app) == ["zoe"]

    def test_of_two_people_with_one_address_one_is_linked(self, ada: Person) -> None:
        visits = [(Visitor(Api(ada.app)), login) for login in ("ada", "twin") * (SEATS // 2)]
        acts = [finishing(visit, visit.go(login)) for visit, login in visits]
        assert at_once(*acts) == [200] * (SEATS // 2) + [400] * (SEATS // 2)
        assert len(identities(ada.app)) == 1

    def test_a_begun_sign_in_is_finished_once(self, visitor: Visitor, ada: Person) -> None:
        url = visitor.begin()
        backs = [visitor.browser.sign_in(url, "ada", REDIRECT_URI) for _ in range(SEATS)]
        acts = [finishing(with_the_cookie_of(visitor), back) for back in backs]
        assert at_once(*acts) == [200] + [400] * (SEATS - 1)


def test_a_copied_cookie_does_not_finish_it_again(visitor: Visitor, ada: Person) -> None:
    url = visitor.begin()
    first, second = (visitor.browser.sign_in(url, "ada", REDIRECT_URI) for _ in range(2))
    copied = with_the_cookie_of(visitor)
    visitor.finish(first)
    assert copied.finish(second, 400).json["code"] == "unknown_sign_in"


def with_the_cookie_of(visitor: Visitor) -> Visitor:
    """Another browser, into which the session's cookie was copied."""
    name = visitor.api.app.config["SESSION_COOKIE_NAME"]
    cookie = visitor.api.client.get_cookie(name)
    assert cookie is not None
    other = Visitor(Api(visitor.api.app))
    other.api.client.set_cookie(name, cookie.value)
    return other
