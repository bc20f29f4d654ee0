"""How the mails look that are sent, made of sample values."""

from flask import Response
from jinja2 import TemplateNotFound

from ...auth.caller import caller
from ...core.context import current_frontdesk, service
from ...core.errors import NotFound
from ...delivery.mail.one_off import OneOffMail
from ...delivery.mail.previews import Previews
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from ..pages import framed, page
from ..texts import _
from ..ways import go
from .reading import admins_only


@admins_only
def mail_templates_page() -> Response:
    brand = service(Templates).brand
    made, to = previews(), caller().account.email
    names = [(name, made.subject(name, to)) for name in made.names()]
    return page("admin/mails/list.html", names=names, contrast=brand.contrast)


@admins_only
def mail_template_page(name: str) -> Response:
    return page("admin/mails/one.html", at="mail_templates_page", name=name, mail=_sample(name))


@admins_only
def mail_template_html(name: str) -> Response:
    return framed(_sample(name).html or "")


@admins_only
def send_sample(name: str) -> Response:
    """To who looks at it alone."""
    mail = _sample(name)
    service(OneOffMail).send_soon(mail)  # type: ignore[type-abstract]
    said = _("Sample email sent to {email}.", email=mail.to)
    return go(".mail_template_page", said, name=name)


def previews() -> Previews:
    return Previews(service(Templates), current_frontdesk.settings.core)


def _sample(name: str) -> Email:
    made = previews()
    if name not in made.names():
        raise NotFound
    try:
        return made.email(name, caller().account.email)
    except TemplateNotFound:
        raise NotFound from None
