"""Functions and filters for every template of the console."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..auth.caller import known_caller
from .assets import version
from .cookies import theme, theme_cookie
from .forms import form_state
from .texts import _, _n, language, later
from .ways import to


def asset(name: str) -> str:
    return to(".static_asset", digest=version(), name=name)


def url(endpoint: str, **values: object) -> str:
    return to(endpoint, **values)


_CHANNELS = {"inapp": later("Inbox"), "email": later("Email"), "sms": later("SMS")}


def channel_name(name: str) -> str:
    """A host's own is called what it calls it."""
    return _(_CHANNELS.get(name, name))


def number(value: int) -> str:
    """With thin spaces between the thousands, which no language takes for a point."""
    return f"{value:,}".replace(",", "\u202f")


def iso(value: datetime | str) -> str:
    return _read(value).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment(value: datetime | str) -> str:
    """In the zone that the account has named; else in UTC, and it says so. A script puts those into
    the browser's own."""
    known = zone()
    shown = _read(value).astimezone(known or UTC).strftime("%-d %b %Y, %H:%M")
    return shown if known else f"{shown} UTC"


def zone() -> ZoneInfo | None:
    """That of whoever is signed in, where the account names one."""
    caller = known_caller()
    name = getattr(caller.account, "time_zone", None) if caller else None
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _read(value: datetime | str) -> datetime:
    read = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read if read.tzinfo else read.replace(tzinfo=UTC)


GLOBALS = {
    "_": _,
    "_n": _n,
    "asset": asset,
    "channel_name": channel_name,
    "chosen_theme": theme,
    "form_state": form_state,
    "language": language,
    "theme_cookie": theme_cookie,
    "url": url,
}
FILTERS = {"iso": iso, "moment": moment, "number": number}
