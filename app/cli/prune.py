"""`flask frontdesk prune`: everything that has had its time, in batches that lock nothing long."""

from __future__ import annotations

import click
import orjson

from ..core.desk import current_desk, service
from ..core.keystore import DatabaseKeystore
from ..profiles.avatars import Avatars
from .accounts import in_words
from .doctor import group as group
from .notifications import prune_old

KEYSTORE_BATCH = 1_000


@group.command()
@in_words
def prune() -> None:
    """Delete expired keystore rows, pictures that no profile shows and old notifications."""
    report = {
        "keystore_entries": _keystore(),
        "avatars": service(Avatars).clean() if Avatars in current_desk.services else 0,
        "notifications": prune_old(None),
    }
    click.echo(orjson.dumps(report).decode())


def _keystore() -> int:
    keystore = current_desk.keystore
    gone = 0
    if isinstance(keystore, DatabaseKeystore):
        while batch := keystore.prune(KEYSTORE_BATCH):
            gone += batch
    return gone
