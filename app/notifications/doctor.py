"""Check of the unsubscribe headers in emails."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from flask import current_app

from ..core.context import current_frontdesk
from ..core.doctor import LOOPBACK, Check, Finding
from ..delivery.mail.settings import MailSettings
from .unsubscribe import BLUEPRINT

# The blueprints that send, or let accounts choose, kinds of notifications.
_SENDING = {"notifications", "admin_notifications"}


def check_unsubscribe() -> Iterator[Finding]:
    settings, mounted = current_frontdesk.settings, current_frontdesk.mounted.names
    mail, core = MailSettings.read(current_app.config, settings), settings.core
    is_sent = core.EMAILS_ENABLED and mail.server and not mail.suppress_send
    is_in_development = urlsplit(core.page_host).hostname in (None, *LOOPBACK)
    if not is_sent or is_in_development or _SENDING.isdisjoint(mounted):
        return
    fixes = []
    if not (core.PUBLIC_URL or "").startswith("https://"):
        fixes.append("set CORE__PUBLIC_URL to the https URL of the API")
    if BLUEPRINT not in mounted:
        fixes.append(f"mount blueprints.{BLUEPRINT}")
    if fixes:
        text = (
            "Emails of notifications have no List-Unsubscribe header, which Gmail and Yahoo require"
            f" of bulk senders. To add the header, {' and '.join(fixes)}. The DKIM signature of"
            " your mail server must cover List-Unsubscribe and List-Unsubscribe-Post."
        )
        yield Finding("unsubscribe", "warning", text)


CHECKS = (Check(check_unsubscribe),)
