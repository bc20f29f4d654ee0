"""`/.well-known/jwks.json`: the public keys with which other services verify access tokens."""

from flask import Response, request

from ...core.context import current_frontdesk, service
from ...core.errors import FeatureOff
from ...core.web.blueprint import Blueprint
from ...core.web.operation import anyone, hidden
from ...core.web.responses import json_response
from ..settings import AuthSettings

blueprint = Blueprint("well_known", __name__)

# How long other services may use the keys without asking for new ones.
CACHE_SECONDS = 300


@blueprint.get("/.well-known/jwks.json")
@anyone
@hidden
def jwks() -> Response:
    """The public keys of access tokens"""
    if not current_frontdesk.settings.of(AuthSettings).SIGNING_KEYS:
        raise FeatureOff(note={"setting": "AUTH__SIGNING_KEYS"})
    # Imported here, because most applications have no signing keys.
    from .signing_keys import SigningKeys

    keys = [key.published for key in service(SigningKeys).all().values()]
    caching = {"Cache-Control": f"public, max-age={CACHE_SECONDS}"}
    response = json_response({"keys": keys}, headers=caching)
    response.add_etag()
    response.make_conditional(request)
    return response
