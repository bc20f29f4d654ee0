"""Routes of one-click unsubscribe. Mail programs call them without credentials or an Origin."""

from typing import TypedDict
from urllib.parse import urlencode

from flask import Response
from marshmallow import Schema, fields

from ..core.context import current_frontdesk, service
from ..core.types import JsonObject
from ..core.web.fields import RequestSchema, StrictBoolean, response_field
from ..core.web.operation import anyone, example, raises, variables
from ..core.web.request_data import takes
from ..core.web.responses import answers
from .errors import InvalidUnsubscribeLink
from .settings import NotificationsSettings
from .unsubscribe import Unsubscribing


class UnsubscribeQuery(RequestSchema):
    class Input(TypedDict):
        all: bool

    all = StrictBoolean(
        load_default=False,
        description="All kinds of notifications that are not mandatory, for the link's channel.",
    )


class UnsubscribeRead(Schema):
    kind = response_field(fields.String, "Key of the kind of notifications.")
    name = response_field(fields.String, "Name of the kind.")
    mandatory = response_field(fields.Boolean, "Whether the kind cannot be turned off.")
    subscribed = response_field(fields.Boolean, "Whether notifications of the kind are sent.")
    others_subscribed = response_field(
        fields.Boolean, "Whether notifications of other kinds are sent that are not mandatory."
    )


UNSUBSCRIBED = {
    "kind": "announcements",
    "name": "Announcements",
    "mandatory": False,
    "subscribed": False,
    "others_subscribed": True,
}
SUBSCRIBED = {**UNSUBSCRIBED, "subscribed": True}


by_token = variables(token="Token of the link in the header `List-Unsubscribe` of an email.")


@anyone
@by_token
@raises(InvalidUnsubscribeLink)
@answers(303, None, description="Redirect to the page that unsubscribes")
def open_unsubscribe_link(token: str) -> Response:
    """Open the link in a browser

    Redirects to the page at `NOTIFICATIONS__UNSUBSCRIBE_PATH`, with the token and the kind.
    """
    kind = service(Unsubscribing).read(token)["kind"]
    settings = current_frontdesk.settings
    page = settings.core.page_url(settings.of(NotificationsSettings).UNSUBSCRIBE_PATH)
    query = urlencode({"token": token, "kind": kind})
    return Response(status=303, headers={"Location": f"{page}?{query}"})


@anyone
@by_token
@example(answer=UNSUBSCRIBED)
@raises(InvalidUnsubscribeLink)
@takes(query=UnsubscribeQuery)
@answers(200, UnsubscribeRead, ready=True)
def unsubscribe(token: str, query: UnsubscribeQuery.Input) -> JsonObject:
    """Unsubscribe

    Reads no body. Repeated requests succeed too.
    """
    return service(Unsubscribing).turn_off(token, is_all=query["all"])


@anyone
@by_token
@example(answer=SUBSCRIBED)
@raises(InvalidUnsubscribeLink)
@takes(query=UnsubscribeQuery)
@answers(200, UnsubscribeRead, ready=True)
def undo_unsubscribe(token: str, query: UnsubscribeQuery.Input) -> JsonObject:
    """Subscribe again

    With `all`, also to kinds that were turned off in another way.
    """
    return service(Unsubscribing).turn_on(token, is_all=query["all"])
