"""What the form of the first root does, as a route would."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from ...auth.errors import InvalidProof
from ...auth.schemas import NewPassword
from ...auth.sessions.cookie_door import CookieDoor
from ...auth.sign_in.gate import Challenge, Gate
from ...auth.sign_in.proof import PASSWORD
from ...core.context import find_context, service
from ...core.web.answering import answers
from ...core.web.fields import Received, Text
from ...core.web.operation import anyone, hidden, raises
from ...core.web.reading import takes
from ..blueprint import blueprint as blueprint
from .first_root import FirstRoot, RootExists


class FirstRootMake(Received):
    token = Text(min=1, max=1024, required=True)
    email = Text(min=1, max=320, required=True)
    password = NewPassword()


class FirstRootMade(Schema):
    is_in = fields.Boolean(required=True)


@anyone
@hidden
@raises(InvalidProof, RootExists)
@takes(json=FirstRootMake)
@answers(200, FirstRootMade)
def make_root(json: dict[str, Any]) -> dict[str, bool]:
    """Make the first root account, and sign it in unless more is asked for"""
    made = FirstRoot(find_context()).make(**json)
    service(CookieDoor).enter()
    outcome = service(Gate).admit(made, (PASSWORD,))
    return {"is_in": not isinstance(outcome, Challenge)}
