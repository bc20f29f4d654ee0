"""Sign-in methods: the rows of the sign-in matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from werkzeug.test import TestResponse

from app.testing.client import Api
from app.testing.people import PASSWORD

from ..registration.visitors import code_in
from ..rigs.cookie_browsers import HOST, NAME, SAME_ORIGIN, CookieBrowser
from ..rigs.oidc.browser import Browser
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor
from .passkey_holder import Holder
from .sign_in_users import User
from .test_email_change import mailed

NEW_PASSWORD = "a password never seen before"


class SignInMethod(NamedTuple):
    """A sign-in method: `prepare` runs before the account's state changes, `enter` signs in."""

    enter: Callable[[User], TestResponse]
    prepare: Callable[[User], object] = lambda user: None


def _password(user: User) -> TestResponse:
    return user.log_in()


def _password_and_otp(user: User) -> TestResponse:
    otp = user.phone.next_code() if user.phone else "123456"
    return user.log_in(otp=otp)


def _second_step(user: User) -> TestResponse:
    """Return the response of the MFA step, or of the password step if no MFA is required."""
    first = user.log_in()
    body = first.get_json()
    if user.phone is None or "mfa_token" not in body:
        return first
    return user.post("/login/mfa", mfa_token=body["mfa_token"], otp=user.phone.next_code())


def _mailed_code(user: User) -> TestResponse:
    login_id = user.post("/login/code", email=user.email).get_json()["login_id"]
    code = code_in(user.deployment.mails.last(user.email).text)
    return user.post("/login/code/verify", login_id=login_id, code=code)


def _add_passkey(user: User) -> None:
    user.stored["holder"] = Holder(user.api)
    user.stored["holder"].add()


def _passkey(user: User) -> TestResponse:
    options = user.post("/login/passkey/options").get_json()
    credential = user.stored["holder"].authenticator.get(options)
    return user.post("/login/passkey", credential=credential)


def _provider(user: User) -> TestResponse:
    """Sign in at the provider, with the browser that `_link_provider` left signed in, if any."""
    api = Api(user.deployment.now)
    callback = Visitor(api, user.stored.get("at the provider")).go(user.name)
    body = {**callback, "redirect_uri": REDIRECT_URI, "auth_data": {}}
    headers = {"X-Trusted-Device": user.device} if user.device else {}
    return api.client.post("/api/v1/idp/callback", json=body, headers=headers)


def _link_provider(user: User) -> None:
    api = Api(user.deployment.before)
    browser = user.stored["at the provider"] = Browser()
    body = {**Visitor(api, browser).go(user.name), "redirect_uri": REDIRECT_URI, "auth_data": {}}
    assert api.client.post("/api/v1/idp/callback", json=body).status_code in (200, 403)


def _registration(user: User) -> TestResponse:
    """Register the same email address with another password and follow any emailed link."""
    user.post("/registration", email=user.email, password=NEW_PASSWORD)
    mail = user.deployment.mails.last(user.email)
    if "?token=" in mail.text:
        user.post("/email-verification", token=mailed(user.deployment.mails, user.email)[0])
    return user.log_in(NEW_PASSWORD)


def _invite(user: User) -> None:
    user.deployment.team.invite(user.email)
    user.stored["invitation"] = user.deployment.team.secret(user.email)


def _invitation(user: User) -> TestResponse:
    body = {"email": user.email, "password": NEW_PASSWORD}
    return user.post("/registration", **body, invitation=user.stored["invitation"])


def _reset(user: User) -> TestResponse:
    user.post("/password-recovery", email=user.email)
    token = mailed(user.deployment.mails, user.email)[0]
    response = user.post("/reset-password", token=token, new_password=NEW_PASSWORD)
    return user.log_in(NEW_PASSWORD) if response.status_code == 200 else response


def _request_email_change(user: User) -> None:
    new_email = f"moved-{user.email}"
    user.api.post("/account/email", 202, json={"email": new_email})
    user.stored["moving"] = mailed(user.deployment.mails, new_email)[0]


def _confirm_email_change(user: User) -> TestResponse:
    return user.post("/account/email/confirm", token=user.stored["moving"], password=PASSWORD)


def _store_refresh_token(user: User) -> None:
    api = Api(user.deployment.before)
    form = {"username": user.email, "password": PASSWORD}
    if user.phone:
        form["otp"] = user.phone.next_code()
    answer = api.post("/login", data=form, headers={"Prefer": "refresh"}).json
    user.stored["refresh"] = answer["refresh_token"]


def _refresh(user: User) -> TestResponse:
    form = {"grant_type": "refresh_token", "refresh_token": user.stored["refresh"]}
    return user.send("POST", "/token", data=form)


def _cookie(user: User) -> TestResponse:
    body = {"email": user.email, "password": PASSWORD}
    return user.send("POST", "/session", json=body, headers=SAME_ORIGIN, base_url=HOST)


def _sign_in_by_cookie(user: User) -> None:
    browser = user.stored["browser"] = CookieBrowser(user.deployment.before)
    browser.sign_in(user.person, otp=user.phone.next_code() if user.phone else None)


def _earlier_cookie(user: User) -> TestResponse:
    cookie = f"{NAME}={user.stored['browser'].cookie}"
    return user.send("GET", "/workspaces", headers={"Cookie": cookie}, base_url=HOST)


def _sign_in(user: User) -> None:
    user.stored["token"] = user.api.token


def _earlier_token(user: User) -> TestResponse:
    headers = {"Authorization": f"Bearer {user.stored['token']}"}
    return user.send("GET", "/workspaces", headers=headers)


METHODS = {
    "password": SignInMethod(_password),
    "password+otp": SignInMethod(_password_and_otp),
    "second step": SignInMethod(_second_step),
    "mailed code": SignInMethod(_mailed_code),
    "passkey": SignInMethod(_passkey, _add_passkey),
    "provider": SignInMethod(_provider, _link_provider),
    "provider, new": SignInMethod(_provider),
    "registration": SignInMethod(_registration),
    "invitation": SignInMethod(_invitation, _invite),
    "reset": SignInMethod(_reset),
    "new address": SignInMethod(_confirm_email_change, _request_email_change),
    "refresh": SignInMethod(_refresh, _store_refresh_token),
    "old token": SignInMethod(_earlier_token, _sign_in),
    "cookie": SignInMethod(_cookie),
    "old cookie": SignInMethod(_earlier_cookie, _sign_in_by_cookie),
}
