"""`flask profiles …`: cleanup of profile pictures."""

from __future__ import annotations

import click
import orjson
from flask.cli import AppGroup

from ..core.context import service
from ..profiles.avatars import Avatars
from .accounts import in_words
from .groups import HELP

group = AppGroup("profiles", help=HELP["profiles"])


@group.command()
@in_words
def clean() -> None:
    """Delete profile pictures that no profile uses.

    `flask frontdesk prune` deletes these pictures too.

    \b
    Examples:
      flask profiles clean
    """
    click.echo(orjson.dumps({"deleted": service(Avatars).clean()}).decode())
