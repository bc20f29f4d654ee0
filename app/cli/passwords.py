"""Options of commands for a password: typed twice, read from a file, or an argument."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from ..accounts.service import Accounts
from ..core.context import service
from ..core.types import AnyFunction

PROMPT = "Password"
_VISIBLE = (
    "Warning: a password on the command line can be read by every user of this machine and stays"
    " in the shell history. Leave out the value of --password, or use --password-file."
)


def password_options(*, required: bool) -> Callable[[AnyFunction], AnyFunction]:
    """Pass `password` to the command. Ask for a required password if no option has it."""

    def decorate(command: AnyFunction) -> AnyFunction:
        @click.option(
            "--password",
            prompt=PROMPT,
            prompt_required=False,
            hide_input=True,
            confirmation_prompt=True,
            help="The password. Without a value, the command asks for it. A value on the command"
            " line can be read by other users of this machine.",
        )
        @click.option(
            "--password-file",
            type=click.File(),
            help="The file to read the password from; - is standard input.",
        )
        @wraps(command)
        def run(
            *args: object, password: str | None, password_file: object, **kwargs: object
        ) -> Any:
            if not service(Accounts).passwords.enabled:
                if password_file is not None or password is not None:
                    raise click.UsageError("AUTH__PASSWORDS is off: accounts have no passwords.")
            elif password_file is not None:
                if password is not None:
                    raise click.UsageError("Give --password or --password-file, not both.")
                password = _read(password_file)
            elif password is None and required:
                password = click.prompt(PROMPT, hide_input=True, confirmation_prompt=True)
            elif _is_on_command_line():
                click.echo(_VISIBLE, err=True)
            return command(*args, password=password, **kwargs)

        return run

    return decorate


def _is_on_command_line() -> bool:
    source = click.get_current_context().get_parameter_source("password")
    return source is ParameterSource.COMMANDLINE


def _read(file: Any) -> str:
    """Return the only line of a file, without the line break that editors add."""
    try:
        password: str = file.read().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise click.BadParameter("is not UTF-8 text.", param_hint="--password-file") from None
    if not password or "\n" in password:
        raise click.BadParameter("must have exactly one line.", param_hint="--password-file")
    return password
