"""`flask frontdesk prune`: everything that has had its time, in batches that lock nothing long."""

from __future__ import annotations

import click
import orjson

from ..audit.retention import RecordRetention
from ..auth.email_change.service import EmailChanges
from ..auth.settings import AuthSettings
from ..core.context import current_frontdesk, service
from ..core.keystore import DatabaseKeystore
from ..deletion.service import Deletion
from ..exports.service import Exports
from ..profiles.avatars import Avatars
from ..registration.verification import Verification
from ..workspaces.invitations.service import Invitations
from .accounts import in_words
from .doctor import group as group
from .notifications import prune_old

KEYSTORE_BATCH = 1_000
ACCOUNT_BATCH = 1_000
INVITATION_BATCH = 1_000
RECORD_BATCH = 5_000
EMAIL_CHANGE_BATCH = 1_000
EXPORT_BATCH = 500
SESSION_BATCH = 5_000
FACTOR_BATCH = 1_000


@group.command()
@in_words
def prune() -> None:
    """Delete what has had its time: expired keystore rows, pictures that no profile shows, old
    notifications, invitations, changes of address, exports, records and sessions, authenticators
    that were not confirmed and devices that are not trusted any more, accounts that have waited too
    long for their address to be proven, and those whose owners want them to go."""
    report = {
        "keystore_entries": _keystore(),
        "avatars": service(Avatars).clean() if Avatars in current_frontdesk.services else 0,
        "notifications": prune_old(None),
        "unverified_accounts": _unverified(),
        "invitations": _invitations(),
        "events": service(RecordRetention).prune(RECORD_BATCH),
        "email_changes": _email_changes(),
        "exports": _exports(),
        "deleted_accounts": _deleted_accounts(),
        "sessions": _sessions(),
        "second_factors": _second_factors(),
    }
    click.echo(orjson.dumps(report).decode())


def _unverified() -> int:
    if Verification not in current_frontdesk.services:
        return 0
    days = current_frontdesk.settings.of(AuthSettings).UNVERIFIED_KEEP_DAYS
    return service(Verification).prune(days, ACCOUNT_BATCH)


def _invitations() -> int:
    has = Invitations in current_frontdesk.services
    return service(Invitations).prune(INVITATION_BATCH) if has else 0


def _email_changes() -> int:
    has = EmailChanges in current_frontdesk.services
    return service(EmailChanges).prune(EMAIL_CHANGE_BATCH) if has else 0


def _exports() -> int:
    has = "exports" in current_frontdesk.mounted
    return service(Exports).prune(EXPORT_BATCH) if has else 0


def _deleted_accounts() -> int:
    return service(Deletion).sweep() if Deletion in current_frontdesk.services else 0


def _sessions() -> int:
    auth = current_frontdesk.settings.of(AuthSettings)
    if not (auth.keeps_sessions or auth.keeps_cookies):
        return 0
    # Loaded only where they are kept.
    from ..auth.sessions.retention import SessionRetention

    return service(SessionRetention).prune(SESSION_BATCH)


def _second_factors() -> int:
    if not current_frontdesk.settings.of(AuthSettings).keeps_authenticators:
        return 0
    # Loaded only where there are some.
    from ..auth.mfa.authenticators import Authenticators
    from ..auth.mfa.devices import TrustedDevices

    return service(Authenticators).prune(FACTOR_BATCH) + service(TrustedDevices).prune(FACTOR_BATCH)


def _keystore() -> int:
    keystore = current_frontdesk.keystore
    gone = 0
    if isinstance(keystore, DatabaseKeystore):
        while batch := keystore.prune(KEYSTORE_BATCH):
            gone += batch
    return gone
