from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...core.keystore import Keystore
from ...delivery.message import Email
from .errors import TooManyInvitations

HOUR = 3600


@dataclass(eq=False)
class InvitationRate:
    """How many invitations one account may have mailed in an hour, exactly."""

    keystore: Keystore
    most: int

    @contextmanager
    def counted(self, inviter_id: object, wanted: int) -> Iterator[list[Email]]:
        """Counts what is wanted before anything is stored, and gives back what was not mailed: what
        was is in the list at the end."""
        key = f"invitations:{inviter_id}"
        if self.keystore.count(key, HOUR, by=wanted) > self.most:
            seconds = self.keystore.remaining(key)
            self.keystore.count(key, HOUR, by=-wanted)
            raise TooManyInvitations(seconds)
        mails: list[Email] = []
        try:
            yield mails
        except BaseException:
            mails.clear()
            raise
        finally:
            if unsent := wanted - len(mails):
                self.keystore.count(key, HOUR, by=-unsent)
