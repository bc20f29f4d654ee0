from __future__ import annotations

from typing import Any

from ...core.context import service
from ...core.errors import QuotaReached
from ...core.keystore import KeystoreUnavailable
from ...core.web.answering import answers
from ...core.web.blueprint import Blueprint
from ...core.web.operation import anyone, example, raises
from ...core.web.reading import takes
from ..caller import caller
from ..errors import (
    AccountDeleting,
    AwaitsVerification,
    InactiveAccount,
    ReauthenticationRequired,
)
from ..guards import account_required, active_account_required
from ..mfa.models import Authenticator
from ..schemas import login_read
from ..sign_in.gate import payload_of
from . import examples
from .errors import AddressNotProven, NewPasskeyRefused, PasskeyRefused, PasskeyTaken
from .registration import PasskeyRegistration
from .schemas import CreationOptions, NewPasskey, PasskeyRead, PasskeySignIn, RequestOptions
from .showing import SIGN_IN, STEP_UP, PasskeyProofs
from .sign_in import PasskeyLogin

blueprint = Blueprint(
    "passkeys", __name__, needs=PasskeyLogin, about="Passkeys: adding one, and signing in by it"
)


@blueprint.post("/authenticators/passkey/options")
@active_account_required
@example(answer=examples.CREATION_OPTIONS)
@raises(AddressNotProven, ReauthenticationRequired, QuotaReached)
@answers(200, CreationOptions, ready=True)
def begin_passkey() -> dict[str, Any]:
    """Get what a browser needs to make a passkey: good for five minutes, and for one"""
    return service(PasskeyRegistration).options(caller())


@blueprint.post("/authenticators/passkey")
@active_account_required
@example(json=examples.NEW_PASSKEY, answer=examples.PASSKEY)
@raises(AddressNotProven, ReauthenticationRequired, QuotaReached)
@raises(NewPasskeyRefused, PasskeyTaken, KeystoreUnavailable)
@takes(json=NewPasskey)
@answers(201, PasskeyRead)
def add_passkey(json: dict[str, Any]) -> Authenticator:
    """Add the passkey that the browser has made"""
    return service(PasskeyRegistration).add(caller(), json["name"], json["credential"])


@blueprint.post("/login/passkey/options")
@anyone
@example(answer=examples.REQUEST_OPTIONS)
@answers(200, RequestOptions, ready=True)
def begin_passkey_login() -> dict[str, Any]:
    """Get what a browser needs to sign in by a passkey: nobody is named"""
    return service(PasskeyProofs).options(SIGN_IN)


@blueprint.post("/login/passkey")
@anyone
@example(json=examples.SHOWN_PASSKEY, answer=examples.SIGNED_IN)
@raises(PasskeyRefused, InactiveAccount, AwaitsVerification, AccountDeleting, KeystoreUnavailable)
@takes(json=PasskeySignIn)
@answers(200, login_read)
def log_in_by_passkey(json: dict[str, Any]) -> dict[str, Any]:
    """Sign in by a passkey"""
    return payload_of(service(PasskeyLogin).with_passkey(json["credential"]))


@blueprint.post("/reauthenticate/passkey/options")
@account_required
@example(answer=examples.REQUEST_OPTIONS)
@answers(200, RequestOptions, ready=True)
def begin_reauthentication() -> dict[str, Any]:
    """Get what a browser needs to show one of the caller's passkeys once more"""
    return service(PasskeyProofs).options(STEP_UP, caller().account.id)
