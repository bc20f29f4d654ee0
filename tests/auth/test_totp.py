"""Authenticator apps: the codes of RFC 6238, setting one up, and a code that counts once."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from flask import Flask

from app.auth.mfa.totp import code_at, shown, step_of, uri
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from .factors import Phone, challenge, enrol, enrolled, finish

# RFC 6238, appendix B, with its secret.
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
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    assert code_at(SECRET, seconds // 30, digits=8) == code
    assert code_at(SECRET, seconds // 30) == code[2:]


def test_a_step_on_either_side_counts_and_no_other() -> None:
    now = datetime(2030, 1, 1, 12, 0, 10, tzinfo=UTC)
    present = int(now.timestamp()) // 30
    counts = {late: step_of(SECRET, code_at(SECRET, present + late), now) for late in range(-3, 4)}
    assert counts == {late: present + late if abs(late) <= 1 else None for late in range(-3, 4)}


@pytest.mark.parametrize("code", ["", "12345", "1234567", "١٢٣٤٥٦", "abcdef", "\x00", "287 082x"])
def test_what_is_no_code_is_a_wrong_one(code: str) -> None:
    assert step_of(SECRET, code, datetime.fromtimestamp(59, UTC)) is None
    assert step_of(SECRET, "287 082", datetime.fromtimestamp(59, UTC)) == 1


def test_apps_list_it_by_the_projects_name_and_the_address() -> None:
    made = urlsplit(uri(SECRET, "Ada & Co: Tea", "ada+x@example.com"))
    assert (made.scheme, made.netloc) == ("otpauth", "totp")
    assert unquote(made.path) == "/Ada & Co  Tea:ada+x@example.com"
    assert parse_qs(made.query) == {
        "secret": [shown(SECRET)],
        "issuer": ["Ada & Co  Tea"],
        "digits": ["6"],
        "period": ["30"],
    }


def test_it_is_shown_as_a_picture_that_a_page_takes_as_it_is(ada: Person) -> None:
    made = ada.api().post("/authenticators/totp", 201).json
    assert made["uri"].startswith("otpauth://totp/Frontdesk%3Aada@example.com?secret=")
    assert made["secret"] in made["uri"]
    assert re.fullmatch(r"<svg[^>]*>.*</svg>", made["qr"], re.DOTALL)
    assert not re.search("<script|style=|href=|on[a-z]+=", made["qr"])


def test_the_first_code_confirms_it_and_is_used_up_by_that(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    here = ada.api()
    made = here.post("/authenticators/totp", 201, json={"name": "  Phone "}).json
    assert here.get("/authenticators").json == []
    phone = Phone(made["secret"], clock)
    path = f"/authenticators/{made['id']}/confirm"
    assert here.post(path, 400, json={"otp": phone.wrong_code()}).json["code"] == "incorrect_code"
    code = phone.code()
    answer = here.post(path, json={"otp": f"{code[:3]} {code[3:]}"}).json
    with_factor = here.as_token(answer["access_token"])
    [listed] = with_factor.get("/authenticators").json
    assert (listed["kind"], listed["name"]) == ("totp", "Phone")
    assert "secret" not in listed
    finish(api, challenge(api, ada), 400, otp=code)
    finish(api, challenge(api, ada), otp=phone.next_code())


def test_a_code_counts_once_and_no_earlier_one_after_it(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    phone = enrolled(ada, clock).phone
    clock.step(minutes=2)
    code, earlier = phone.code(), phone.code(-1)
    finish(api, challenge(api, ada), otp=code)
    for used in (code, earlier):
        finish(api, challenge(api, ada), 400, otp=used)
    finish(api, challenge(api, ada), otp=phone.code(1))


def test_who_had_signed_in_before_is_signed_out_and_its_owner_is_told(
    ada: Person, clock: SteppingClock, mails: MailOutbox
) -> None:
    here, thief = ada.api(), ada.api()
    with_factor = enrol(here, clock, name="Phone").api
    for before in (here, thief):
        before.get("/account", 401)
    with_factor.get("/account")
    mails.assert_sent(ada.email, "a second factor was set up")
    assert "Phone" in mails.last(ada.email).text


def test_one_that_is_not_confirmed_asks_nobody_and_is_gone_after_ten_minutes(
    ada: Person, clock: SteppingClock
) -> None:
    made = ada.api().post("/authenticators/totp", 201).json
    clock.step(minutes=9)
    here = ada.api()
    clock.step(minutes=1, seconds=1)
    body = {"otp": Phone(made["secret"], clock).code()}
    here.post(f"/authenticators/{made['id']}/confirm", 404, json=body)
    pruned = ada.app.test_cli_runner().invoke(args=["frontdesk", "prune"]).output
    assert '"second_factors":1' in pruned


def test_the_newest_alone_waits(ada: Person, clock: SteppingClock) -> None:
    here = ada.api()
    first, second = (here.post("/authenticators/totp", 201).json for _ in range(2))
    for made, status in ((first, 404), (second, 200)):
        body = {"otp": Phone(made["secret"], clock).code()}
        here.post(f"/authenticators/{made['id']}/confirm", status, json=body)


def test_an_account_has_ten_and_no_more(ada: Person, clock: SteppingClock) -> None:
    has = enrolled(ada, clock)
    for _ in range(9):
        has = enrol(has.api, clock)
        assert has.recovery_codes is None, "those of the first one count"
    refused = has.api.post("/authenticators/totp", 409).json
    assert refused["code"] == "quota_reached"
    assert len(has.api.get("/authenticators").json) == 10


def test_nobody_sets_one_up_for_somebody_else(
    ada: Person, person: MakePerson, clock: SteppingClock
) -> None:
    made = ada.api().post("/authenticators/totp", 201).json
    body = {"otp": Phone(made["secret"], clock).code()}
    path = f"/authenticators/{made['id']}"
    grace = person("grace").api()
    assert grace.post(f"{path}/confirm", 404, json=body).json["code"] == "authenticator_not_found"
    [mine] = enrol(ada.api(), clock).api.get("/authenticators").json
    mary = enrolled(person("mary"), clock).api
    mary.patch(f"/authenticators/{mine['id']}", 404, json={"name": "Mine"})
    mary.delete(f"/authenticators/{mine['id']}", 404)


def test_a_sign_in_of_long_ago_does_not_do(
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
def test_what_cannot_be_a_code_is_a_422(ada: Person, body: dict[str, object]) -> None:
    assert ada.api().post("/authenticators/1/confirm", 422, json=body).faults == ["json:otp"]
