"""The command group that all of Frontdesk's commands belong to, and how it reports errors."""

from typing import Any

import click
from flask.cli import AppGroup
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError

from ..core.errors import Problem, SetupError
from ..core.web.problems import translate


class ReportingCommand(click.Command):
    """Report an expected error, or a database that cannot be used, in one sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Problem as problem:
            raise click.ClickException(problem.detail) from None
        except SetupError as error:
            raise click.ClickException(str(error)) from None
        except (OperationalError, ProgrammingError, InterfaceError) as error:
            raise click.ClickException(_database_error(error)) from None


class CommandGroup(AppGroup):
    command_class = ReportingCommand


def _database_error(error: DBAPIError) -> str:
    reason = str(error.orig).splitlines()[0]
    if (problem := translate(error)) is not None:
        return f"{problem.detail}: {reason}"
    return f"{reason}. If the database is not migrated yet, run `flask db upgrade`."
