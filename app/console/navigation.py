"""The navigation of the console: its sections and entries."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from flask import request, url_for

from ..accounts.models import AccountLike
from ..auth.caller import known_caller
from ..core.context import service
from ..core.errors import SetupError
from ..core.types import JsonObject
from ..extension.console_pages import HostConsole, NavEntry
from .links import link_to
from .open_items import OpenItems
from .resources import PATHS, ConsoleResources, longest_start
from .texts import _, mark

ADMINS = ("admin", "root")


@dataclass(frozen=True)
class Section:
    title: str
    entries: tuple[NavEntry, ...]
    # The roles that see the section; empty: all accounts.
    roles: tuple[str, ...] = ()

    def with_own(self, entry: NavEntry) -> Section:
        entries = [*self.entries]
        entries.insert(entry.position - 1 if entry.position else len(entries), entry)
        return replace(self, entries=tuple(entries))


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
                if features.has(entry.endpoint) and (not entry.roles or account.role in entry.roles)
            ],
        }
        for section in _all_sections(service(HostConsole).entries)
        if not section.roles or account.role in section.roles
    ]


def _all_sections(own: Iterable[tuple[str, NavEntry]]) -> Iterable[Section]:
    """Return the sections with the application's entries, in the order in which it added them."""
    found = {section.title: section for section in SECTIONS}
    for title, entry in own:
        found[title] = found.get(title, Section(title, ())).with_own(entry)
    return found.values()


def hidden_pages(names: Collection[str]) -> set[str]:
    """Return the pages and forms of hidden entries and sections, by the start of their paths."""
    known = {each.title: {entry.endpoint for entry in each.entries} for each in SECTIONS}
    known |= {name: {name} for entries in known.values() for name in entries}
    if unknown := {*names} - {*known}:
        raise SetupError(
            f"frontdesk.console.hide: the console has no {', '.join(sorted(unknown))}. Hide one of"
            f" {', '.join(filter(None, known))}."
        )
    hidden = {PATHS[entry] for name in names for entry in known[name]}
    starts = {PATHS[name] for name in known if name in PATHS}
    return {name for name, path in PATHS.items() if longest_start(path, starts) in hidden}


def _build_entry(entry: NavEntry, account: AccountLike, current: str) -> JsonObject:
    return {
        "title": _(entry.title),
        "url": entry.url or url_for(f".{entry.endpoint}"),
        "is_link": bool(entry.url),
        "icon": entry.icon,
        "current": not entry.url and entry.endpoint == current,
        "count": entry.count(account) if entry.count else 0,
    }


def reset_unread_count() -> None:
    """Count unread messages again: a message was marked or deleted."""
    setattr(request, _OPEN_ITEMS, None)
