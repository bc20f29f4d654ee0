"""What stands beside every page: an entry here is what makes a page findable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from flask import request, url_for

from ..accounts.models import AccountLike
from ..auth.caller import known_caller
from ..core.context import service
from ..core.types import JsonObject
from ..notifications.inbox import Inbox
from .desk import Desk, Switches
from .host_pages import HostConsole, HostPage
from .texts import _, later

ADMINS = ("admin", "root")


@dataclass(frozen=True)
class NavEntry:
    title: str
    # Without the blueprint's name.
    endpoint: str
    icon: str
    # Only where this room is switched on.
    needs: str = ""
    # How many wait there; asked for whoever is signed in.
    count: Callable[[AccountLike], int] | None = None
    # Empty: of all whose section it is.
    roles: tuple[str, ...] = ()

    def is_shown(self, on: Switches, role: str) -> bool:
        if self.roles and role not in self.roles:
            return False
        return not self.needs or bool(on[self.needs])


@dataclass(frozen=True)
class Section:
    title: str
    entries: tuple[NavEntry, ...]
    # Empty: of every account.
    roles: tuple[str, ...] = ()

    def with_more(self, entries: tuple[NavEntry, ...]) -> Section:
        return replace(self, entries=self.entries + entries)


def _unread(account: AccountLike) -> int:

    return unread(account)


SECTIONS = (
    Section(
        "",
        (
            NavEntry(later("Inbox"), "dashboard", "inbox", count=_unread),
            NavEntry(later("Profile"), "profile_page", "user"),
            NavEntry(later("Account"), "account_page", "gear"),
            NavEntry(later("Security"), "security_page", "shield"),
        ),
    ),
    Section(
        later("Workspaces"),
        (
            NavEntry(later("Workspaces"), "workspaces_page", "building"),
            NavEntry(later("Invitations"), "received_invitations_page", "mail"),
        ),
    ),
    Section(
        later("Administration"),
        (
            NavEntry(later("Overview"), "admin_home_page", "chart"),
            NavEntry(later("Accounts"), "managed_accounts_page", "users"),
            NavEntry(later("Broadcasts"), "broadcasts_page", "send"),
            NavEntry(later("Events"), "admin_events_page", "list"),
            NavEntry(later("Emails"), "mail_templates_page", "mail"),
            NavEntry(later("Settings"), "settings_page", "sliders", roles=("root",)),
        ),
        roles=ADMINS,
    ),
)


def navigation(at: str) -> list[JsonObject]:
    """The sections for whoever is signed in; `at` is the entry that the page lies under."""
    caller = known_caller()
    if caller is None:
        return []
    current = at or (request.endpoint or "").rpartition(".")[2]
    desk = service(Desk)
    account = caller.account
    return [
        {
            "title": _(section.title) if section.title else "",
            "entries": [
                _shown(entry, account, current)
                for entry in section.entries
                if entry.is_shown(desk.on, account.role)
            ],
        }
        for section in _joined((*SECTIONS, *_host_sections(service(HostConsole).pages)))
        if not section.roles or account.role in section.roles
    ]


def _host_sections(pages: Iterable[HostPage]) -> list[Section]:
    """The pages of the application by their headings, in the order in which they were added."""
    found: dict[str, list[NavEntry]] = {}
    for page in pages:
        if page.title:
            entry = NavEntry(page.title, page.name, page.icon, roles=page.roles)
            found.setdefault(page.section, []).append(entry)
    return [Section(title, tuple(entries)) for title, entries in found.items()]


def _joined(sections: Iterable[Section]) -> list[Section]:
    """A host may put its pages under a heading of ours."""
    found: dict[str, Section] = {}
    for each in sections:
        known = found.get(each.title)
        found[each.title] = each if known is None else known.with_more(each.entries)
    return list(found.values())


def _shown(entry: NavEntry, account: AccountLike, current: str) -> JsonObject:
    return {
        "title": _(entry.title),
        "url": url_for(f".{entry.endpoint}"),
        "icon": entry.icon,
        "current": entry.endpoint == current,
        "count": entry.count(account) if entry.count else 0,
    }


_UNREAD = "frontdesk_unread"


def unread(account: AccountLike) -> int:
    found: int | None = getattr(request, _UNREAD, None)
    if found is None:
        found = service(Inbox).unread(account.id)
        setattr(request, _UNREAD, found)
    return found


def count_again() -> None:
    """Something was marked or deleted since."""
    setattr(request, _UNREAD, None)
