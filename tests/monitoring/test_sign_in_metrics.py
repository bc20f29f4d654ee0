"""Every sign-in is counted once, by its first proof, whatever route or page it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flask import Flask

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import PASSWORD

from ..auth.sign_in_methods import METHODS
from ..auth.sign_in_users import Deployment, User, create_user
from ..auth.test_sign_in_table import ALL_FEATURES
from ..conftest import only_on
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from .test_metrics import read

Count = tuple[str, str]


class Case(NamedTuple):
    """What a user does, and the counts (way, outcome) that it adds."""

    act: Callable[[User], object]
    counts: dict[Count, int]
    # As `create_user` takes it.
    factor: str = "none"


def method(name: str) -> Callable[[User], object]:
    def act(user: User) -> object:
        METHODS[name].prepare(user)
        return METHODS[name].enter(user)

    return act


def send_form(user: User, path: str, **fields: str) -> str:
    """Send a form of the console and return the response's text."""
    client = user.deployment.now.test_client()
    return client.post(path, data=fields, base_url=HOST, headers=SAME_ORIGIN).text


def form(email: str, password: str) -> dict[str, str]:
    return {"email": email, "password": password}


def wrong_at_page(user: User) -> None:
    for _ in range(3):
        send_form(user, "/sign-in", **form(user.email, "wrong password"))


def wrong_at_cookie_route(user: User) -> None:
    body = {"email": user.email, "password": "wrong password"}
    for _ in range(3):
        user.send("POST", "/session", json=body, headers=SAME_ORIGIN, base_url=HOST)


def second_step_at_page(user: User) -> None:
    assert user.phone is not None
    shown = send_form(user, "/sign-in", **form(user.email, PASSWORD))
    token = shown.partition('name="mfa_token" value="')[2].partition('"')[0]
    for otp in (user.phone.wrong_code(), user.phone.next_code()):
        send_form(user, "/sign-in/second-step", mfa_token=token, methods="totp", otp=otp)


def wrong_second_step(user: User) -> None:
    assert user.phone is not None
    token = user.log_in().get_json()["mfa_token"]
    for otp in (user.phone.wrong_code(), user.phone.next_code()):
        user.post("/login/mfa", mfa_token=token, otp=otp)


def second_step_after_code(user: User) -> None:
    assert user.phone is not None
    answer: Any = METHODS["mailed code"].enter(user)
    token = answer.get_json()["mfa_token"]
    user.post("/login/mfa", mfa_token=token, recovery_code=user.enrolled.recovery_codes[0])  # type: ignore[union-attr]


def wrong_code(user: User) -> None:
    login_id = user.post("/login/code", email=user.email).get_json()["login_id"]
    user.post("/login/code/verify", login_id=login_id, code="00000000")


def unknown_passkey(user: User) -> None:
    METHODS["passkey"].prepare(user)
    credential = user.stored["holder"].show()
    user.post("/login/passkey", credential=credential)
    # The challenge is single-use.
    user.post("/login/passkey", credential=credential)


def wrong_provider_code(user: User) -> None:
    body = {
        "code": "made-up",
        "state": "made-up",
        "redirect_uri": "http://localhost:3000/signed-in",
    }
    user.post("/idp/callback", **body, auth_data={})


def refresh(user: User) -> None:
    METHODS["refresh"].enter(user)
    user.send("POST", "/token", data={"grant_type": "refresh_token", "refresh_token": "made-up"})


PASSED, WRONG = "succeeded", "incorrect_credentials"
CASES = {
    "password": Case(method("password"), {("password", PASSED): 1}),
    "wrong password": Case(lambda user: user.log_in("wrong"), {("password", WRONG): 1}),
    "cookie": Case(method("cookie"), {("password", PASSED): 1}),
    "cookie, wrong": Case(wrong_at_cookie_route, {("password", WRONG): 3}),
    "page": Case(
        lambda user: send_form(user, "/sign-in", **form(user.email, PASSWORD)),
        {("password", PASSED): 1},
    ),
    "page, wrong": Case(wrong_at_page, {("password", WRONG): 3}),
    "password alone": Case(lambda user: user.log_in(), {}, "enrolled"),
    "password and code": Case(method("password+otp"), {("password", PASSED): 1}, "enrolled"),
    "password and wrong code": Case(
        lambda user: user.log_in(otp=user.phone.wrong_code() if user.phone else ""),
        {("password", "incorrect_code"): 1},
        "enrolled",
    ),
    "second step": Case(method("second step"), {("password", PASSED): 1}, "enrolled"),
    "second step, wrong": Case(
        wrong_second_step, {("password", PASSED): 1, ("password", "incorrect_code"): 1}, "enrolled"
    ),
    "second step at the page": Case(
        second_step_at_page,
        {("password", PASSED): 1, ("password", "incorrect_code"): 1},
        "enrolled",
    ),
    "trusted device": Case(method("password"), {("password", PASSED): 1}, "device"),
    "mailed code": Case(method("mailed code"), {("code", PASSED): 1}),
    "mailed code, wrong": Case(wrong_code, {("code", "invalid_token"): 1}),
    "mailed code, second step": Case(second_step_after_code, {("code", PASSED): 1}, "enrolled"),
    "passkey": Case(method("passkey"), {("passkey", PASSED): 1}),
    "passkey, used challenge": Case(
        unknown_passkey, {("passkey", PASSED): 1, ("passkey", "passkey_refused"): 1}
    ),
    "provider": Case(method("provider, new"), {("idp", PASSED): 1}),
    "provider, wrong": Case(wrong_provider_code, {("idp", "unknown_sign_in"): 1}),
    "refresh": Case(refresh, {}),
}


def sign_ins(app: Flask) -> dict[Count, float]:
    found = {}
    for name, value in read(app).items():
        if name.startswith("frontdesk_logins_total"):
            outcome, way = (part.split('"')[1] for part in name.split(",")[:2])
            found[(way, outcome)] = value
    return found


@only_on("sqlite")
def test_sign_ins_are_counted_once_by_their_first_proof(
    make_idp_app: Callable[..., Flask], mails: MailOutbox, clock: SteppingClock
) -> None:
    app = make_idp_app(**ALL_FEATURES, CORE__METRICS_ENABLED="true")
    deployment = Deployment(app, app, mails, clock)
    seen = {}
    for number, (name, case) in enumerate(CASES.items()):
        user = create_user(deployment, f"user{number}", case.factor)
        if name == "refresh":
            METHODS["refresh"].prepare(user)
        # A case that adds a passkey is signed in before.
        assert user.api.token
        before = sign_ins(app)
        case.act(user)
        after = sign_ins(app)
        added = {key: after[key] - before.get(key, 0) for key in after}
        seen[name] = {key: count for key, count in added.items() if count}
    assert seen == {name: case.counts for name, case in CASES.items()}
