"""Shows banners to accounts and visitors, and creates, changes and deletes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, BindParameter, bindparam, cast, exists, or_, select

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..core.actions import Action, Target
from ..core.clock import Clock
from ..core.coded_messages import CodedMessage
from ..core.context import report_action
from ..core.db.rows import Rows
from ..core.db.transaction import (
    AnySession,
    extended_timeout,
    insert_new,
    load_locked,
    lock_name,
    transaction,
)
from ..core.errors import Invalid, QuotaReached
from ..core.types import AccountKey, JsonObject, Values
from ..core.web.responses import field_names, row_serializer
from ..notifications.inbox import JsonText
from ..notifications.receivers import Audience, Receivers, is_in_audience
from ..workspaces.models import ACTIVE, Member, Workspace
from .actions import BANNER_CHANGED, BANNER_CREATED, BANNER_DELETED
from .errors import BannerNotDismissible, BannerNotFound
from .models import EVERYONE, LEVELS, Banner, BannerDismissal
from .schemas import BannerCreate, BannerRead, BannerUpdate

# How many banners can be in force at any time.
MAX_IN_FORCE = 20
ENDS_TOO_EARLY = CodedMessage("Must be after the start, and in the future.", "in_the_past")
NO_WORKSPACE = CodedMessage("No workspace has this id.", "not_found")

_read_banner = row_serializer(BannerRead)


class ShownBanner(NamedTuple):
    banner: JsonObject
    is_dismissed: bool


@dataclass(eq=False)
class Banners:
    session: AnySession
    clock: Clock
    accounts: Accounts

    def list_for(self, account: AccountLike | None) -> list[JsonObject]:
        """Return the banners for an account, or for a visitor (None), the most important first."""
        return [each.banner for each in self._shown_to(account) if not each.is_dismissed]

    def dismiss(self, account: AccountLike, banner_id: int) -> None:
        """Hide a banner from the account from now on; it may have dismissed the banner before."""
        self.check_dismissible(account, banner_id)
        values = {"banner_id": banner_id, "account_id": account.id}
        with transaction(self.session) as session:
            insert_new(session, BannerDismissal, **values, dismissed_at=self.clock.now())

    def check_dismissible(self, account: AccountLike | None, banner_id: int) -> None:
        """Raise the problem of a banner that is not shown, or cannot be dismissed."""
        for shown in self._shown_to(account):
            if shown.banner["id"] == banner_id:
                if not shown.banner["dismissible"]:
                    raise BannerNotDismissible
                return
        raise BannerNotFound

    def page(self, offset: int, limit: int) -> Sequence[Banner]:
        newest = select(Banner).order_by(Banner.id.desc())
        return self.session.scalars(newest.offset(offset).limit(limit)).all()

    def get(self, banner_id: int) -> Banner:
        banner = self.session.get(Banner, banner_id)
        if banner is None:
            raise BannerNotFound
        return banner

    def create(self, values: BannerCreate.Input) -> Banner:
        with transaction(self.session) as session:
            columns = {**values, "starts_at": values["starts_at"] or self.clock.now()}
            banner = Banner(**self._with_audience(columns))
            self._check_period(banner)
            self._check_quota(banner)
            session.add(banner)
            session.flush()
            self._report(BANNER_CREATED, banner)
            return banner

    def change(self, banner_id: int, values: BannerUpdate.Input) -> Banner:
        with transaction(self.session) as session:
            # Locked before the row, as in a creation.
            self._lock_quota()
            banner = load_locked(session, Banner, banner_id)
            if banner is None:
                raise BannerNotFound
            changes = self._with_audience(values)
            changed = [name for name in changes if getattr(banner, name) != changes[name]]
            for name in changed:
                setattr(banner, name, changes[name])
            if not {"starts_at", "ends_at"}.isdisjoint(changed):
                self._check_period(banner)
                self._check_quota(banner)
            if changed:
                session.flush()
                self._report(BANNER_CHANGED, banner, changed=changed)
            return banner

    def delete(self, banner_id: int) -> Banner:
        # Many accounts may have dismissed it.
        with transaction(self.session) as session, extended_timeout(self.session):
            banner = load_locked(session, Banner, banner_id)
            if banner is None:
                raise BannerNotFound
            session.delete(banner)
            session.flush()
            self._report(BANNER_DELETED, banner)
            return banner

    # Built when first used, because most processes never show a banner.
    @cached_property
    def _in_force(self) -> Rows:
        account_id: BindParameter[Any] = bindparam("account_id")
        now: BindParameter[datetime] = bindparam("now")
        is_dismissed = exists().where(
            BannerDismissal.banner_id == Banner.id, BannerDismissal.account_id == account_id
        )
        workspace_id = cast(Banner.audience["workspace"].as_string(), BigInteger)
        is_member = exists().where(
            Member.workspace_id == workspace_id,
            Member.account_id == account_id,
            Member.status == ACTIVE,
        )
        columns = (getattr(Banner, name) for name in field_names(BannerRead))
        banners = select(*columns, cast(Banner.audience, JsonText), is_dismissed, is_member)
        has_begun = Banner.starts_at <= now
        return Rows(
            banners.where(has_begun, or_(Banner.ends_at.is_(None), Banner.ends_at > now)).order_by(
                Banner.starts_at.desc(), Banner.id.desc()
            )
        )

    def _shown_to(self, account: AccountLike | None) -> list[ShownBanner]:
        rows = self._in_force.read(
            self.session, account_id=None if account is None else account.id, now=self.clock.now()
        )
        shown = [
            ShownBanner(_read_banner(row[:-3]), is_dismissed)
            for row in rows
            for audience, is_dismissed, is_member in [row[-3:]]
            if audience == EVERYONE
            or (
                account is not None
                and is_in_audience(Audience(**audience), account, self.accounts, is_member)
            )
        ]
        return sorted(shown, key=lambda each: LEVELS.index(each.banner["level"]))

    def _with_audience(self, values: Values) -> JsonObject:
        """Return the columns, with the stored form of the audience; raise Invalid for an account or
        a workspace that does not exist."""
        columns = dict(values)
        conditions = columns.get("audience", EVERYONE)
        if conditions == EVERYONE:
            return columns
        audience = Audience(**conditions)
        if audience.ids is not None:
            audience = replace(audience, ids=self._existing(audience.ids))
        if audience.workspace is not None and not self.session.get(Workspace, audience.workspace):
            raise Invalid.about("audience.workspace", NO_WORKSPACE)
        return {**columns, "audience": audience.to_json()}

    def _existing(self, ids: Sequence[AccountKey]) -> Sequence[AccountKey]:
        """Return each id once; raise Invalid for ids that no account has."""
        try:
            return Receivers.of(self.session, self.accounts, ids).audience.ids or ()
        except Invalid as problem:
            problem.faults = [each._replace(field="audience.ids") for each in problem.faults]
            raise

    def _check_period(self, banner: Banner) -> None:
        end = banner.ends_at
        if end is not None and end <= max(banner.starts_at, self.clock.now()):
            raise Invalid.about("ends_at", ENDS_TOO_EARLY)

    def _lock_quota(self) -> None:
        """Have other requests that create or change banners wait until this transaction ends."""
        lock_name(self.session, Banner, "in force")

    def _check_quota(self, banner: Banner) -> None:
        """Raise QuotaReached if too many banners would be in force at any time from now on."""
        self._lock_quota()
        start = max(banner.starts_at, self.clock.now())
        overlaps = [or_(Banner.ends_at.is_(None), Banner.ends_at > start)]
        if banner.ends_at is not None:
            overlaps.append(Banner.starts_at < banner.ends_at)
        if banner.id is not None:
            overlaps.append(Banner.id != banner.id)
        others = self.session.execute(select(Banner.starts_at, Banner.ends_at).where(*overlaps))
        periods = [(start, banner.ends_at), *((max(s, start), e) for s, e in others)]
        if _most_at_once(periods) > MAX_IN_FORCE:
            raise QuotaReached

    def _report(self, action: Action, banner: Banner, **data: Any) -> None:
        target = Target("banner", banner.id)
        report_action(self.session, action, target=target, text=banner.text, **data)


def _most_at_once(periods: Iterable[tuple[datetime, datetime | None]]) -> int:
    """Return how many of the periods overlap at most."""
    steps = sorted(step for period in periods for step in _steps(*period))
    return max(accumulate(change for _, change in steps), default=0)


def _steps(start: datetime, end: datetime | None) -> Iterator[tuple[datetime, int]]:
    yield start, 1
    if end is not None:
        # Sorted before a period that starts at the same time.
        yield end, -1
