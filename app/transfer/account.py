"""An imported account, independent of the format of its file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..core.types import Values


class RowError(ValueError):
    """Why a row is refused: a stable code for programs, a sentence for users."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(slots=True)
class UnreadableRow:
    """A row without a readable account."""

    line: int
    error: RowError


@dataclass(slots=True)
class ImportedMembership:
    slug: str
    type: str = "member"
    status: str = "active"
    since: datetime | None = None
    # Fields of the workspace. A missing workspace is created if its name is given.
    name: str | None = None
    is_default: bool = False
    is_personal: bool = False
    workspace_created_at: datetime | None = None


@dataclass(slots=True)
class ImportedIdentity:
    issuer: str
    subject: str
    provider: str | None = None
    email: str | None = None
    linked_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(slots=True)
class ImportedAccount:
    email: str
    id: Any = None
    email_verified: bool = True
    email_unverified_since: datetime | None = None
    password_hash: str | None = None
    role: str = "user"
    # All roles, if the other system gives a user several.
    roles: Sequence[str] = ()
    status: str = "active"
    phone: str | None = None
    created_at: datetime | None = None
    last_login_date: datetime | None = None
    tokens_valid_from: datetime | None = None
    logged_out_at: datetime | None = None
    suspended_until: datetime | None = None
    suspended_reason: str | None = None
    current_workspace: str | None = None
    workspaces: Sequence[ImportedMembership] = ()
    identities: Sequence[ImportedIdentity] = ()
    profile: Values | None = None
    # The whole row, for the columns that an application adds to its accounts.
    row: Values = field(default_factory=dict)
    # The line of the file, or the number of the item in a JSON document.
    line: int = 0


Row = ImportedAccount | UnreadableRow
