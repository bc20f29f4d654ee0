"""The dismissals of accounts in data exports, at the reclaim of an account, and in retention."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import select

from ..accounts.models import AccountLike
from ..core.data_export import DataSubject, ExportReader
from ..core.db.pruning import delete_in_batches, delete_rows
from ..core.db.transaction import AnySession
from .models import Banner, BannerDismissal

BATCH_ROWS = 5_000


def export_dismissals(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    if reader.has(Banner, BannerDismissal):
        dismissed = (
            select(BannerDismissal.id, Banner.text, BannerDismissal.dismissed_at)
            .join(Banner, Banner.id == BannerDismissal.banner_id)
            .where(BannerDismissal.account_id == subject.id)
        )
        yield "dismissed_banners.jsonl", reader.rows(dismissed)


def remove_dismissals(session: AnySession, account: AccountLike, since: datetime | None) -> None:
    """Show the owner of the account again what another person has dismissed."""
    conditions = [BannerDismissal.account_id == account.id]
    if since is not None:
        conditions.append(BannerDismissal.dismissed_at >= since)
    delete_rows(session, BannerDismissal, *conditions)


def prune_banners(session: AnySession, now: datetime, keep_days: int | None) -> int:
    """Delete the dismissals of banners that have ended, and the banners that ended more than this
    number of days ago; return how many banners were deleted."""
    ended = select(Banner.id).where(Banner.ends_at <= now)
    is_of_ended = BannerDismissal.banner_id.in_(ended)
    delete_in_batches(session, BannerDismissal, is_of_ended, batch=BATCH_ROWS)
    if keep_days is None:
        return 0
    is_old = Banner.ends_at < now - timedelta(days=keep_days)
    return delete_in_batches(session, Banner, is_old, batch=BATCH_ROWS)
