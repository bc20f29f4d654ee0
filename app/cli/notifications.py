"""`flask notifications …`: the state of deliveries, retries and retention."""

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
from .groups import HELP

group = AppGroup("notifications", help=HELP["notifications"])


@group.command()
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as one line of JSON.")
@in_words
def status(as_json: bool) -> None:
    """Print the number of deliveries in each state and the age of the oldest pending delivery.

    \b
    Examples:
      flask notifications status
      flask notifications status --json
    """
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
@click.option("--channel", help="Retry only the deliveries of this channel, such as email.")
@click.option(
    "--notification", type=int, help="Retry only the deliveries of the notification with this id."
)
@in_words
def retry(channel: str | None, notification: int | None) -> None:
    """Retry failed deliveries.

    The command puts the deliveries into the queue again. The running workers send them.

    \b
    Examples:
      flask notifications retry
      flask notifications retry --channel email --notification 42
    """
    subject = None if notification is None else Subject(SUBJECT, notification)
    count = service(Outbox).retry(channel, subject)
    if channel is None:
        service(Expansions).retry(notification)
    click.echo(f"{count} failed deliveries will be tried again.")


@group.command()
@click.option("--channel", help="Send only the deliveries of this channel, such as email.")
@in_words
def send(channel: str | None) -> None:
    """Send due deliveries now, in this process instead of a worker.

    Deliveries that are scheduled for a later retry stay in the queue.

    \b
    Examples:
      flask notifications send
      flask notifications send --channel email
    """
    worker = service(Worker)
    worker.drain([channel] if channel else [CHORE, *worker.channels.names()])
    status.callback(as_json=False)  # type: ignore[misc]


@group.command()
@click.option(
    "--days",
    type=click.IntRange(min=1),
    help="The age in days, instead of NOTIFICATIONS__KEEP_DAYS.",
)
@in_words
def prune(days: int | None) -> None:
    """Delete old notifications with their inbox rows and deliveries.

    Notifications that are still to be sent are kept.

    \b
    Examples:
      flask notifications prune --days 90
    """
    retention = service(Retention)
    if days is None and retention.keep_days is None:
        raise click.ClickException("Give --days, or set NOTIFICATIONS__KEEP_DAYS.")
    click.echo(orjson.dumps({"notifications": retention.prune(days)}).decode())
