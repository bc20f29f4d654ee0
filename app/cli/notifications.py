"""`flask notifications …`: how deliveries stand, and what an operator can do about them."""

from __future__ import annotations

import click
import orjson
from flask.cli import AppGroup

from ..core.context import current_frontdesk, service
from ..delivery.message import Subject
from ..delivery.outbox.enqueue import Outbox, counts_by_channel, oldest_waiting
from ..delivery.worker.worker import Worker
from ..notifications.counts import expansions_by_state, oldest_expansion
from ..notifications.expansions import CHORE, Expansions
from ..notifications.models import SUBJECT
from ..notifications.retention import Retention
from .accounts import in_words

group = AppGroup("notifications", help="Watch and mend the delivery of notifications.")


@group.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@in_words
def status(as_json: bool) -> None:
    """How many deliveries are in which state, and how long the oldest has waited."""
    session = current_frontdesk.session
    counts = counts_by_channel(session)
    expansions = expansions_by_state(session)
    now = current_frontdesk.clock.now()
    oldest = (oldest_waiting(session), oldest_expansion(session))
    waited = max(((now - since).total_seconds() for since in oldest if since), default=0.0)
    if as_json:
        report = {
            "deliveries": counts,
            "expansions": expansions,
            "oldest_waits_seconds": round(waited, 1),
        }
        click.echo(orjson.dumps(report).decode())
        return
    for channel, states in counts.items():
        line = ", ".join(f"{count} {state}" for state, count in states.items())
        click.echo(f"{channel}: {line}")
    for state, count in expansions.items():
        click.echo(f"Large broadcasts: {count} {state}")
    click.echo(f"The oldest unfinished one has waited for {waited:.0f} seconds.")


@group.command()
@click.option("--channel", help="Only this channel.")
@click.option("--notification", type=int, help="Only those of this notification's id.")
@in_words
def retry(channel: str | None, notification: int | None) -> None:
    """Have what failed tried again from the beginning, by the running workers."""
    subject = None if notification is None else Subject(SUBJECT, notification)
    count = service(Outbox).retry(channel, subject)
    if channel is None:
        service(Expansions).retry(notification)
    click.echo(f"{count} failed deliveries will be tried again.")


@group.command()
@click.option("--channel", help="Only this channel.")
@in_words
def send(channel: str | None) -> None:
    """Send what is due now, here and not in a worker; what must wait is left."""
    worker = service(Worker)
    worker.drain([channel] if channel else [CHORE, *worker.channels.names()])
    status.callback(as_json=False)  # type: ignore[misc]


@group.command()
@click.option("--days", type=click.IntRange(min=1), help="Instead of NOTIFICATIONS__KEEP_DAYS.")
@in_words
def prune(days: int | None) -> None:
    """Delete notifications that are older, with their inbox rows and deliveries."""
    retention = service(Retention)
    if days is None and retention.keep_days is None:
        raise click.ClickException("Say --days, or set NOTIFICATIONS__KEEP_DAYS.")
    click.echo(orjson.dumps({"notifications": retention.prune(days)}).decode())
