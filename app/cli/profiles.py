"""`flask profiles …`"""

from __future__ import annotations

import click
import orjson
from flask.cli import AppGroup

from ..core.context import service
from ..profiles.avatars import Avatars
from .accounts import in_words

group = AppGroup("profiles", help="Look after profiles.")


@group.command()
@in_words
def clean() -> None:
    """Delete pictures that no profile shows; to be run now and then."""
    click.echo(orjson.dumps({"deleted": service(Avatars).clean()}).decode())
