"""Re-authentication before a sensitive action, with a redirect back to its page."""

from flask import Response, request

from ...accounts.service import Accounts
from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...auth.proof_names import has_factor
from ...auth.step_up import routes as step_up_api
from ...auth.step_up.service import Reauthentication
from ...core.context import service
from ...core.types import AccountKey
from ..api_calls import ApiCall, console_form
from ..links import next_path, redirect
from ..navigation import home_path
from ..pages import render_page
from ..providers import provider_links
from . import passkeys
from .cookie_sign_in import use_trusted_device
from .passkeys import sent_credential

# The form field of each method, in order of preference, and the name of its proof.
_METHODS = {
    "password": "password",
    "credential": "passkey",
    "otp": "totp",
    "recovery_code": "recovery",
    "code": "code",
}


@active_account_required
def confirm_page() -> Response:
    service(Reauthentication).check_caller(caller())
    methods = _available_methods()
    requested = request.values.get("way", "")
    return _page(requested if requested in methods else next(iter(methods), ""), methods)


@console_form(step_up_api.reauthenticate, page=confirm_page)
def confirm_identity(call_api: ApiCall) -> Response:
    use_trusted_device()
    call_api()
    return redirect(next_path(home_path()))


@console_form(step_up_api.reauthenticate, page=confirm_page)
def confirm_by_passkey(call_api: ApiCall) -> Response:
    call_api(json={"credential": sent_credential()})
    return redirect(next_path(home_path()))


def emailed_code_page(login_id: str) -> Response:
    """Return the page that asks for the emailed code."""
    return _page("code", _available_methods(), login_id)


def _page(method: str, methods: list[str], login_id: str = "") -> Response:
    carried = {"next": next_path(""), "way": method}
    if factors := request.values.get("factors"):
        carried["factors"] = factors
    return render_page(
        "visitor/confirm.html",
        method=method,
        methods=methods,
        carried=carried,
        login_id=login_id or request.form.get("login_id", ""),
        passkey_options=passkeys.options_to_confirm() if method == "credential" else "",
        providers=provider_links(),
    )


def _available_methods() -> list[str]:
    """Return the methods that are enabled and that the account has."""
    account = caller().account
    available = {"password"} if service(Accounts).has_usable_password(account) else set()
    enabled = {"password", *service(Reauthentication).step_up.methods}
    if "code" in enabled:
        available.add("code")
    if enabled & {"otp", "credential"}:
        available |= _factors(account.id)
    is_enough = request.values.get("factors") != "2"
    return [
        method
        for method, proof in _METHODS.items()
        if method in enabled and proof in available and (is_enough or has_factor((proof,)))
    ]


def _factors(account_id: AccountKey) -> set[str]:
    from ...auth.mfa.authenticators import Authenticators
    from ...auth.mfa.recovery_codes import RecoveryCodes

    found = {each.kind for each in service(Authenticators).list(account_id)}
    if found and service(RecoveryCodes).count_left(account_id):
        found.add("recovery")
    return found
