"""The console's pages as they are looked at: one line for each, and for each further state of one.

A page that stands in the routes needs no line here: it is found, opened as whoever may enter, with
the values of tests/rigs/console/world.py for its path, and must answer with 200. A line is for what
that does not tell: another state, other eyes, a query, what must have happened before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..rigs.console.site import Visitor
from ..rigs.console.world import World


def nothing(_world: World, _visitor: Visitor) -> None:
    return None


def suspended(world: World) -> Mapping[str, Any]:
    return {"account_id": world.suspended.id}


def root(world: World) -> Mapping[str, Any]:
    return {"account_id": world.people["root"].id}


def invited(world: World) -> Mapping[str, Any]:
    """By the mail to somebody who has no account."""
    mail = world.site.mails.assert_sent("charles@example.com", text="?token=")
    found = re.search(r"\?token=([\w.-]+)", mail.text)
    assert found is not None
    return {"token": found[1]}


@dataclass(frozen=True)
class Page:
    # Of its picture.
    name: str
    # The view's name.
    view: str
    # `visitor`, `owner`, `new_user` (whose account is empty), `admin` or `root`; by the guard if
    # it is not said.
    who: str = ""
    values: Callable[[World], Mapping[str, Any]] = lambda _: {}
    query: Callable[[World], Mapping[str, Any]] = lambda _: {}
    # Before the page is opened; what the visitor does then is done in a browser of their own.
    needs: Callable[[World, Visitor], None] = nothing
    status: int = 200


# In place of what is found by itself, where the view stands here.
PAGES: tuple[Page, ...] = (
    Page("inbox", "dashboard"),
    Page("inbox-empty", "dashboard", who="new_user"),
    Page("inbox-unread", "dashboard", query=lambda _: {"show": "unread"}),
    Page("inbox-all-read", "dashboard", who="new_user", query=lambda _: {"show": "unread"}),
    Page("message", "item_page"),
    Page("profile", "profile_page"),
    Page("profile-none", "profile_page", who="new_user"),
    Page("overview", "admin_home_page", who="admin"),
    Page("accounts", "managed_accounts_page", who="admin"),
    Page("accounts-none", "managed_accounts_page", who="admin", query=lambda _: {"search": "zz"}),
    Page("managed-account", "managed_account_page", who="admin"),
    Page("account-suspended", "managed_account_page", who="admin", values=suspended),
    Page("account-of-root", "managed_account_page", who="admin", values=root),
    Page("account-new", "new_managed_account_page", who="admin"),
    Page("account-suspend", "suspend_managed_account_page", who="admin"),
    Page("account-delete", "delete_managed_account_page", who="admin"),
    Page("events", "admin_events_page", who="admin"),
    Page("settings", "settings_page", who="root"),
    Page("mail-look", "mail_template_page", values=lambda _: {"name": "notification"}),
    Page("authenticator-gone", "authenticator_page", status=404),
    Page("workspaces", "workspaces_page"),
    Page("workspaces-of-a-new-user", "workspaces_page", who="new_user"),
    Page("invitations-received", "received_invitations_page", who="new_user"),
    Page("invitations-received-none", "received_invitations_page"),
    Page("invitation", "invitation_page", query=invited),
    Page("invitation-of-somebody-else", "invitation_page", who="owner", query=invited),
    Page("invitation-over", "invitation_page", status=422),
)
# What answers to GET and is no page to look at, and why.
NO_PAGES: dict[str, str] = {
    "static_asset": "a file",
    "mail_template_html": "a part of the mail's page",
    "brand_css": "a file",
    "home": "leads on",
    "second_step_page": "leads on, for whoever has shown nothing yet",
    "enrolment_page": "leads on, for whoever has shown nothing yet",
    "provider_sign_in": "leads to the provider",
    "provider_callback": "there is none without a provider",
    "broadcast_progress": "a part of a broadcast",
    "older_items": "a part of the inbox",
    "new_items": "a part of the inbox",
    "export_state": "a part of the account",
    "fetch_export": "a file",
    "admin_events_file": "a file",
    "own_app_page": "leads to the page that begins",
    "first_root_page": "there until there is a root; test_first_run.py",
    "mails_page": "there while one develops; test_first_run.py",
    "mail_page": "there while one develops; test_first_run.py",
    "mail_html": "there while one develops; test_first_run.py",
}
