"""The figures of the overview: a number for each, compared with the period before, and a chart."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import select

from ...accounts.service import Accounts
from ...audit.settings import AuditSettings
from ...auth.actions import LOGIN_FAILED
from ...auth.mfa.models import Authenticator
from ...auth.settings import AuthSettings
from ...core.audit_log.models import MOST_FREQUENT, NOT_FREQUENT, AuditEntry
from ...core.context import current_frontdesk, service
from ...core.db.base import timestamp_literal
from ...core.time_series import FEW_ROWS, Bucket, Series, TimeSeriesCounter
from ...delivery.outbox.models import FAILED, SENT
from ...delivery.outbox.statistics import ended_series
from ..resources import Features
from ..texts import _, number
from .periods import Period

# Accounts that signed in before are counted in the audit log up to this number of sign-ins.
MAX_SIGN_INS = 200_000

_IS_SIGN_IN = AuditEntry.type == MOST_FREQUENT
_SIGN_INS = Series("sign-ins", AuditEntry.at, [_IS_SIGN_IN], is_final=True)
_SIGNED_IN = replace(_SIGN_INS, name="signed-in", distinct=AuditEntry.account_id)
_IS_FAILED = AuditEntry.type == LOGIN_FAILED.name
_REJECTED = Series(LOGIN_FAILED.name, AuditEntry.at, [_IS_FAILED, NOT_FREQUENT], is_final=True)


@dataclass(frozen=True)
class Figure:
    """The number of a period. None while rows are still being counted."""

    number: int | None
    before: int | None = None

    @property
    def change(self) -> str:
        """Describe the difference from the period before."""
        if self.number is None or self.before is None:
            return ""
        if self.number == self.before:
            return _("No change")
        if not self.before:
            return _("+{n}, from 0", n=number(self.number))
        percent = round(100 * (self.number - self.before) / self.before)
        if not percent:
            return _("{n}%", n=0)
        amount, before = number(abs(percent)), number(self.before)
        if self.number > self.before:
            return _("+{n}%, from {before}", n=amount, before=before)
        return _("-{n}%, from {before}", n=amount, before=before)


@dataclass(frozen=True)
class Counted:
    """The numbers of a series in each bucket of both periods, None while rows are counted."""

    period: Period
    numbers: Sequence[int] | None
    has_before: bool = True

    @property
    def figure(self) -> Figure:
        if self.numbers is None:
            return Figure(None)
        cut = len(self.numbers) - len(self.period.buckets)
        before = sum(self.numbers[:cut]) if self.has_before else None
        return Figure(sum(self.numbers[cut:]), before)

    @property
    def current(self) -> Sequence[int]:
        """The numbers of the period itself; empty while rows are still being counted."""
        return self.numbers[-len(self.period.buckets) :] if self.numbers else ()

    def points(self, second: "Counted") -> list[tuple[str, int, int]]:
        """Return the points of a chart: a label, the number, and that of the second series."""
        return list(zip(self.period.labels, self.current, second.current, strict=True))


class Figures:
    """Counts the figures of one page."""

    def __init__(self, period: Period, features: Features) -> None:
        self.period = period
        frontdesk = current_frontdesk
        self.session, self.clock = frontdesk.session, frontdesk.clock
        self.counter = TimeSeriesCounter(self.session, frontdesk.keystore, self.clock)
        self.model = service(Accounts).model
        audit = frontdesk.settings.of(AuditSettings)
        # Figures are links to the events and deliveries that they count.
        self.has_audit_log = audit.EVENTS and features.has(".admin_events_page")
        self.has_deliveries = features.has(".deliveries_page")
        oldest = period.before[0].start
        # The audit log may have been pruned since the period before.
        self.has_earlier = audit.KEEP_DAYS is None or oldest > self.clock.now() - timedelta(
            days=audit.KEEP_DAYS
        )

    def counted(self) -> dict[str, Counted]:
        """Return the figures with a chart. Without an audit log, some are missing."""
        # Imported accounts have no event.
        found = {"sign_ups": self._count(Series("accounts", self.model.created_at))}
        for state in (SENT, FAILED) if self.has_deliveries else ():
            found[state] = self._count(ended_series(state))
        if self.has_audit_log:
            found["sign_ins"] = self._count(_SIGN_INS, has_before=self.has_earlier)
            found["failed_sign_ins"] = self._count(_REJECTED, has_before=self.has_earlier)
            numbers = self.counter.count(_SIGNED_IN, self.period.buckets)
            found["signed_in"] = Counted(self.period, numbers, has_before=False)
        return found

    def active(self, sign_ins: Counted | None) -> Figure | None:
        """Count the accounts whose last sign-in is in the period. The audit log has those of the
        period before, unless there are too many sign-ins to find them."""
        at = getattr(self.model, "last_login_date", None)
        if at is None:
            return None
        start, before = self.period.start, self.period.before
        rows = select(self.model.id).where(at >= timestamp_literal(at, start))
        active = self.counter.count_rows(f"active:{start:%Y%m%d%H%M}", rows)
        sign_ins_before = sign_ins.figure.before if sign_ins else None
        if sign_ins_before is None or sign_ins_before > MAX_SIGN_INS:
            return Figure(active)
        whole = Bucket(before[0].start, before[-1].end)
        accounts = _SIGNED_IN.rows(whole).with_only_columns(AuditEntry.account_id).distinct()
        name = f"active-before:{whole.start:%Y%m%d%H%M}"
        # Stored sooner than other counts: no index has the accounts, so that each row is read.
        return Figure(active, self.counter.count_rows(name, accounts, FEW_ROWS))

    def mfa_users(self) -> int | None:
        """Return the number of accounts with MFA, or None if MFA is not enabled."""
        if not current_frontdesk.settings.of(AuthSettings).keeps_authenticators:
            return None
        confirmed = select(Authenticator.account_id).where(Authenticator.confirmed_at.is_not(None))
        return self.counter.count_rows("mfa", confirmed.distinct())

    def _count(self, series: Series, *, has_before: bool = True) -> Counted:
        return Counted(self.period, self.counter.count(series, self.period.all), has_before)
