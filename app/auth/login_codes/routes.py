from __future__ import annotations

from typing import Any

from ...core.context import service
from ...core.keystore import KeystoreUnavailable
from ...core.web.answering import answers
from ...core.web.operation import anyone, example, raises
from ...core.web.reading import takes
from ..blueprint import address
from ..errors import AccountDeleting, InactiveAccount, InvalidProof, TooManyAttempts
from ..examples import SIGNED_IN
from ..schemas import login_read
from ..sign_in.admitting import admits
from ..sign_in.gate import payload_of
from . import cookie_routes as cookie_routes
from . import examples
from .blueprint import blueprint as blueprint
from .schemas import AskForCode, CodeAskedFor, MailedCode
from .service import LoginByCode


@blueprint.post("/login/code")
@anyone
@example(json=examples.ASK, answer=examples.ASKED)
@raises(TooManyAttempts, KeystoreUnavailable)
@takes(json=AskForCode)
@answers(202, CodeAskedFor)
def ask_for_code(json: dict[str, Any]) -> dict[str, str]:
    """Mail a code that signs in; every address is answered alike"""
    return {"login_id": service(LoginByCode).ask(json["email"], address())}


@blueprint.post("/login/code/verify")
@anyone
@admits
@example(json=examples.PROOF, answer=SIGNED_IN)
@raises(InvalidProof, InactiveAccount, AccountDeleting, KeystoreUnavailable)
@takes(json=MailedCode)
@answers(200, login_read)
def log_in_by_code(json: dict[str, Any]) -> dict[str, Any]:
    """Log in with the mailed code; where registration is open, it makes an account"""
    outcome = service(LoginByCode).sign_in(json["login_id"], json["code"], address())
    return payload_of(outcome)
