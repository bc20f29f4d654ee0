"""Functions and filters for every template of the console."""

from collections.abc import Iterable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from markupsafe import Markup

from ..auth.caller import known_caller
from ..core.context import find_context
from ..core.translations import DAY, MONTHS
from ..delivery.outbox.models import STOPPED, reason_code
from ..notifications.kinds import ACCOUNT, ANNOUNCEMENTS, NotificationKinds
from .assets import version
from .banners import note_secret_field, shown_banners
from .cookies import ZONE, browser_zone, cookie_name, take_lost_note, theme, theme_cookie
from .forms import form_state, kept_form
from .links import content_url, link_to
from .people import picture_path, workspace_logo
from .texts import (
    DAY_AND_TIME,
    _,
    _n,
    _p,
    device_name,
    direction,
    format_day,
    format_time,
    mark,
    number,
    tag,
    zone_of,
)


def asset(name: str) -> str:
    return link_to(".static_asset", digest=version(), name=name)


def url(endpoint: str, **values: object) -> str:
    return link_to(endpoint, **values)


_CHANNELS = {"inapp": mark("Inbox"), "email": mark("Email"), "sms": mark("SMS")}


def channel_name(name: str) -> str:
    """Return the name of a channel; a channel of the application has its own name."""
    return _(_CHANNELS.get(name, name))


_KINDS = {ANNOUNCEMENTS: mark("Announcements"), ACCOUNT: mark("Account")}


def kind_name(key: str) -> str:
    """Return the name of a kind of notifications, or the key of one that is no longer declared."""
    kind = find_context().get(NotificationKinds).get(key)
    name = key if kind is None else kind.name
    return _(_KINDS[key]) if key in _KINDS else name


_STATUSES = {
    "active": mark("Active"),
    "online": mark("Online"),
    "inactive": mark("Inactive"),
    "suspended": mark("Suspended"),
    "pending": mark("Unverified"),
    "deleting": mark("Scheduled for deletion"),
}


def status_name(name: str) -> str:
    """Return the title of an account's status; a status of the application is its own title."""
    return _(_STATUSES.get(name, name))


_SKIP_REASONS = {
    "The account has no phone": mark("no phone number"),
    "The account has no email": mark("no email address"),
    "The account was deleted": mark("account deleted"),
    "Opted out": mark("turned off"),
    "Read before": mark("read before"),
    STOPPED: mark("sending stopped"),
}


def skip_reason(reason: str) -> str:
    """Return why a channel skips an account, without the names of settings for operators."""
    if reason.startswith("SMS are not set up"):
        return _("SMS is not set up on this server")
    return _(_SKIP_REASONS.get(reason, reason))


def skipped(count: int, reasons: Iterable[str]) -> str:
    """Return how many recipients a channel skips, with the reasons."""
    why = Markup(", ").join(skip_reason(reason) for reason in reasons if reason)
    if not why:
        return _n("One skipped", "{n} skipped", count)
    return _n("One skipped ({why})", "{n} skipped ({why})", count, why=why)


def percent(part: int, whole: int) -> str:
    return _("{n}%", n=round(100 * part / max(whole, 1)))


def iso(value: datetime | str) -> str:
    return _read(value).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment(value: datetime | str, style: str = "") -> str:
    """Format a time in the reader's time zone, or in UTC; a script converts UTC to local time."""
    known = zone()
    local = _read(value).astimezone(known or UTC)
    if style == "day":
        return format_day(local)
    if style == "time":
        return f"{local:%H:%M}"
    return format_time(local) if known else f"{format_time(local)} UTC"


def time_format() -> dict[str, str]:
    """Return what the script needs to format times as the server does."""
    caller = known_caller()
    known = zone_of(caller.account) if caller else None
    return {
        "cookie": cookie_name(ZONE),
        "zone": known.key if known else "",
        "months": " ".join(_(month) for month in MONTHS),
        "day": _(DAY),
        "time": _(DAY_AND_TIME),
    }


def zone() -> ZoneInfo | None:
    """Return the time zone of the account, otherwise of the browser, if it is known."""
    caller = known_caller()
    return (zone_of(caller.account) if caller else None) or browser_zone()


def _read(value: datetime | str) -> datetime:
    read = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read if read.tzinfo else read.replace(tzinfo=UTC)


GLOBALS = {
    "_": _,
    "_n": _n,
    "_p": _p,
    "asset": asset,
    "channel_name": channel_name,
    "kind_name": kind_name,
    "content_url": content_url,
    "chosen_theme": theme,
    "form_state": form_state,
    "kept_form": kept_form,
    "note_secret_field": note_secret_field,
    "take_lost_note": take_lost_note,
    "direction": direction,
    "language": tag,
    "percent": percent,
    "picture_path": picture_path,
    "shown_banners": shown_banners,
    "reason_code": reason_code,
    "skip_reason": skip_reason,
    "skipped": skipped,
    "status_name": status_name,
    "theme_cookie": theme_cookie,
    "time_format": time_format,
    "url": url,
    "workspace_logo": workspace_logo,
}
FILTERS = {"day": format_day, "device": device_name, "iso": iso, "moment": moment, "number": number}
