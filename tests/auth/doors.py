"""The ways in: what the rows of the table of doors are."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from werkzeug.test import TestResponse

from app.testing.client import Api
from app.testing.people import PASSWORD

from ..registration.visitors import code_in
from ..rigs.cookie_browsers import HOST, NAME, OWN, CookieBrowser
from ..rigs.oidc.browser import Browser
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor
from .door_guests import Guest
from .passkey_holder import Holder
from .test_email_change import mailed

NEW_PASSWORD = "a password never seen before"


class Way(NamedTuple):
    """What is done while the account is as it should be, and what at the door."""

    enter: Callable[[Guest], TestResponse]
    prepare: Callable[[Guest], object] = lambda guest: None


def _password(guest: Guest) -> TestResponse:
    return guest.log_in()


def _password_and_otp(guest: Guest) -> TestResponse:
    otp = guest.phone.next_code() if guest.phone else "123456"
    return guest.log_in(otp=otp)


def _second_step(guest: Guest) -> TestResponse:
    """Of a sign-in that asks for it; else its first one."""
    first = guest.log_in()
    told = first.get_json()
    if guest.phone is None or "mfa_token" not in told:
        return first
    return guest.post("/login/mfa", mfa_token=told["mfa_token"], otp=guest.phone.next_code())


def _mailed_code(guest: Guest) -> TestResponse:
    login_id = guest.post("/login/code", email=guest.email).get_json()["login_id"]
    code = code_in(guest.house.mails.last(guest.email).text)
    return guest.post("/login/code/verify", login_id=login_id, code=code)


def _add_passkey(guest: Guest) -> None:
    guest.kept["holder"] = Holder(guest.api)
    guest.kept["holder"].add()


def _passkey(guest: Guest) -> TestResponse:
    options = guest.post("/login/passkey/options").get_json()
    credential = guest.kept["holder"].authenticator.get(options)
    return guest.post("/login/passkey", credential=credential)


def _provider(guest: Guest) -> TestResponse:
    """At the provider, who has been there before is known by the browser."""
    api = Api(guest.house.now)
    back = Visitor(api, guest.kept.get("at the provider")).go(guest.name)
    body = {**back, "redirect_uri": REDIRECT_URI, "auth_data": {}}
    headers = {"X-Trusted-Device": guest.device} if guest.device else {}
    return api.client.post("/api/v1/idp/callback", json=body, headers=headers)


def _meet_provider(guest: Guest) -> None:
    api = Api(guest.house.before)
    browser = guest.kept["at the provider"] = Browser()
    body = {**Visitor(api, browser).go(guest.name), "redirect_uri": REDIRECT_URI, "auth_data": {}}
    assert api.client.post("/api/v1/idp/callback", json=body).status_code in (200, 403)


def _registration(guest: Guest) -> TestResponse:
    """Once more, with another password, and with whatever the mail has."""
    guest.post("/registration", email=guest.email, password=NEW_PASSWORD)
    mail = guest.house.mails.last(guest.email)
    if "?token=" in mail.text:
        guest.post("/email-verification", token=mailed(guest.house.mails, guest.email)[0])
    return guest.log_in(NEW_PASSWORD)


def _invite(guest: Guest) -> None:
    guest.house.team.invite(guest.email)
    guest.kept["invitation"] = guest.house.team.secret(guest.email)


def _invitation(guest: Guest) -> TestResponse:
    body = {"email": guest.email, "password": NEW_PASSWORD}
    return guest.post("/registration", **body, invitation=guest.kept["invitation"])


def _reset(guest: Guest) -> TestResponse:
    guest.post("/password-recovery", email=guest.email)
    token = mailed(guest.house.mails, guest.email)[0]
    done = guest.post("/reset-password", token=token, new_password=NEW_PASSWORD)
    return guest.log_in(NEW_PASSWORD) if done.status_code == 200 else done


def _ask_for_another_address(guest: Guest) -> None:
    moved = f"moved-{guest.email}"
    guest.api.post("/account/email", 202, json={"email": moved})
    guest.kept["moving"] = mailed(guest.house.mails, moved)[0]


def _confirmed_address(guest: Guest) -> TestResponse:
    return guest.post("/account/email/confirm", token=guest.kept["moving"], password=PASSWORD)


def _keep_signed_in(guest: Guest) -> None:
    api = Api(guest.house.before)
    form = {"username": guest.email, "password": PASSWORD}
    if guest.phone:
        form["otp"] = guest.phone.next_code()
    answer = api.post("/login", data=form, headers={"Prefer": "refresh"}).json
    guest.kept["refresh"] = answer["refresh_token"]


def _refreshed(guest: Guest) -> TestResponse:
    form = {"grant_type": "refresh_token", "refresh_token": guest.kept["refresh"]}
    return guest.send("POST", "/token", data=form)


def _cookie(guest: Guest) -> TestResponse:
    body = {"email": guest.email, "password": PASSWORD}
    return guest.send("POST", "/session", json=body, headers=OWN, base_url=HOST)


def _sign_in_by_cookie(guest: Guest) -> None:
    browser = guest.kept["browser"] = CookieBrowser(guest.house.before)
    browser.sign_in(guest.person, otp=guest.phone.next_code() if guest.phone else None)


def _cookie_of_before(guest: Guest) -> TestResponse:
    cookie = f"{NAME}={guest.kept['browser'].cookie}"
    return guest.send("GET", "/workspaces", headers={"Cookie": cookie}, base_url=HOST)


def _sign_in(guest: Guest) -> None:
    guest.kept["token"] = guest.api.token


def _token_of_before(guest: Guest) -> TestResponse:
    headers = {"Authorization": f"Bearer {guest.kept['token']}"}
    return guest.send("GET", "/workspaces", headers=headers)


WAYS = {
    "password": Way(_password),
    "password+otp": Way(_password_and_otp),
    "second step": Way(_second_step),
    "mailed code": Way(_mailed_code),
    "passkey": Way(_passkey, _add_passkey),
    "provider": Way(_provider, _meet_provider),
    "provider, new": Way(_provider),
    "registration": Way(_registration),
    "invitation": Way(_invitation, _invite),
    "reset": Way(_reset),
    "new address": Way(_confirmed_address, _ask_for_another_address),
    "refresh": Way(_refreshed, _keep_signed_in),
    "old token": Way(_token_of_before, _sign_in),
    "cookie": Way(_cookie),
    "old cookie": Way(_cookie_of_before, _sign_in_by_cookie),
}
