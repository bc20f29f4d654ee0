"""Which profiles an account may read, and which of their properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, exists, false, select
from sqlalchemy.orm import aliased

from ..accounts.models import AccountLike
from ..core.types import AccountKey, Values
from ..workspaces.models import ACTIVE, Member

# Administrators see whole profiles.
_MANAGERS = ("admin", "root")
# The ids identify the profile, which the client has asked for.
_ALWAYS_SHOWN = frozenset(("id", "account_id"))


@dataclass(frozen=True)
class Visibility:
    rule: Literal["everyone", "workspaces", "private"]
    public_fields: frozenset[str] | None

    def condition(self, viewer: AccountLike, account_id: AccountKey) -> ColumnElement[bool] | None:
        """Return a condition to read with the profile, without a separate query; None for all."""
        if self.rule == "everyone" or _sees_all(viewer, account_id):
            return None
        return (
            _have_common_workspace(viewer.id, account_id) if self.rule == "workspaces" else false()
        )

    def narrow(self, profile: Values, viewer: AccountLike) -> Values:
        """Return the properties that the viewer may see."""
        if self.public_fields is None or _sees_all(viewer, profile["account_id"]):
            return profile
        names = self.public_fields | _ALWAYS_SHOWN
        return {name: value for name, value in profile.items() if name in names}


def _sees_all(viewer: AccountLike, account_id: AccountKey) -> bool:
    return bool(viewer.id == account_id) or viewer.role in _MANAGERS


def _have_common_workspace(one: object, other: object) -> ColumnElement[bool]:
    first, second = aliased(Member), aliased(Member)
    return exists(
        select(1)
        .select_from(first)
        .join(second, second.workspace_id == first.workspace_id)
        .where(first.account_id == one, first.status == ACTIVE)
        .where(second.account_id == other, second.status == ACTIVE)
    )
