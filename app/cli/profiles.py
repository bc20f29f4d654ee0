"""`flask profiles …`: cleanup of profile pictures."""

from ..core.context import service
from ..profiles.avatars import Avatars
from .groups import HELP, CommandGroup
from .terminal import json_option, print_record

group = CommandGroup("profiles", help=HELP["profiles"])


@group.command(short_help="Delete unused profile pictures.")
@json_option
def clean() -> None:
    """Delete profile pictures that no profile uses.

    `flask frontdesk prune` deletes these pictures too.

    \b
    Examples:
      flask profiles clean
    """
    print_record({"deleted": service(Avatars).clean()})
