"""The period of the overview, in hours or days of the reader's time zone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import NamedTuple

from marshmallow import validate

from ...core.time_series import Bucket
from ...core.types import JsonObject
from ...core.web.fields import Text
from ..links import link_to
from ..page_globals import zone
from ..texts import DAY_AND_TIME, _, format_day_of_year, mark

DEFAULT = "7d"
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


class _Kind(NamedTuple):
    title: str
    # The number of hours or days.
    length: int
    step: timedelta


_KINDS = {
    "24h": _Kind(mark("24 hours"), 24, _HOUR),
    "7d": _Kind(mark("7 days"), 7, _DAY),
    "30d": _Kind(mark("30 days"), 30, _DAY),
    "90d": _Kind(mark("90 days"), 90, _DAY),
}
PERIODS = tuple(_KINDS)


def period_field(default: str = DEFAULT) -> Text:
    return Text(max=3, load_default=default, validate=validate.OneOf(PERIODS))


@dataclass(frozen=True)
class Period:
    """A number of hours or days until now, and as much time before."""

    name: str
    buckets: Sequence[Bucket]
    # Until as long before the period's start as the period lasts.
    before: Sequence[Bucket]
    labels: Sequence[str]
    here: tzinfo

    @property
    def start(self) -> datetime:
        return self.buckets[0].start

    @property
    def all(self) -> Sequence[Bucket]:
        return [*self.before, *self.buckets]

    @property
    def since(self) -> str:
        """The start for the filter of a list: a day of the reader, or a time."""
        return self._filter(self.start, timedelta())

    @property
    def after(self) -> str:
        """The start for a filter that leaves the given day or time out."""
        return self._filter(self.start, _DAY)

    def _filter(self, start: datetime, earlier: timedelta) -> str:
        if self.is_hourly:
            return (start - (timedelta(microseconds=1) if earlier else earlier)).isoformat()
        return (start.astimezone(self.here).date() - earlier).isoformat()

    @property
    def title(self) -> str:
        return _(_KINDS[self.name].title)

    @property
    def is_hourly(self) -> bool:
        return _KINDS[self.name].step == _HOUR


def find_period(name: str, now: datetime, here: tzinfo | None = None) -> Period:
    """Return the period of this name until now; by default in the reader's time zone."""
    kind, here = _KINDS[name], here or zone() or UTC
    at_index = _hours(now, here) if kind.step == _HOUR else _days(now, here)
    starts = [at_index(index) for index in range(1 - kind.length, 1)]
    # The whole bucket of now: lists and counts have no rows of the future.
    buckets = [*map(Bucket, starts, [*starts[1:], at_index(1)])]
    cut = _same_time_before(now, kind, here)
    earlier = [at_index(index) for index in range(1 - 2 * kind.length, 2 - kind.length)]
    before = [
        Bucket(start, min(end, cut), is_cut=end > cut)
        for start, end in pairwise(earlier)
        if start < cut
    ]
    label = _hour_label if kind.step == _HOUR else format_day_of_year
    labels = [label(start.astimezone(here)) for start in starts]
    return Period(name, buckets, before, labels, here)


def _hours(now: datetime, here: tzinfo) -> Callable[[int], datetime]:
    # Some time zones begin an hour within an hour of UTC.
    minute = now.astimezone(here).minute
    first = now.replace(second=0, microsecond=0) - timedelta(minutes=minute)
    return lambda index: first.astimezone(UTC) + index * _HOUR


def _days(now: datetime, here: tzinfo) -> Callable[[int], datetime]:
    today = now.astimezone(here).date()
    return lambda index: datetime.combine(today + index * _DAY, time(), here).astimezone(UTC)


def _same_time_before(now: datetime, kind: _Kind, here: tzinfo) -> datetime:
    """Return the time of the same minute in the period before."""
    minute = now.replace(second=0, microsecond=0)
    if kind.step == _HOUR:
        return minute - kind.length * _HOUR
    local = minute.astimezone(here)
    earlier = datetime.combine(local.date() - kind.length * _DAY, local.time(), here)
    return earlier.astimezone(UTC)


def _hour_label(at: datetime) -> str:
    return _(DAY_AND_TIME, date=format_day_of_year(at), time=at.strftime("%H:%M"))


def period_links(endpoint: str, current: str, **values: object) -> list[JsonObject]:
    """Return the tabs of a page for each period."""
    return [
        {
            "title": _(kind.title),
            "url": link_to(endpoint, period=name, **values),
            "current": name == current,
        }
        for name, kind in _KINDS.items()
    ]
