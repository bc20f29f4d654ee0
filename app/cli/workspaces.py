"""`flask workspaces …`: an operator's word about workspaces, each answer JSON on one line."""

from __future__ import annotations

from collections.abc import Callable

import click
import orjson
from flask.cli import AppGroup
from marshmallow import Schema

from ..core.context import service
from ..core.web.fields import is_not_blank
from ..core.web.reading import instance
from ..workspaces.members import Members
from ..workspaces.models import ACTIVE, NAME_LENGTH, STATUS_LENGTH
from ..workspaces.rules import TYPES
from ..workspaces.schemas import CommonWorkspaceRead, MemberRead
from ..workspaces.service import Workspaces
from ..workspaces.slugs import unfit
from .accounts import in_words

group = AppGroup("workspaces", help="Make workspaces and say who is in them.")


def show(schema: type[Schema], thing: object) -> None:
    click.echo(orjson.dumps(instance(schema).dump(thing)).decode())


def new_slug(_context: click.Context, _option: click.Parameter, slug: str) -> str:
    if reason := unfit(slug):
        raise click.BadParameter(reason)
    return slug


def up_to(most: int) -> Callable[[click.Context, click.Parameter, str], str]:
    def check(_context: click.Context, _option: click.Parameter, text: str) -> str:
        if len(text) > most or not is_not_blank(text):
            raise click.BadParameter(f"Use 1 to {most} characters, and not blanks alone.")
        return text

    return check


@group.command()
@click.argument("slug", callback=new_slug)
@click.option("--name", required=True, callback=up_to(NAME_LENGTH))
@click.option("--default", "is_default", is_flag=True, help="What `default` means to all others.")
@in_words
def create(slug: str, name: str, is_default: bool) -> None:
    """Create a workspace without members."""
    workspace = service(Workspaces).create_common(name, slug, is_default=is_default)
    show(CommonWorkspaceRead, workspace)


@group.command("list")
@in_words
def list_workspaces() -> None:
    """Print every workspace, one on a line."""
    for workspace in service(Workspaces).all():
        show(CommonWorkspaceRead, workspace)


@group.command()
@click.argument("slug")
@click.argument("email")
@click.option("--type", "kind", type=click.Choice(TYPES), default="member", show_default=True)
@click.option("--status", default=ACTIVE, show_default=True, callback=up_to(STATUS_LENGTH))
@in_words
def add(slug: str, email: str, kind: str, status: str) -> None:
    """Make an account a member, or a member what is said here."""
    workspace = service(Workspaces).get(slug)
    show(MemberRead, service(Members).put(workspace, email, kind, status))


@group.command()
@click.argument("slug")
@click.argument("email")
@in_words
def remove(slug: str, email: str) -> None:
    """Take an account out of a workspace, be it the last owner."""
    workspace = service(Workspaces).get(slug)
    show(MemberRead, service(Members).take_out(workspace, email))
