"""Showing once more who one is, before something dangerous, and back to it."""

from flask import Response, request

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.sign_in.options import has_factor
from ...auth.step_up import routes as step_up_api
from ...auth.step_up.service import Reauthentication
from ...core.context import service
from ...core.types import AccountKey
from ...core.web.operation import hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page
from ..ways import asked_next, go_to, to
from . import passkeys
from .arriving import bring_trusted_device
from .passkeys import sent_credential
from .provider import provider_name

# By the field that each sends, the best first, and what the proof is called.
_WAYS = {
    "password": "password",
    "credential": "passkey",
    "otp": "totp",
    "recovery_code": "recovery",
    "code": "code",
}


@active_account_required
@hidden
def confirm_page() -> Response:
    ways = _ways()
    asked = request.values.get("way", "")
    way = asked if asked in ways else next(iter(ways), "")
    return _page(way, ways)


@calls_api(step_up_api.reauthenticate, refused=confirm_page)
def confirm_identity(call_api: ApiCall) -> Response:
    bring_trusted_device()
    call_api()
    return go_to(asked_next(to(".dashboard")))


@calls_api(step_up_api.reauthenticate, refused=confirm_page)
def confirm_by_passkey(call_api: ApiCall) -> Response:
    call_api(json={"credential": sent_credential()})
    return go_to(asked_next(to(".dashboard")))


def code_mailed_page(login_id: str) -> Response:
    """The next page of who has asked for a code to confirm with."""
    return _page("code", _ways(), login_id)


def _page(way: str, ways: list[str], login_id: str = "") -> Response:
    carried = {"next": asked_next(""), "way": way}
    if needs := request.values.get("factors"):
        carried["factors"] = needs
    return page(
        "visitor/confirm.html",
        way=way,
        ways=ways,
        carried=carried,
        login_id=login_id or request.form.get("login_id", ""),
        passkey_options=passkeys.options_to_confirm() if way == "credential" else "",
        provider=provider_name(),
    )


def _ways() -> list[str]:
    """Those that are switched on here and that the account has."""
    account = caller().account
    has = {"password"} if account.password_hash else set()
    on = {"password", *service(Reauthentication).step_up.methods}
    if "code" in on:
        has.add("code")
    if on & {"otp", "credential"}:
        has |= _factors(account.id)
    enough = request.values.get("factors") != "2"
    return [
        way
        for way, proof in _WAYS.items()
        if way in on and proof in has and (enough or has_factor((proof,)))
    ]


def _factors(account_id: AccountKey) -> set[str]:
    from ...auth.mfa.authenticators import Authenticators
    from ...auth.mfa.recovery_codes import RecoveryCodes

    found = {each.kind for each in service(Authenticators).list(account_id)}
    if found and service(RecoveryCodes).count_left(account_id):
        found.add("recovery")
    return found
