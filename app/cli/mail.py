"""`flask mail …`: previews of emails in a file, and test emails."""

from functools import wraps
from pathlib import Path

import click
import orjson
from jinja2 import TemplateError, TemplateNotFound

from ..core.context import current_frontdesk, service
from ..core.types import AnyFunction, JsonObject
from ..delivery.errors import DeliveryError
from ..delivery.mail.base import Mailer
from ..delivery.mail.previews import Previews
from ..delivery.mail.templates import Templates
from ..delivery.message import Email
from .groups import HELP, CommandGroup
from .terminal import confirm, json_option, print_text, yes_option

group = CommandGroup("mail", help=HELP["mail"])


def _previews() -> Previews:
    templates = service(Templates)
    return Previews(templates, current_frontdesk.settings.core, templates.language_for(None))


def _json_object(_context: click.Context, _option: click.Parameter, text: str | None) -> JsonObject:
    try:
        values = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        values = None
    if not isinstance(values, dict):
        raise click.BadParameter('must be a JSON object such as {"number": 4711}.')
    return values


_values_option = click.option(
    "--values", "values", callback=_json_object, help="Values for the template, as a JSON object."
)


def _template_errors(command: AnyFunction) -> AnyFunction:
    """Report a template that does not exist, or cannot be rendered, in one sentence."""

    @wraps(command)
    def run(*args: object, **kwargs: object) -> object:
        try:
            return command(*args, **kwargs)
        except TemplateNotFound as error:
            names = ", ".join(_previews().names())
            raise click.ClickException(
                f"There is no email template {error.name}. Frontdesk's templates: {names}."
            ) from None
        except (TemplateError, TypeError, ValueError) as error:
            raise click.ClickException(
                f"The template cannot be rendered: {error}. Pass missing values with --values."
            ) from None

    return run


@group.command(short_help="Write an email template to a file.")
@click.argument("name", required=False)
@click.option(
    "--as",
    "to",
    default="ada@example.com",
    show_default=True,
    help="The email address of the recipient in the preview.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The HTML file to write, instead of NAME.html.",
)
@_values_option
@yes_option
@json_option
@_template_errors
def preview(name: str | None, to: str, out: Path | None, values: JsonObject) -> None:
    """Write the HTML and the text of the email template NAME, with sample values.

    Without NAME, the command lists the names of all templates. Before the command overwrites a
    file, it asks for confirmation.

    \b
    Examples:
      flask mail preview
      flask mail preview reset_password
      flask mail preview note --values '{"number": 17}' --out /tmp/note.html
    """
    if name is None:
        names = _previews().names()
        print_text("\n".join(names), {"templates": names})
        return
    name = name.removesuffix(".html")
    email = _previews().email(name, to, values)
    page = out or Path(f"{Path(name).name}.html")
    plain = page.with_suffix(".txt")
    if existing := [str(path) for path in (page, plain) if path.exists()]:
        confirm(f"Overwrite {' and '.join(existing)}?")
    for path, text in ((page, email.html), (plain, email.text)):
        try:
            path.write_text(text)
        except OSError as error:
            raise click.ClickException(f"{path} cannot be written: {error.strerror}") from None
    print_text(f"{page}\n{plain}", {"html": str(page), "text": str(plain)})


@group.command("send-test", short_help="Send an email template to an address.")
@click.argument("name")
@click.argument("to")
@_values_option
@json_option
@_template_errors
def send_test(name: str, to: str, values: JsonObject) -> None:
    """Send the email template NAME, with sample values, to the email address TO.

    The command sends the email immediately, without a queue, and prints the result.

    \b
    Examples:
      flask mail send-test reset_password ada@example.com
    """
    _send(_previews().email(name.removesuffix(".html"), to, values))
    print_text(f"Sent to {to}.", {"template": name, "to": to})


def _send(email: Email) -> None:
    mailer = service(Mailer)  # type: ignore[type-abstract]
    try:
        message = mailer.writer.write(email, current_frontdesk.clock.now())
        with mailer.open() as connection:
            connection.send(message)
    except DeliveryError as error:
        raise click.ClickException(f"The email was not sent: {error}") from None
