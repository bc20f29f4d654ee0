"""Authenticator apps: TOTP codes (RFC 6238), enrollment, and single use of codes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from flask import Flask

from app.auth.mfa.totp import as_base32, code_at, step_of, uri
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from .factors import Phone, challenge, enroll, enrolled, finish

# Secret and test vectors of RFC 6238, appendix B.
SECRET = b"12345678901234567890"
VECTORS = {
    59: "94287082",
    1111111109: "07081804",
    1111111111: "14050471",
    1234567890: "89005924",
    2000000000: "69279037",
    20000000000: "65353130",
}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__MFA="optional", AUTH__MFA_METHODS='["totp"]')


@pytest.mark.parametrize(("seconds", "code"), VECTORS.items())
def test_codes_match_rfc_6238(seconds: int, code: str) -> None:
    assert code_at(SECRET, seconds // 30, digits=8) == code
    assert code_at(SECRET, seconds // 30) == code[2:]


def test_codes_of_adjacent_steps_are_valid() -> None:
    now = datetime(2030, 1, 1, 12, 0, 10, tzinfo=UTC)
    present = int(now.timestamp()) // 30
    steps = {
        offset: step_of(SECRET, code_at(SECRET, present + offset), now) for offset in range(-3, 4)
    }
    assert steps == {
        offset: present + offset if abs(offset) <= 1 else None for offset in range(-3, 4)
    }


@pytest.mark.parametrize("code", ["", "12345", "1234567", "١٢٣٤٥٦", "abcdef", "\x00", "287 082x"])
def test_malformed_code_is_rejected(code: str) -> None:
    assert step_of(SECRET, code, datetime.fromtimestamp(59, UTC)) is None


@pytest.mark.parametrize("code", ["287 082", "287-082", " 287082 "])
def test_code_may_be_grouped_by_spaces_or_hyphens(code: str) -> None:
    assert step_of(SECRET, code, datetime.fromtimestamp(59, UTC)) == 1


def test_uri_has_the_brand_name_and_the_email() -> None:
    setup = urlsplit(uri(SECRET, "Ada & Co: Tea", "ada+x@example.com"))
    assert (setup.scheme, setup.netloc) == ("otpauth", "totp")
    assert unquote(setup.path) == "/Ada & Co  Tea:ada+x@example.com"
    assert parse_qs(setup.query) == {
        "secret": [as_base32(SECRET)],
        "issuer": ["Ada & Co  Tea"],
        "digits": ["6"],
        "period": ["30"],
    }


def test_qr_code_is_safe_inline_svg(ada: Person) -> None:
    setup = ada.api().post("/authenticators/totp", 201).json
    assert setup["uri"].startswith("otpauth://totp/Frontdesk%3Aada@example.com?secret=")
    assert setup["secret"] in setup["uri"]
    assert re.fullmatch(r"<svg[^>]*>.*</svg>", setup["qr"], re.DOTALL)
    assert not re.search("<script|style=|href=|on[a-z]+=", setup["qr"])


def test_first_code_confirms_the_app_and_cannot_be_reused(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    here = ada.api()
    setup = here.post("/authenticators/totp", 201, json={"name": "  Phone "}).json
    assert here.get("/authenticators").json == []
    phone = Phone(setup["secret"], clock)
    path = f"/authenticators/{setup['id']}/confirm"
    assert here.post(path, 400, json={"otp": phone.wrong_code()}).json["code"] == "incorrect_code"
    code = phone.code()
    answer = here.post(path, json={"otp": f"{code[:3]} {code[3:]}"}).json
    with_factor = here.as_token(answer["access_token"])
    [listed] = with_factor.get("/authenticators").json
    assert (listed["kind"], listed["name"]) == ("totp", "Phone")
    assert "secret" not in listed
    finish(api, challenge(api, ada), 400, otp=code)
    finish(api, challenge(api, ada), otp=phone.next_code())


def test_code_is_single_use_and_invalidates_earlier_codes(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    clock.step(minutes=2)
    code, earlier = phone.code(), phone.code(-1)
    finish(api, challenge(api, ada), otp=code)
    for used in (code, earlier):
        finish(api, challenge(api, ada), 400, otp=used)
    finish(api, challenge(api, ada), otp=phone.code(1))


def test_enrollment_revokes_other_sign_ins_and_notifies_the_owner(
    ada: Person, clock: SteppingClock, mails: MailOutbox
) -> None:
    here, attacker = ada.api(), ada.api()
    with_factor = enroll(here, clock, name="Phone").api
    for before in (here, attacker):
        before.get("/account", 401)
    with_factor.get("/account")
    mails.assert_sent(ada.email, "two-factor authentication was set up")
    assert "Phone" in mails.last(ada.email).text


def test_unconfirmed_app_requires_no_mfa_and_expires(ada: Person, clock: SteppingClock) -> None:
    setup = ada.api().post("/authenticators/totp", 201).json
    clock.step(minutes=9)
    here = ada.api()
    clock.step(minutes=1, seconds=1)
    body = {"otp": Phone(setup["secret"], clock).code()}
    here.post(f"/authenticators/{setup['id']}/confirm", 404, json=body)
    pruned = ada.app.test_cli_runner().invoke(args=["frontdesk", "prune"]).output
    assert '"second_factors":1' in pruned


def test_only_the_newest_unconfirmed_app_is_kept(ada: Person, clock: SteppingClock) -> None:
    here = ada.api()
    first, second = (here.post("/authenticators/totp", 201).json for _ in range(2))
    for setup, status in ((first, 404), (second, 200)):
        body = {"otp": Phone(setup["secret"], clock).code()}
        here.post(f"/authenticators/{setup['id']}/confirm", status, json=body)


def test_account_has_at_most_ten_authenticators(ada: Person, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    for _ in range(9):
        mfa = enroll(mfa.api, clock)
        assert mfa.recovery_codes is None, "the first app's recovery codes stay valid"
    refused = mfa.api.post("/authenticators/totp", 409).json
    assert refused["code"] == "quota_reached"
    assert len(mfa.api.get("/authenticators").json) == 10


def test_authenticators_of_other_accounts_are_not_accessible(
    ada: Person, person: MakePerson, clock: SteppingClock
) -> None:
    setup = ada.api().post("/authenticators/totp", 201).json
    body = {"otp": Phone(setup["secret"], clock).code()}
    path = f"/authenticators/{setup['id']}"
    grace = person("grace").api()
    assert grace.post(f"{path}/confirm", 404, json=body).json["code"] == "authenticator_not_found"
    [own] = enroll(ada.api(), clock).api.get("/authenticators").json
    mary = enrolled(person("mary"), clock).api
    mary.patch(f"/authenticators/{own['id']}", 404, json={"name": "Mine"})
    mary.delete(f"/authenticators/{own['id']}", 404)


def test_enrollment_requires_a_recent_sign_in(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional", AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60")
    here = Api(app, token=person("ada", into=app).token())
    clock.step(minutes=16)
    refused = here.post("/authenticators/totp", 401)
    assert refused.json["code"] == "reauthentication_required"
    assert refused.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_user_authentication", max_age="900"'
    )


@for_each(
    "body", [{}, {"otp": None}, {"otp": 123456}, {"otp": ""}, {"otp": "1" * 17}, {"otp": "\x00"}]
)
def test_invalid_code_is_a_422(ada: Person, body: dict[str, object]) -> None:
    assert ada.api().post("/authenticators/1/confirm", 422, json=body).faults == ["json:otp"]
