"""The owner's preferences: a table of the kinds of notifications by channels."""

from flask import Response, request

from ...auth.decorators import active_account_required
from ...core.types import JsonObject
from ...notifications import preferences_routes as preferences_api
from ..api_calls import ApiCall, console_form, get_from_api
from ..links import redirect_to
from ..page_globals import channel_name, kind_name
from ..pages import render_page
from ..texts import _, mark

_FIELD = "kinds."
_DESCRIPTIONS = {
    "announcements": mark("News and maintenance."),
    "account": mark("Sign-in, recovery and security."),
}


@active_account_required
def preferences_page() -> Response:
    kinds = [_with_texts(kind) for kind in get_from_api(preferences_api.get_preferences)["kinds"]]
    channels = list(dict.fromkeys(channel for kind in kinds for channel in kind["channels"]))
    return render_page(
        "owner/preferences.html",
        at="dashboard",
        kinds=kinds,
        channels=channels,
        titles=[channel_name(channel) for channel in channels],
    )


@console_form(preferences_api.set_preferences, page=preferences_page)
def set_preferences(call_api: ApiCall) -> Response:
    call_api(json={"kinds": _sent_choices()})
    return redirect_to(".preferences_page", _("Notifications saved."))


def _with_texts(kind: JsonObject) -> JsonObject:
    description = _(str(_DESCRIPTIONS.get(kind["key"], kind["description"])))
    return {**kind, "name": kind_name(kind["key"]), "description": description}


def _sent_choices() -> JsonObject:
    """Return the choices of the fields `kinds.KEY.CHANNEL`. A checkbox follows a field that says
    `false`, so the last value counts."""
    found: JsonObject = {}
    for name, values in request.form.lists():
        if name.startswith(_FIELD):
            kind, _dot, channel = name.removeprefix(_FIELD).partition(".")
            found.setdefault(kind, {})[channel] = values[-1]
    return found
