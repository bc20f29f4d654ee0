"""New recovery codes: a page that shows them once, to print, copy or download."""

import re
from collections.abc import Sequence
from typing import Any

from flask import Response, request
from werkzeug.utils import secure_filename

from ..auth.caller import caller
from ..auth.decorators import active_account_required
from ..auth.mfa.recovery_codes import ALPHABET, CODES, HALF
from ..core.context import find_context, service
from ..core.errors import Invalid
from .api_calls import console_form
from .pages import render_page
from .resources import ConsoleResources
from .texts import _

_CODE = re.compile(f"[{ALPHABET}]{{{HALF}}}-[{ALPHABET}]{{{HALF}}}")


def show_recovery_codes(
    template: str, codes: Sequence[str], email: str, **context: Any
) -> Response:
    """Show codes without a redirect, because the API returns them only once."""
    now = find_context().clock.now()
    return render_page(template, codes=codes, codes_of=email, codes_from=now, **context)


@console_form()
@active_account_required
def recovery_codes_file() -> Response:
    """Return the codes of the page that shows them as a text file; they are not stored readable."""
    codes = request.form.getlist("codes")
    if len(codes) != CODES or not all(_CODE.fullmatch(code) for code in codes):
        raise Invalid.about("codes", _("This page is incomplete or has expired. Start again."))
    brand, day = service(ConsoleResources).brand.NAME, f"{find_context().clock.now():%Y-%m-%d}"
    about = (
        _("{brand}: recovery codes", brand=brand),
        _("Account: {email}", email=caller().account.email),
        _("Created: {day}", day=day),
    )
    usage = [_("Each code replaces your authenticator once.")]
    if "replaces_codes" in request.form:
        usage.append(_("Older codes no longer work."))
    # The texts are escaped for pages; a file has plain text.
    last_line = " ".join(sentence.unescape() for sentence in usage)
    lines = [*(line.unescape() for line in about), "", *codes, "", last_line, ""]
    text = "\r\n".join(lines)
    response = Response(text, mimetype="text/plain")
    name = secure_filename(f"{brand} recovery codes {day}.txt")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    return response
