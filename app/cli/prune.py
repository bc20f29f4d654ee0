"""`flask frontdesk prune`: everything that has had its time, in batches that lock nothing long."""

from __future__ import annotations

import click
import orjson

from ..core.desk import current_desk, service
from ..core.keystore import DatabaseKeystore
from ..notifications.retention import Retention
from ..profiles.avatars import Avatars
from .accounts import in_words
from .doctor import group as group
from .notifications import group as notifications_group

KEYSTORE_BATCH = 1_000


@group.command()
@in_words
def prune() -> None:
    """Delete expired keystore rows, pictures that no profile shows and old notifications."""
    report = {
        "keystore_entries": _keystore(),
        "avatars": service(Avatars).clean() if Avatars in current_desk.services else 0,
        "notifications": _notifications(None),
    }
    click.echo(orjson.dumps(report).decode())


@notifications_group.command("prune")
@click.option("--days", type=click.IntRange(min=1), help="Instead of NOTIFICATIONS__KEEP_DAYS.")
@in_words
def prune_notifications(days: int | None) -> None:
    """Delete notifications that are older, with their inbox rows and deliveries."""
    if days is None and current_desk.settings.notifications.KEEP_DAYS is None:
        raise click.ClickException("Say --days, or set NOTIFICATIONS__KEEP_DAYS.")
    click.echo(orjson.dumps({"notifications": _notifications(days)}).decode())


def _notifications(days: int | None) -> int:
    days = days or current_desk.settings.notifications.KEEP_DAYS
    if days is None or Retention not in current_desk.services:
        return 0
    return service(Retention).prune(days)


def _keystore() -> int:
    keystore = current_desk.keystore
    gone = 0
    if isinstance(keystore, DatabaseKeystore):
        while batch := keystore.prune(KEYSTORE_BATCH):
            gone += batch
    return gone
