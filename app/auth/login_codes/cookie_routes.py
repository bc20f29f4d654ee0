"""The twin of signing in by a code for pages in a browser, which are then known by a cookie."""

from __future__ import annotations

from typing import Any

from ...core.context import service
from ...core.keystore import KeystoreUnavailable
from ...core.web.answering import answers
from ...core.web.operation import anyone, example, raises
from ...core.web.reading import takes
from ..blueprint import address
from ..errors import AccountDeleting, InactiveAccount, InvalidProof
from ..sessions.by_cookie import answer_with_cookie, signs_in_by_cookie
from ..sessions.cookie_door import CookieDoor
from ..sessions.cookie_examples import SESSION
from ..sessions.cookie_schemas import cookie_session_read
from ..sign_in.admitting import admits
from . import examples
from .blueprint import blueprint
from .schemas import MailedCode
from .service import LoginByCode


@blueprint.post("/session/code", only_with=CookieDoor)
@anyone
@signs_in_by_cookie
@admits
@example(json=examples.PROOF, answer=SESSION)
@raises(InvalidProof, InactiveAccount, AccountDeleting, KeystoreUnavailable)
@takes(json=MailedCode)
@answers(200, cookie_session_read)
def open_cookie_session_by_code(json: dict[str, Any]) -> dict[str, Any]:
    """Sign in by a cookie, with the mailed code"""
    login = service(LoginByCode)
    return answer_with_cookie(login.sign_in(json["login_id"], json["code"], address()))
