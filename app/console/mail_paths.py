"""Addresses of pages that are told elsewhere: in our mails by the settings' paths, and to an
identity provider."""

from __future__ import annotations

from typing import Any

from flask.sansio.app import App

from ..auth.settings import AuthSettings
from ..core.context import Context
from .lazy import LazyView

# By the setting that has the path which the mail's link leads to.
_PAGES = {
    "PASSWORD_RESET_PATH": ("/reset", "visitor.recovery.reset_page"),
    "VERIFICATION_PATH": ("/verify", "visitor.register.verify_page"),
    "EMAIL_CHANGE_PATH": ("/confirm-email", "visitor.mailed_links.confirm_email_page"),
    "EMAIL_UNDO_PATH": ("/undo-email", "visitor.mailed_links.undo_email_page"),
    "ACCOUNT_RESTORE_PATH": ("/keep-account", "visitor.mailed_links.keep_account_page"),
}
_CALLBACK = "/sign-in/provider/callback"


def add_mail_paths(app: App, context: Context, name: str, options: dict[str, Any]) -> None:
    """Where the settings have another path than the page: the same page there too. In a host's
    application only under the console's own address, for all others are the host's."""
    auth, prefix = context.settings.of(AuthSettings), _prefix(options)
    for setting, (own, reference) in _PAGES.items():
        path, view = getattr(auth, setting), LazyView(reference)
        endpoint = f"{options.get('name', name)}.{view.__name__}_elsewhere"
        # As a mail links to it with a client named, and without.
        for address in dict.fromkeys((path, f"{prefix}{path}")):
            is_free = context.owns_application or address.startswith(f"{prefix}/")
            if is_free and address != f"{prefix}{own}":
                app.add_url_rule(address, endpoint, view, methods=["GET"])


def add_callback(context: Context, options: dict[str, Any]) -> None:
    """An identity provider may lead back to our own page."""
    from ..auth.idp.redirects import RedirectUris

    url = context.settings.core.PUBLIC_URL
    if url is not None and context.has(RedirectUris):
        context.get(RedirectUris).allow(f"{url}{_prefix(options)}{_CALLBACK}")


def _prefix(options: dict[str, Any]) -> str:
    return (options.get("url_prefix") or "").rstrip("/")
