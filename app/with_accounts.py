"""The slices that need accounts, put together for one application that has them."""

from __future__ import annotations

from .accounts.service import Accounts
from .core.desk import Desk
from .notifications.house import furnish as furnish_notifications
from .profiles.avatars import Avatars
from .profiles.service import Profiles
from .storage import FileStore
from .workspaces.members import Members
from .workspaces.service import Workspaces

__all__ = ["furnish", "furnish_notifications"]


def furnish(desk: Desk, accounts: Accounts, files: FileStore) -> None:
    desk.add(Workspaces(desk.session, desk.clock))
    desk.add(Members(desk.session, accounts, desk.clock))
    profiles = Profiles(desk.session, files, desk.clock)
    desk.add(profiles)
    desk.add(Avatars(desk.session, profiles, files, desk.clock))
