"""Previews of the emails that the service sends, with sample values."""

from flask import Response
from jinja2 import TemplateNotFound

from ...auth.caller import caller
from ...core.context import current_frontdesk, service
from ...core.errors import NotFound
from ...delivery.mail.one_off import OneOffMail
from ...delivery.mail.previews import Previews
from ...delivery.mail.templates import Templates
from ...delivery.message import Email
from ..api_calls import console_form
from ..links import redirect_to
from ..pages import render_framed, render_page
from ..texts import _
from .filters import admins_only


@admins_only
def mail_templates_page() -> Response:
    brand = service(Templates).brand
    samples, to = previews(), caller().account.email
    names = [(name, samples.subject(name, to)) for name in samples.names()]
    return render_page("admin/mails/list.html", names=names, contrast=brand.contrast)


@admins_only
def mail_template_page(name: str) -> Response:
    return render_page(
        "admin/mails/one.html", at="mail_templates_page", name=name, mail=_sample(name)
    )


@admins_only
def mail_template_html(name: str) -> Response:
    return render_framed(_sample(name).html or "")


@console_form()
@admins_only
def send_sample(name: str) -> Response:
    """Send the sample email to the caller."""
    mail = _sample(name)
    service(OneOffMail).send_soon(mail)  # type: ignore[type-abstract]
    text = _("Sample email sent to {email}.", email=mail.to)
    return redirect_to(".mail_template_page", text, name=name)


def previews() -> Previews:
    templates = service(Templates)
    language = templates.language_of(caller().account.email)
    return Previews(templates, current_frontdesk.settings.core, language)


def _sample(name: str) -> Email:
    samples = previews()
    if name not in samples.names():
        raise NotFound
    try:
        return samples.email(name, caller().account.email)
    except TemplateNotFound:
        raise NotFound from None
