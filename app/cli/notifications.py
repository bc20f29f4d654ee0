"""`flask notifications …`: the state of deliveries, retries and retention."""

from collections.abc import Iterator, Mapping

import click

from ..broadcasts.counts import expansions_by_state, oldest_expansion
from ..broadcasts.expansions import Expansions
from ..core.context import current_frontdesk, service
from ..delivery.message import Subject
from ..delivery.outbox.enqueue import Outbox, counts_by_channel, oldest_pending
from ..delivery.worker.worker import Worker
from ..notifications.models import EXPAND_BROADCASTS, SUBJECT
from ..notifications.retention import NotificationRetention
from .groups import HELP, CommandGroup
from .terminal import (
    Record,
    confirm,
    json_option,
    print_record,
    print_records,
    print_text,
    prints_json,
    yes_option,
)

COLUMNS = ("channel", "state", "count")
NO_DELIVERIES = "There are no deliveries."

group = CommandGroup("notifications", help=HELP["notifications"])


@group.command(short_help="Print the state of the deliveries.")
@json_option
def status() -> None:
    """Print the number of deliveries in each state and the age of the oldest pending delivery.

    \b
    Examples:
      flask notifications status
      flask notifications status --json
    """
    _print_status()


@group.command(short_help="Retry failed deliveries.")
@click.option("--channel", help="Retry only the deliveries of this channel, such as email.")
@click.option(
    "--notification", type=int, help="Retry only the deliveries of the notification with this id."
)
@json_option
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
    print_text(f"{count} failed deliveries will be retried.", {"deliveries": count})


@group.command(short_help="Send due deliveries now.")
@click.option("--channel", help="Send only the deliveries of this channel, such as email.")
@json_option
def send(channel: str | None) -> None:
    """Send due deliveries now, in this process instead of a worker.

    Deliveries that are scheduled for a later retry stay in the queue.

    \b
    Examples:
      flask notifications send
      flask notifications send --channel email
    """
    worker = service(Worker)
    worker.drain([channel] if channel else [EXPAND_BROADCASTS, *worker.channels.names()])
    _print_status()


@group.command(short_help="Delete old notifications.")
@click.option(
    "--days",
    type=click.IntRange(min=1),
    help="The age in days, instead of NOTIFICATIONS__KEEP_DAYS.",
)
@yes_option
@json_option
def prune(days: int | None) -> None:
    """Delete old notifications with their inbox rows and deliveries.

    Notifications that are still to be sent are kept.

    \b
    Examples:
      flask notifications prune --days 90
    """
    retention = service(NotificationRetention)
    if days is None and retention.keep_days is None:
        raise click.ClickException("Give --days, or set NOTIFICATIONS__KEEP_DAYS.")
    confirm(f"Delete all notifications older than {days or retention.keep_days} days?")
    print_record({"notifications": retention.prune(days)})


def _print_status() -> None:
    session, now = current_frontdesk.session, current_frontdesk.clock.now()
    counts, expansions = counts_by_channel(session), expansions_by_state(session)
    oldest = (oldest_pending(session), oldest_expansion(session))
    waits = [(now - since).total_seconds() for since in oldest if since]
    # An email that waits until its notification is read is due later than now.
    waited = max([0.0, *waits])
    age = "No delivery is pending."
    if waits:
        age = f"The oldest pending delivery has waited for {waited:.0f} seconds."
    if not prints_json():
        print_records(_rows({**counts, "large broadcasts": expansions}), COLUMNS, NO_DELIVERIES)
        click.echo(age)
        return
    lines = [
        f"{channel}: {', '.join(f'{count} {state}' for state, count in states.items())}"
        for channel, states in counts.items()
    ]
    lines += [f"Large broadcasts: {count} {state}" for state, count in expansions.items()]
    report = {
        "deliveries": counts,
        "expansions": expansions,
        "oldest_waits_seconds": round(waited, 1),
    }
    print_text("\n".join([*lines, age]), report)


def _rows(counts: Mapping[str, Mapping[str, int]]) -> Iterator[Record]:
    for channel, states in counts.items():
        for state, count in states.items():
            yield {"channel": channel, "state": state, "count": count}
