"""`flask mail …`: how mails look, in a file or in somebody's own inbox."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

import click
import orjson
from flask.cli import AppGroup
from jinja2 import TemplateError, TemplateNotFound

from ..core.context import current_frontdesk, service
from ..core.types import AnyFunction, JsonObject
from ..delivery.errors import DeliveryError
from ..delivery.mail.base import Mailer
from ..delivery.mail.previews import Previews
from ..delivery.mail.templates import Templates
from ..delivery.message import Email

group = AppGroup("mail", help="Look at the mails that are sent.")


def _previews() -> Previews:
    return Previews(service(Templates), current_frontdesk.settings.core)


def _values(_context: click.Context, _option: click.Parameter, text: str | None) -> JsonObject:
    try:
        given = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        given = None
    if not isinstance(given, dict):
        raise click.BadParameter('must be a JSON object such as {"number": 4711}.')
    return given


_given = click.option("--values", "given", callback=_values, help="What it is given, as JSON.")


def _made(command: AnyFunction) -> AnyFunction:
    """A template that is not there, or that fails, is one sentence."""

    @wraps(command)
    def run(*args: object, **kwargs: object) -> Any:
        try:
            return command(*args, **kwargs)
        except TemplateNotFound as error:
            ours = ", ".join(_previews().names())
            raise click.ClickException(
                f"There is no mail template {error.name}. Ours: {ours}."
            ) from None
        except (TemplateError, TypeError, ValueError) as error:
            raise click.ClickException(
                f"It cannot be made: {error}. Give what it needs as --values."
            ) from None

    return run


@group.command()
@click.argument("name", required=False)
@click.option("--as", "to", default="ada@example.com", show_default=True, help="Who receives it.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Instead of NAME.html")
@_given
@_made
def preview(name: str | None, to: str, out: Path | None, given: JsonObject) -> None:
    """Write a mail's HTML, and its text beside it, from sample values; without NAME list them."""
    if name is None:
        click.echo("\n".join(_previews().names()))
        return
    name = name.removesuffix(".html")
    mail = _previews().email(name, to, given)
    page = out or Path(f"{Path(name).name}.html")
    for path, text in ((page, mail.html), (page.with_suffix(".txt"), mail.text)):
        try:
            path.write_text(text)
        except OSError as error:
            raise click.ClickException(f"{path} cannot be written: {error.strerror}") from None
        click.echo(path)


@group.command("send-test")
@click.argument("name")
@click.argument("to")
@_given
@_made
def send_test(name: str, to: str, given: JsonObject) -> None:
    """Send a mail of sample values to TO, here and now, and say what became of it."""
    _send(_previews().email(name.removesuffix(".html"), to, given))
    click.echo(f"Sent to {to}.")


def _send(mail: Email) -> None:
    mailer = service(Mailer)  # type: ignore[type-abstract]
    try:
        letter = mailer.writer.write(mail, current_frontdesk.clock.now())
        with mailer.open() as connection:
            connection.send(letter)
    except DeliveryError as error:
        raise click.ClickException(f"It did not leave: {error}") from None
