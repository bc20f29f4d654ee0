"""The navigation of the console: its sections and entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from flask import request, url_for

from ..accounts.models import AccountLike
from ..auth.caller import known_caller
from ..core.context import service
from ..core.types import JsonObject
from ..extension.console_pages import HostConsole, HostPage
from .links import link_to
from .open_items import OpenItems
from .resources import ConsoleResources, Features
from .texts import _, mark

ADMINS = ("admin", "root")


@dataclass(frozen=True)
class NavEntry:
    title: str
    # The endpoint without the name of the blueprint.
    endpoint: str
    icon: str
    # Counts the open items for the signed-in account.
    count: Callable[[AccountLike], int] | None = None
    # The roles that see the entry; empty: all roles of the section.
    roles: tuple[str, ...] = ()

    def is_shown(self, features: Features, role: str) -> bool:
        return features.has(self.endpoint) and (not self.roles or role in self.roles)


@dataclass(frozen=True)
class Section:
    title: str
    entries: tuple[NavEntry, ...]
    # The roles that see the section; empty: all accounts.
    roles: tuple[str, ...] = ()

    def with_more(self, entries: tuple[NavEntry, ...]) -> Section:
        return replace(self, entries=self.entries + entries)


_OPEN_ITEMS = "frontdesk_open_items"


def unread_count(account: AccountLike) -> int:
    return _open_items(account).unread


def _invitation_count(account: AccountLike) -> int:
    return _open_items(account).invitations


def _open_items(account: AccountLike) -> OpenItems:
    found: OpenItems | None = getattr(request, _OPEN_ITEMS, None)
    if found is None:
        found = service(ConsoleResources).open_items.count(account)
        setattr(request, _OPEN_ITEMS, found)
    return found


SECTIONS = (
    Section(
        "",
        (
            NavEntry(mark("Inbox"), "dashboard", "inbox", count=unread_count),
            NavEntry(mark("Profile"), "profile_page", "user"),
            NavEntry(mark("Account"), "account_page", "gear"),
            NavEntry(mark("Security"), "security_page", "shield"),
            NavEntry(mark("Tokens"), "tokens_page", "code"),
        ),
    ),
    Section(
        mark("Workspaces"),
        (
            NavEntry(mark("Workspaces"), "workspaces_page", "building"),
            NavEntry(
                mark("Invitations"), "received_invitations_page", "mail", count=_invitation_count
            ),
        ),
    ),
    Section(
        mark("Administration"),
        (
            NavEntry(mark("Overview"), "admin_home_page", "chart"),
            NavEntry(mark("Accounts"), "managed_accounts_page", "users"),
            NavEntry(mark("All workspaces"), "managed_workspaces_page", "building"),
            NavEntry(mark("Broadcasts"), "broadcasts_page", "send"),
            NavEntry(mark("Banners"), "managed_banners_page", "bell"),
            NavEntry(mark("Events"), "admin_events_page", "list"),
            NavEntry(mark("Emails"), "mail_templates_page", "mail"),
            NavEntry(mark("Settings"), "settings_page", "sliders", roles=("root",)),
        ),
        roles=ADMINS,
    ),
)


def home_path() -> str:
    """Return the path of the page after a sign-in."""
    return link_to(service(ConsoleResources).features.home)


def navigation(at: str) -> list[JsonObject]:
    """Return the sections for the signed-in account; `at` is the endpoint of the current entry."""
    caller = known_caller()
    if caller is None:
        return []
    current = at or (request.endpoint or "").rpartition(".")[2]
    features = service(ConsoleResources).features
    account = caller.account
    return [
        {
            "title": _(section.title) if section.title else "",
            "entries": [
                _build_entry(entry, account, current)
                for entry in section.entries
                if entry.is_shown(features, account.role)
            ],
        }
        for section in _merge_sections(
            (*SECTIONS, *_application_sections(service(HostConsole).pages))
        )
        if not section.roles or account.role in section.roles
    ]


def _application_sections(pages: Iterable[HostPage]) -> list[Section]:
    """Return the application's pages by section, in the order in which they were added."""
    found: dict[str, list[NavEntry]] = {}
    for page in pages:
        if page.title:
            entry = NavEntry(page.title, page.name, page.icon, roles=page.roles)
            found.setdefault(page.section, []).append(entry)
    return [Section(title, tuple(entries)) for title, entries in found.items()]


def _merge_sections(sections: Iterable[Section]) -> list[Section]:
    """Merge sections with the same title: an application can add pages to a section."""
    found: dict[str, Section] = {}
    for each in sections:
        known = found.get(each.title)
        found[each.title] = each if known is None else known.with_more(each.entries)
    return list(found.values())


def _build_entry(entry: NavEntry, account: AccountLike, current: str) -> JsonObject:
    return {
        "title": _(entry.title),
        "url": url_for(f".{entry.endpoint}"),
        "icon": entry.icon,
        "current": entry.endpoint == current,
        "count": entry.count(account) if entry.count else 0,
    }


def reset_unread_count() -> None:
    """Count unread messages again: a message was marked or deleted."""
    setattr(request, _OPEN_ITEMS, None)
