"""`flask workspaces …`: create workspaces, and add and remove members."""

from collections.abc import Callable

import click
from marshmallow import Schema

from ..core.context import service
from ..core.web.fields import is_not_blank
from ..core.web.request_data import schema_instance
from ..workspaces.members import INVALID_STATUS, Members
from ..workspaces.models import ACTIVE, MEMBER_TYPES, NAME_LENGTH, STATUS, STATUS_LENGTH
from ..workspaces.schemas import CommonWorkspaceRead, MemberRead
from ..workspaces.service import Workspaces
from ..workspaces.slugs import slug_error
from .groups import HELP, CommandGroup
from .terminal import Record, json_option, print_record, print_records

COLUMNS = ("id", "slug", "name", "is_default", "created_at")

group = CommandGroup("workspaces", help=HELP["workspaces"])


def _record(schema: type[Schema], row: object) -> Record:
    record: Record = schema_instance(schema).dump(row)
    return record


def check_slug(_context: click.Context, _option: click.Parameter, slug: str) -> str:
    if reason := slug_error(slug):
        raise click.BadParameter(reason)
    return slug


def check_length(maximum: int) -> Callable[[click.Context, click.Parameter, str], str]:
    def check(_context: click.Context, _option: click.Parameter, text: str) -> str:
        if len(text) > maximum or not is_not_blank(text):
            raise click.BadParameter(f"Use 1 to {maximum} characters, including a visible one.")
        return text

    return check


def _check_status(_context: click.Context, _option: click.Parameter, text: str) -> str:
    if len(text) > STATUS_LENGTH or not STATUS.fullmatch(text):
        raise click.BadParameter(INVALID_STATUS)
    return text


@group.command(short_help="Create a workspace.")
@click.argument("slug", callback=check_slug)
@click.option(
    "--name", required=True, callback=check_length(NAME_LENGTH), help="The name that members see."
)
@click.option(
    "--default",
    "is_default",
    is_flag=True,
    help="Make the workspace the default workspace, instead of the current one.",
)
@json_option
def create(slug: str, name: str, is_default: bool) -> None:
    """Create a workspace with the slug SLUG and without members.

    \b
    Examples:
      flask workspaces create team --name "The Team"
    """
    workspace = service(Workspaces).create_common(name, slug, is_default=is_default)
    print_record(_record(CommonWorkspaceRead, workspace))


@group.command("list", short_help="List all workspaces.")
@json_option
def list_workspaces() -> None:
    """List all workspaces.

    \b
    Examples:
      flask workspaces list
    """
    records = (_record(CommonWorkspaceRead, row) for row in service(Workspaces).all())
    print_records(records, COLUMNS, "There are no workspaces.")


@group.command(short_help="Add an account to a workspace.")
@click.argument("slug")
@click.argument("email")
@click.option(
    "--type",
    "kind",
    type=click.Choice(MEMBER_TYPES),
    default="member",
    show_default=True,
    help="The member's role in the workspace.",
)
@click.option(
    "--status",
    default=ACTIVE,
    show_default=True,
    callback=_check_status,
    help="The member's status in the workspace.",
)
@json_option
def add(slug: str, email: str, kind: str, status: str) -> None:
    """Add the account with the email address EMAIL to the workspace SLUG.

    If the account is already a member, the command changes its type and status.

    \b
    Examples:
      flask workspaces add team ada@example.com
      flask workspaces add team ada@example.com --type owner
    """
    workspace = service(Workspaces).get(slug)
    print_record(_record(MemberRead, service(Members).put(workspace, email, kind, status)))


@group.command(short_help="Remove an account from a workspace.")
@click.argument("slug")
@click.argument("email")
@json_option
def remove(slug: str, email: str) -> None:
    """Remove the account with the email address EMAIL from the workspace SLUG.

    The command also removes the last owner.

    \b
    Examples:
      flask workspaces remove team ada@example.com
    """
    workspace = service(Workspaces).get(slug)
    print_record(_record(MemberRead, service(Members).remove_by_email(workspace, email)))
