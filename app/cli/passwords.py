"""Options of commands for a password: typed twice, read from a file, or an argument."""

import warnings
from collections.abc import Callable
from functools import partial, wraps
from getpass import GetPassWarning
from typing import Any

import click
from click.core import ParameterSource

from ..accounts.service import Accounts
from ..core.context import service
from ..core.types import AnyFunction

PROMPT = "Password"
ReadPassword = Callable[[], str | None]
_NO_TERMINAL = "There is no terminal to ask for the password. Use --password-file."
_VISIBLE = (
    "Warning: a password on the command line can be read by every user of this machine and stays"
    " in the shell history. Leave out the value of --password, or use --password-file."
)


class _LatePrompt(click.Option):
    """Leaves the question to the command, which first checks its other input."""

    def prompt_for_value(self, ctx: click.Context) -> str:
        return ""


def password_options(*, required: bool) -> Callable[[AnyFunction], AnyFunction]:
    """Pass `read_password` to the command, which calls it once its other input is checked.

    The function asks for a required password if no option has it.
    """

    def decorate(command: AnyFunction) -> AnyFunction:
        @click.option(
            "--password",
            cls=_LatePrompt,
            prompt=PROMPT,
            prompt_required=False,
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
        ) -> object:
            if password_file is not None or password is not None:
                if not service(Accounts).passwords.enabled:
                    raise click.UsageError("AUTH__PASSWORDS is off: accounts have no passwords.")
                if password_file is not None and password is not None:
                    raise click.UsageError("Give --password or --password-file, not both.")
            read = partial(_read_password, password, password_file, required)
            return command(*args, read_password=read, **kwargs)

        return run

    return decorate


def _read_password(password: str | None, file: object, required: bool) -> str | None:
    if not service(Accounts).passwords.enabled:
        return None
    if file is not None:
        return _read(file)
    source = click.get_current_context().get_parameter_source("password")
    if source is ParameterSource.COMMANDLINE:
        click.echo(_VISIBLE, err=True)
        return password
    return _ask() if required or password is not None else None


def _ask() -> str:
    with warnings.catch_warnings():
        # Without a terminal, Python would show the password that is typed.
        warnings.simplefilter("error", GetPassWarning)
        try:
            typed: str = click.prompt(PROMPT, hide_input=True, confirmation_prompt=True)
        except GetPassWarning:
            raise click.UsageError(_NO_TERMINAL) from None
    return typed


def _read(file: Any) -> str:
    """Return the only line of a file, without the line break that editors add."""
    try:
        password: str = file.read().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise click.BadParameter("is not UTF-8 text.", param_hint="--password-file") from None
    if not password or "\n" in password:
        raise click.BadParameter("must have exactly one line.", param_hint="--password-file")
    return password
