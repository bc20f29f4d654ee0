"""Registration, for each setting of `AUTH__REGISTRATION`."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from unittest import mock

import pytest
from flask import Flask
from marshmallow import fields

from app import AuthSettings, Problem, RegistrationCreate, Schemas
from app.accounts.service import Accounts
from app.blueprints import auth, registration
from app.core.config.environment import SettingsError
from app.core.context import service
from app.registration.schemas import RegistrationRefused
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..auth.test_login import listen_to
from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.hosts import HostSettings, host_with
from ..rigs.racing import run_concurrently
from .visitors import ADA, SECRET_WORD, Visitor, emails


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__REGISTRATION="open")


@pytest.fixture
def visitor(app: Flask, mails: MailOutbox) -> Visitor:
    return Visitor(app, mails)


def test_registration_is_closed_by_default(make_app: MakeApp, mails: MailOutbox) -> None:
    visitor = Visitor(make_app(), mails)
    for body in ({}, {"email": ADA, "password": visitor.password}):
        response = visitor.api.post("/registration", 403, json=body)
        assert response.json["code"] == "registration_closed"
    assert mails.sent == []


def test_registered_visitor_verifies_the_email_and_signs_in(visitor: Visitor) -> None:
    registered: list[Any] = []
    listen_to(visitor.app, "account-registered", lambda account, _: registered.append(account))
    assert visitor.register().json == {"message": "Check your email to finish registering"}
    response = visitor.log_in(400)
    assert (response.detail, response.json["code"]) == ("Inactive account", "email_not_verified")
    assert registered == []
    visitor.verify(visitor.mailed()[0])
    assert [account.email for account in registered] == [ADA]
    account = visitor.log_in().json["account"]
    assert (account["status"], account["role"]) == ("active", "user")


def test_wrong_password_does_not_reveal_a_pending_account(visitor: Visitor) -> None:
    visitor.register()
    assert visitor.log_in(400, "a wrong password").json["code"] == "incorrect_credentials"


def test_known_and_unknown_emails_get_the_same_response(
    visitor: Visitor, person: MakePerson, mails: MailOutbox
) -> None:
    person("grace")
    person("mary", status="suspended")
    responses = []
    for name in ("ada", "grace", "mary"):
        visitor.email = f"{name}@example.com"
        response = visitor.register()
        headers = {key: value for key, value in response.headers.items() if key != "X-Request-ID"}
        responses.append((response.response.data, {**headers, "Date": ""}))
    assert responses[0] == responses[1] == responses[2]
    mails.assert_sent("ada@example.com", "confirm your email address")
    for name in ("grace", "mary"):
        mails.assert_sent(f"{name}@example.com", "you already have an account", "has changed")


@pytest.mark.parametrize("events", ["true", "false"])
def test_known_and_unknown_emails_cause_the_same_writes(
    make_app: MakeApp, mails: MailOutbox, events: str
) -> None:
    app = make_app(
        AUTH__REGISTRATION="domains",
        AUTH__REGISTRATION_DOMAINS='["example.com"]',
        AUDIT__EVENTS=events,
    )
    with app.app_context():
        service(Accounts).create("grace@example.com", SECRET_WORD)
    addresses = (ADA, "grace@example.com", "eve@example.org")
    unknown, known, rejected = (count_writes(Visitor(app, mails, email)) for email in addresses)
    assert unknown == known == rejected
    assert unknown["accounts"] == 1
    assert len(mails) == 3


def count_writes(visitor: Visitor) -> Counter[str]:
    """Return how often a registration writes to each table, and how many codes it stores."""
    keystore = visitor.app.extensions["frontdesk"].keystore
    with (
        noted_queries(visitor.app) as statements,
        mock.patch.object(keystore, "put", wraps=keystore.put) as put,
    ):
        visitor.register()
    writes = (re.match(r"(?:INSERT INTO|UPDATE) (\w+)", each) for each in statements)
    return Counter({"codes": put.call_count}) + Counter(write[1] for write in writes if write)


def test_known_account_keeps_its_password(visitor: Visitor, ada: Person) -> None:
    visitor.register()
    assert ada.api().get("/account").json["email"] == ADA
    visitor.log_in(400)


def test_concurrent_registrations_create_one_account_and_send_one_email(
    app: Flask, mails: MailOutbox
) -> None:
    visitors = [Visitor(app, mails) for _ in range(8)]

    def register(visitor: Visitor) -> int:
        return visitor.register().status

    assert run_concurrently(*(lambda each=each: register(each) for each in visitors)) == [202] * 8
    assert emails(app) == [ADA]
    assert [mail.to for mail in mails.sent] == [ADA]


def test_concurrent_registrations_create_one_account_without_rate_limits(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_app(AUTH__REGISTRATION="open", AUTH__RATE_LIMITS_ENABLED="false")
    visitors = [Visitor(app, mails) for _ in range(8)]
    responses = run_concurrently(*(lambda each=each: each.register().status for each in visitors))
    assert responses == [202] * 8
    assert emails(app) == [ADA]


@only_on("sqlite")
def test_repeated_registration_replaces_email_token_and_password(
    visitor: Visitor, clock: SteppingClock
) -> None:
    visitor.register()
    first, _ = visitor.mailed()
    clock.step(minutes=2)
    visitor.password = "another password altogether"
    visitor.register()
    visitor.verify(first, 400)
    visitor.verify(visitor.mailed()[0])
    visitor.log_in()


def test_repeated_registration_within_a_minute_is_ignored(
    visitor: Visitor, mails: MailOutbox
) -> None:
    visitor.register()
    visitor.password = "another password altogether"
    visitor.register()
    assert len(mails) == 1
    visitor.verify(visitor.mailed()[0])
    visitor.log_in(400)


@for_each(
    ("body", "fault"),
    [
        ({"email": "no address"}, "json:email"),
        ({"email": "\u212aate@example.com"}, "json:email"),
        ({"password": "short"}, "json:password"),
        ({"password": ADA}, "json:password"),
        ({"password": "x" * 73}, "json:password"),
        ({"email": 7}, "json:email"),
    ],
)
def test_invalid_registration_is_a_422(
    visitor: Visitor, mails: MailOutbox, body: dict[str, Any], fault: str
) -> None:
    assert visitor.register(422, **body).faults == [fault]
    assert (emails(visitor.app), mails.sent) == ([], [])


def test_registrations_per_ip_address_are_limited(make_app: MakeApp, mails: MailOutbox) -> None:
    app = make_app(AUTH__REGISTRATION="open", AUTH__REGISTRATION_ADDRESS_LIMIT="2 per hour")
    for name, status in (("ada", 202), ("grace", 202), ("mary", 429)):
        response = Visitor(app, mails, f"{name}@example.com").register(status)
    assert int(response.headers["Retry-After"]) > 0
    assert len(emails(app)) == 2


def test_only_allowed_domains_can_register(make_app: MakeApp, mails: MailOutbox) -> None:
    app = make_app(AUTH__REGISTRATION="domains", AUTH__REGISTRATION_DOMAINS='["Example.com"]')
    Visitor(app, mails).register()
    for email in ("eve@example.org", "eve@sub.example.com", "eve@notexample.com"):
        Visitor(app, mails, email).register()
        mails.assert_sent(email, "your registration", "no account was created")
    assert emails(app) == [ADA]


def test_domains_mode_without_domains_stops_the_start(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match="REGISTRATION_DOMAINS must be set"):
        make_app(AUTH__REGISTRATION="domains")


def test_invalid_mode_stops_the_start(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match="REGISTRATION"):
        make_app(AUTH__REGISTRATION="everybody")


@pytest.mark.parametrize("verification", ["optional", "off"])
def test_optional_verification_signs_in_immediately(
    make_app: MakeApp, mails: MailOutbox, verification: str
) -> None:
    app = make_app(AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION=verification)
    visitor = Visitor(app, mails)
    signed_in = visitor.register(201).json
    api = Api(app, token=signed_in["access_token"])
    assert api.get("/account").json["email"] == ADA
    assert len(signed_in["workspaces"]) == 1
    assert len(mails) == (verification == "optional")
    taken = visitor.register(409)
    assert taken.json["code"] == "email_taken"
    assert api.get("/invitations", 403).json["code"] == "email_not_verified"


def test_application_decides_who_may_register(app: Flask, mails: MailOutbox) -> None:
    calls: list[tuple[str, str]] = []

    def reject_eve(email: str, method: str, session: object) -> bool | Problem:
        calls.append((email, method))
        return (
            RegistrationRefused("No robots")
            if email.startswith("robot")
            else not email.startswith("eve")
        )

    app.extensions["frontdesk"].hooks.add("may_register", reject_eve)
    Visitor(app, mails).register()
    Visitor(app, mails, "eve@example.com").register()
    mails.assert_sent("eve@example.com", "your registration")
    assert Visitor(app, mails, "robot@example.com").register(403).detail == "No robots"
    assert emails(app) == [ADA]
    assert calls[0] == (ADA, "registration")


def test_additional_field_of_the_applications_schema_is_stored(mails: MailOutbox) -> None:
    class Signup(RegistrationCreate):
        phone = fields.String(required=True)

    settings = HostSettings()
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, REGISTRATION="open", EMAIL_VERIFICATION="off")
    host = host_with(
        (auth, ""), (registration, ""), settings=settings, schemas=Schemas(registration=Signup)
    )
    visitor = Visitor(host, mails, prefix="")
    assert visitor.register(422).faults == ["json:phone"]
    response = visitor.register(201, phone="+44 20 7946 0000").json
    assert response["account"]["phone"] == "+442079460000"
