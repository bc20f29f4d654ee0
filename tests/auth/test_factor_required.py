"""Required MFA, for all accounts or for some roles."""

from __future__ import annotations

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from .factors import challenge, claims, enroll, finish
from .test_email_change import mailed
from .test_login import log_in

ADA = "ada@example.com"
METHODS = '["totp"]'


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="required", AUTH__MFA_METHODS=METHODS)


def test_user_without_mfa_must_enroll_at_sign_in(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    refused = log_in(api, ada.email, PASSWORD, 403).json
    assert (refused["code"], refused["methods"]) == ("mfa_enrolment_required", ["totp"])
    token = refused["mfa_token"]
    api.as_token(token).get("/account", 401)
    finish(api, token, 400, otp="123456")
    assert api.post("/authenticators/totp", 401).json["code"] == "invalid_credentials"
    mfa = enroll(api, clock, mfa_token=token)
    assert len(mfa.recovery_codes) == 10
    assert claims(mfa.api)["amr"] == ["pwd", "otp", "mfa"]
    api.post("/authenticators/totp", 400, json={"mfa_token": token})
    challenge(api, ada)


def test_enrollment_invalidates_other_enrollment_tokens(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    first, second = (log_in(api, ada.email, PASSWORD, 403).json["mfa_token"] for _ in range(2))
    enroll(api, clock, mfa_token=first)
    api.post("/authenticators/totp", 400, json={"mfa_token": second})


def test_last_authenticator_cannot_be_removed(ada: Person, api: Api, clock: SteppingClock) -> None:
    token = log_in(api, ada.email, PASSWORD, 403).json["mfa_token"]
    mfa = enroll(api, clock, mfa_token=token)
    [first] = mfa.api.get("/authenticators").json
    refused = mfa.api.delete(f"/authenticators/{first['id']}", 409).json
    assert refused["code"] == "last_factor"
    again = enroll(mfa.api, clock)
    removed = again.api.delete(f"/authenticators/{first['id']}").json
    here = again.api.as_token(removed["access_token"])
    [second] = here.get("/authenticators").json
    here.delete(f"/authenticators/{second['id']}", 409)


def test_unverified_email_must_be_verified_before_enrollment(
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
    enroll(api, clock, **begin)


def test_mfa_can_be_required_for_a_role(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS=METHODS,
        AUTH__MFA_REQUIRED_ROLES='["admin", "root"]',
    )
    api = Api(app)
    person("ada", into=app).api().get("/account")
    admin = person("grace", into=app, role="admin")
    token = log_in(api, admin.email, PASSWORD, 403).json["mfa_token"]
    enroll(api, clock, mfa_token=token).api.get("/admin/accounts")


def test_unverified_account_cannot_enroll_mfa(make_app: MakeApp, mails: MailOutbox) -> None:
    app = make_app(
        AUTH__MFA="optional",
        AUTH__MFA_METHODS=METHODS,
        AUTH__REGISTRATION="open",
        AUTH__EMAIL_VERIFICATION="optional",
    )
    body = {"email": ADA, "password": PASSWORD}
    registered = Api(app).post("/registration", 201, json=body).json
    mallory = Api(app, token=registered["access_token"])
    assert mallory.post("/authenticators/totp", 403).json["code"] == "email_not_verified"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"AUTH__MFA_REQUIRED_ROLES": '["admin"]'}, "MFA_REQUIRED_ROLES has no effect"),
        ({"AUTH__MFA": "optional", "AUTH__MFA_METHODS": "[]"}, "MFA_METHODS must name one"),
        ({"AUTH__MFA": "optional", "AUTH__ENCRYPTION_KEYS": '["short"]'}, "less than 32"),
        ({"AUTH__MFA": "yes"}, "AUTH__MFA"),
    ],
)
def test_ineffective_mfa_settings_stop_the_start(
    make_app: MakeApp, settings: dict[str, str], text: str
) -> None:
    with pytest.raises(SettingsError, match=text):
        make_app(**settings)
