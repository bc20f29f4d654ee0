"""What every template of the console may call."""

from __future__ import annotations

from typing import Any

from .assets import version
from .forms import form_state
from .texts import _, _n, language, later
from .times import iso, moment
from .ways import to


def asset(name: str) -> str:
    return to(".static_asset", digest=version(), name=name)


def url(endpoint: str, **values: Any) -> str:
    return to(endpoint, **values)


_CHANNELS = {"inapp": later("Inbox"), "email": later("E-mail"), "sms": later("SMS")}


def channel_name(name: str) -> str:
    """A host's own is called what it calls it."""
    return _(_CHANNELS.get(name, name))


def number(value: int) -> str:
    """With thin spaces between the thousands, which no language takes for a point."""
    return f"{value:,}".replace(",", "\u202f")


GLOBALS = {
    "_": _,
    "_n": _n,
    "asset": asset,
    "channel_name": channel_name,
    "form_state": form_state,
    "language": language,
    "url": url,
}
FILTERS = {"iso": iso, "moment": moment, "number": number}
