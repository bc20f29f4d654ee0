"""`flask frontdesk first-root`: the link that a server prints when it starts without one."""

from __future__ import annotations

import click

from ..console.first_run.first_root import FirstRoot, RootExists
from ..core.context import find_context
from .accounts import in_words
from .encryption import group as group


@group.command("first-root")
@in_words
def first_root() -> None:
    """Print a link to the page that makes the first root account."""
    context = find_context()
    if "console" not in context.mounted:
        raise click.ClickException("There is no console here, whose page it would be.")
    first = FirstRoot(context)
    if not first.is_missing():
        raise RootExists
    click.echo(first.link())
