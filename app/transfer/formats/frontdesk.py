"""The format of `flask accounts export`: JSON lines, or CSV with JSON in its fields."""

from ...core.types import JsonObject
from ..account import ImportedAccount, ImportedIdentity, ImportedMembership
from .fields import flag, mapping, objects, required, text, timestamp
from .rows import Fields


def account(row: Fields) -> ImportedAccount:
    return ImportedAccount(
        email=required(row, "email"),
        id=row.get("id"),
        email_verified=flag(row, "email_verified", True),
        email_unverified_since=timestamp(row, "email_unverified_since"),
        password_hash=text(row, "password_hash"),
        role=text(row, "role") or "user",
        status=text(row, "status") or "active",
        phone=text(row, "phone"),
        created_at=timestamp(row, "created_at"),
        last_login_date=timestamp(row, "last_login_date"),
        tokens_valid_from=timestamp(row, "tokens_valid_from"),
        logged_out_at=timestamp(row, "logged_out_at"),
        suspended_until=timestamp(row, "suspended_until"),
        suspended_reason=text(row, "suspended_reason"),
        current_workspace=text(row, "current_workspace"),
        workspaces=[_membership(item) for item in objects(row, "workspaces")],
        identities=[_identity(item) for item in objects(row, "identities")],
        profile=mapping(row, "profile"),
    )


def _membership(row: JsonObject | Fields) -> ImportedMembership:
    return ImportedMembership(
        slug=required(row, "slug"),
        type=text(row, "type") or "member",
        status=text(row, "status") or "active",
        since=timestamp(row, "since"),
        name=text(row, "name"),
        is_default=flag(row, "is_default", False),
        is_personal=flag(row, "is_personal", False),
        workspace_created_at=timestamp(row, "workspace_created_at"),
    )


def _identity(row: JsonObject | Fields) -> ImportedIdentity:
    return ImportedIdentity(
        issuer=required(row, "issuer"),
        subject=required(row, "subject"),
        provider=text(row, "provider"),
        email=text(row, "email"),
        linked_at=timestamp(row, "linked_at"),
        last_used_at=timestamp(row, "last_used_at"),
    )
