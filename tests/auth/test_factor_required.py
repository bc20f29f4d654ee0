"""Where there must be a second factor: for everybody, or for who has a role."""

from __future__ import annotations

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from .factors import challenge, claims, enrol, finish
from .test_email_change import mailed
from .test_login import log_in

ADA = "ada@example.com"
METHODS = '["totp"]'


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="required", AUTH__MFA_METHODS=METHODS)


def test_who_has_none_sets_one_up_before_anything_else(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    refused = log_in(api, ada.email, PASSWORD, 403).json
    assert (refused["code"], refused["methods"]) == ("mfa_enrolment_required", ["totp"])
    token = refused["mfa_token"]
    api.as_token(token).get("/account", 401)
    finish(api, token, 400, otp="123456")
    assert api.post("/authenticators/totp", 401).json["code"] == "invalid_credentials"
    has = enrol(api, clock, mfa_token=token)
    assert len(has.recovery_codes) == 10
    assert claims(has.api)["amr"] == ["pwd", "otp", "mfa"]
    api.post("/authenticators/totp", 400, json={"mfa_token": token})
    challenge(api, ada)


def test_its_token_is_dead_once_another_one_was_used(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    first, second = (log_in(api, ada.email, PASSWORD, 403).json["mfa_token"] for _ in range(2))
    enrol(api, clock, mfa_token=first)
    api.post("/authenticators/totp", 400, json={"mfa_token": second})


def test_the_last_one_stays(ada: Person, api: Api, clock: SteppingClock) -> None:
    token = log_in(api, ada.email, PASSWORD, 403).json["mfa_token"]
    has = enrol(api, clock, mfa_token=token)
    [first] = has.api.get("/authenticators").json
    refused = has.api.delete(f"/authenticators/{first['id']}", 409).json
    assert refused["code"] == "last_factor"
    again = enrol(has.api, clock)
    again.api.delete(f"/authenticators/{first['id']}")
    [second] = again.api.get("/authenticators").json
    again.api.delete(f"/authenticators/{second['id']}", 409)


def test_who_has_not_proven_the_address_proves_it_first(
    make_app: MakeApp, mails: MailOutbox, clock: SteppingClock
) -> None:
    app = make_app(
        AUTH__MFA="required",
        AUTH__MFA_METHODS=METHODS,
        AUTH__REGISTRATION="open",
        AUTH__EMAIL_VERIFICATION="optional",
    )
    api = Api(app)
    body = {"email": ADA, "password": PASSWORD}
    refused = api.post("/registration", 403, json=body).json
    assert refused["code"] == "mfa_enrolment_required"
    begin = {"mfa_token": refused["mfa_token"]}
    refused = api.post("/authenticators/totp", 403, json=begin).json
    assert refused["code"] == "email_not_verified"
    api.post("/email-verification", json={"token": mailed(mails, ADA)[0]})
    enrol(api, clock, **begin)


def test_a_role_alone_may_have_to_have_one(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS=METHODS,
        AUTH__MFA_REQUIRED_ROLES='["admin", "root"]',
    )
    api = Api(app)
    person("ada", into=app).api().get("/account")
    boss = person("grace", into=app, role="admin")
    token = log_in(api, boss.email, PASSWORD, 403).json["mfa_token"]
    enrol(api, clock, mfa_token=token).api.get("/admin/accounts")


def test_whoever_registers_somebody_elses_address_cannot_lock_them_out(
    make_app: MakeApp, mails: MailOutbox
) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS=METHODS,
        AUTH__REGISTRATION="open",
        AUTH__EMAIL_VERIFICATION="optional",
    )
    body = {"email": ADA, "password": PASSWORD}
    here = Api(app).post("/registration", 201, json=body).json
    mallory = Api(app, token=here["access_token"])
    assert mallory.post("/authenticators/totp", 403).json["code"] == "email_not_verified"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"AUTH__MFA_REQUIRED_ROLES": '["admin"]'}, "MFA_REQUIRED_ROLES asks nobody"),
        ({"AUTH__MFA": "optional", "AUTH__MFA_METHODS": "[]"}, "MFA_METHODS must name one"),
        ({"AUTH__MFA": "optional", "AUTH__ENCRYPTION_KEYS": '["short"]'}, "less than 32"),
        ({"AUTH__MFA": "yes"}, "AUTH__MFA"),
    ],
)
def test_settings_that_would_protect_nobody_stop_the_start(
    make_app: MakeApp, settings: dict[str, str], text: str
) -> None:
    with pytest.raises(SettingsError, match=text):
        make_app(**settings)
