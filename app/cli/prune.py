"""`flask frontdesk prune`: delete all expired data, in batches that hold no lock for long."""

from __future__ import annotations

import click
import orjson

from ..core.context import current_frontdesk
from ..core.keystore import DatabaseKeystore
from .accounts import in_words
from .doctor import group as group

KEYSTORE_BATCH = 1_000


@group.command()
@in_words
def prune() -> None:
    """Delete what has had its time: expired keystore rows, pictures that no profile shows, old
    notifications, invitations, changes of address, exports, records and sessions, authenticators
    that were not confirmed and devices that are not trusted any more, accounts that have waited too
    long for their address to be proven, and those whose owners want them to go."""
    report = {"keystore_entries": _keystore()}
    for name, delete_expired in current_frontdesk.pruners.items():
        report[name] = delete_expired()
    click.echo(orjson.dumps(report).decode())


def _keystore() -> int:
    keystore = current_frontdesk.keystore
    gone = 0
    if isinstance(keystore, DatabaseKeystore):
        while batch := keystore.prune(KEYSTORE_BATCH):
            gone += batch
    return gone
