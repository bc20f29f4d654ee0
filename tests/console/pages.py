"""The console's pages to check: an entry for each special state of a page.

A page of the routes needs no entry: the tests open it as a user who may see it, with the values
of tests/rigs/console/world.py, and expect the status 200. An entry is for another state, user,
query or preparation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.core.context import service
from app.notifications.unsubscribe import Subscription, UnsubscribeTokens

from ..rigs.console.site import Visitor
from ..rigs.console.world import World


def no_preparation(_world: World, _visitor: Visitor) -> None:
    return None


def with_segment(world: World) -> Mapping[str, Any]:
    world.segment_id()
    return {}


def suspended_account(world: World) -> Mapping[str, Any]:
    return {"account_id": world.suspended.id}


def root_account(world: World) -> Mapping[str, Any]:
    return {"account_id": world.people["root"].id}


def personal_workspace(_world: World) -> Mapping[str, Any]:
    return {"workspace_slug": "ada"}


def selected_accounts(world: World) -> Mapping[str, Any]:
    ids = [world.ada.id, world.suspended.id, world.people["root"].id]
    return {"account": ids, "next": "/admin/accounts"}


def invitation_token(world: World) -> Mapping[str, Any]:
    """Return the token of the email to a person without an account."""
    mail = world.site.mails.assert_sent("charles@example.com", text="?token=")
    found = re.search(r"\?token=([\w.-]+)", mail.text)
    assert found is not None
    return {"token": found[1]}


def invited_registration(world: World) -> Mapping[str, Any]:
    return {"invitation": invitation_token(world)["token"]}


def unsubscribe_token(world: World) -> Mapping[str, Any]:
    with world.site.app.app_context():
        subscription = Subscription(world.ada.id, "announcements", "email")
        return {"token": service(UnsubscribeTokens).write(subscription)}


@dataclass(frozen=True)
class Page:
    # The name of its screenshot.
    name: str
    # The name of the view.
    view: str
    # `visitor`, `owner`, `new_user` (an empty account), `admin` or `root`; by default according to
    # the authorization decorator.
    who: str = ""
    values: Callable[[World], Mapping[str, Any]] = lambda _: {}
    query: Callable[[World], Mapping[str, Any]] = lambda _: {}
    # Preparation before the page is opened, in a separate browser.
    needs: Callable[[World, Visitor], None] = no_preparation
    status: int = 200


# These entries replace the default entry of their view.
PAGES: tuple[Page, ...] = (
    Page("inbox", "dashboard"),
    Page("inbox-empty", "dashboard", who="new_user"),
    Page("inbox-unread", "dashboard", query=lambda _: {"show": "unread"}),
    Page("inbox-all-read", "dashboard", who="new_user", query=lambda _: {"show": "unread"}),
    Page("message", "item_page"),
    Page("profile", "profile_page"),
    Page("profile-none", "profile_page", who="new_user"),
    Page("overview", "admin_home_page", who="admin"),
    Page("overview-first", "admin_home_page", who="root"),
    Page("accounts", "managed_accounts_page", who="admin"),
    Page("accounts-none", "managed_accounts_page", who="admin", query=lambda _: {"search": "zz"}),
    Page("managed-account", "managed_account_page", who="admin"),
    Page("account-suspended", "managed_account_page", who="admin", values=suspended_account),
    Page("account-of-root", "managed_account_page", who="admin", values=root_account),
    Page("account-new", "new_managed_account_page", who="admin"),
    Page("account-suspend", "suspend_managed_account_page", who="admin"),
    Page("account-email", "managed_email_page", who="admin"),
    Page("accounts-suspend", "suspend_selected_page", who="admin", query=selected_accounts),
    Page("accounts-reactivate", "reactivate_selected_page", who="admin", query=selected_accounts),
    Page("accounts-sign-out", "sign_out_selected_page", who="admin", query=selected_accounts),
    Page("accounts-add", "add_selected_page", who="admin", query=selected_accounts),
    Page("accounts-email", "email_selected_page", who="admin", query=selected_accounts),
    Page("accounts-none-selected", "add_selected_page", who="admin"),
    Page("draft", "draft_page", who="admin"),
    Page("segments", "segments_page", query=with_segment),
    Page("deliveries", "deliveries_page", who="admin"),
    Page("deliveries-queued", "deliveries_page", who="admin", query=lambda _: {"state": "pending"}),
    Page("account-delete", "delete_managed_account_page", who="admin"),
    Page("events", "admin_events_page", who="admin"),
    Page("settings", "settings_page", who="root"),
    Page("settings-of-auth", "settings_page", who="root", query=lambda _: {"namespace": "AUTH"}),
    Page("mail-look", "mail_template_page", values=lambda _: {"name": "notification"}),
    Page("authenticator-gone", "authenticator_page", status=404),
    Page("managed-account-for-root", "managed_account_page", who="root"),
    Page("account-sessions", "managed_account_page", query=lambda _: {"tab": "sessions"}),
    Page("account-memberships", "managed_account_page", query=lambda _: {"tab": "workspaces"}),
    Page("account-messages", "managed_account_page", query=lambda _: {"tab": "messages"}),
    Page("account-notes", "managed_account_page", query=lambda _: {"tab": "notes"}),
    Page("tokens", "tokens_page"),
    Page("tokens-none", "tokens_page", who="new_user"),
    Page("tokens-after-change", "tokens_page", query=lambda _: {"changed": "true"}),
    Page("workspace-tokens-none", "workspace_tokens_page", values=personal_workspace),
    Page("workspace-tokens", "workspace_tokens_page"),
    Page("workspaces", "workspaces_page"),
    Page("workspaces-of-a-new-user", "workspaces_page", who="new_user"),
    Page("invitations-received", "received_invitations_page", who="new_user"),
    Page("invitations-received-none", "received_invitations_page"),
    Page("register", "register_page"),
    Page("register-invited", "register_page", query=invited_registration),
    Page("verify", "verify_page"),
    Page("verify-expired", "verify_page", query=lambda _: {"token": "expired"}),
    Page("unsubscribe", "unsubscribe_page", query=unsubscribe_token),
    Page("unsubscribe-expired", "unsubscribe_page", query=lambda _: {"token": "expired"}),
    Page("invitation", "invitation_page", query=invitation_token),
    Page("invitation-of-another-account", "invitation_page", who="owner", query=invitation_token),
    Page("invitation-over", "invitation_page", status=422),
)
# Views of GET routes that are not pages, with the reason.
NO_PAGES: dict[str, str] = {
    "static_asset": "a file",
    "mail_template_html": "a part of the email page",
    "brand_css": "a file",
    "home": "redirects",
    "second_step_page": "redirects without a started sign-in",
    "enrolment_page": "redirects without a started sign-in",
    "provider_sign_in": "redirects to the provider",
    "signed_out_page": "redirects",
    "provider_callback": "redirects without a started sign-in",
    "provider_code_page": "only as the response to a form",
    "link_page": "redirects without a started sign-in",
    "broadcast_result_csv": "a file",
    "broadcast_progress": "a part of a broadcast",
    "found_pages": "a part of the command palette",
    "found_workspaces": "a list of a field",
    "older_items": "a part of the inbox",
    "new_items": "a part of the inbox",
    "export_state": "a part of the account",
    "fetch_export": "a file",
    "admin_events_file": "a file",
    "accounts_csv": "a file",
    "accounts_file": "a file",
    "admin_events_csv": "a file",
    "workspace_activity_csv": "a file",
    "workspace_activity_file": "a file",
    "first_root_page": "exists only without a root account; test_first_run.py",
    "mails_page": "only in debug mode; test_first_run.py",
    "mail_page": "only in debug mode; test_first_run.py",
    "mail_html": "only in debug mode; test_first_run.py",
}
