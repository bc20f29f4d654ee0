"""Checks of an account in a file, without queries."""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from marshmallow import ValidationError
from sqlalchemy import inspect

from ..accounts.addresses import read_email, read_phone
from ..accounts.errors import InvalidEmail, InvalidPhone
from ..accounts.foreign.algorithms import UnusableHash
from ..accounts.models import HASH_LENGTH, REASON_LENGTH, ROLES
from ..accounts.passwords import check_hash
from ..accounts.schemas import load_own, own_fields
from ..accounts.service import Accounts
from ..auth.idp.models import LONGEST_ISSUER, LONGEST_SUBJECT
from ..core.db.base import MAX_ID
from ..core.errors import Invalid
from ..core.types import AccountKey, JsonObject, Values
from ..core.web.fields import is_not_blank, is_storable
from ..core.web.request_data import schema_instance
from ..profiles.links import PICTURE_NAME
from ..profiles.schemas import to_columns, update_schema
from ..workspaces.models import MEMBER_TYPES, NAME_LENGTH, STATUS_LENGTH
from ..workspaces.slugs import slug_error
from .account import ImportedAccount, ImportedIdentity, ImportedMembership, RowError
from .formats.fields import timestamp

_PLAIN_LOCAL = re.compile(r"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*", re.ASCII)
_LONGEST_LOCAL = 64


@dataclass(slots=True)
class CheckedAccount:
    """An account of a file that passed the checks, with its values by column."""

    line: int
    email: str
    values: JsonObject
    id: AccountKey | None
    # The id in the file, if our accounts cannot have ids of its type.
    other_id: AccountKey | None
    hash_kind: str | None
    current_workspace: str | None
    memberships: list[ImportedMembership]
    identities: list[ImportedIdentity]
    profile: JsonObject | None


class Checks:
    def __init__(self, accounts: Accounts, *, trusts_addresses: bool) -> None:
        model = accounts.model
        self._clock, self._roles = accounts.clock, accounts.roles
        self._own = own_fields("registration")
        self._takes_passwords = accounts.passwords.enabled
        self._key_kind = inspect(model).primary_key[0].type
        self._can_mark = getattr(model, "email_unverified_since", None) is not None
        self._trusts_addresses = trusts_addresses

    def check_account(self, account: ImportedAccount) -> CheckedAccount:
        """Return the checked account; raise RowError at the first error."""
        email = _email(account.email)
        if account.password_hash is not None and not self._takes_passwords:
            raise RowError("passwords_off", "AUTH__PASSWORDS is off: remove the password hash.")
        unverified_since = self._unverified_since(account)
        slugs = [membership.slug for membership in account.workspaces]
        if account.current_workspace is not None and account.current_workspace not in slugs:
            raise RowError(
                "wrong_workspace", "The account is not a member of its current workspace."
            )
        if len(slugs) != len(set(slugs)):
            raise RowError("wrong_workspace", "The account is a member of one workspace twice.")
        key = self._key(account.id)
        values = {
            "password_hash": account.password_hash,
            **self._own_columns(account, email),
            "role": self._role(account),
            "status": _short(account.status, "status", STATUS_LENGTH),
            "phone": _phone(account.phone),
            "created_at": account.created_at,
            "last_login_date": account.last_login_date,
            "tokens_valid_from": account.tokens_valid_from,
            "logged_out_at": account.logged_out_at,
            "email_unverified_since": unverified_since,
            "suspended_until": account.suspended_until,
            "suspended_reason": account.suspended_reason
            and _short(account.suspended_reason, "reason", REASON_LENGTH),
        }
        return CheckedAccount(
            line=account.line,
            email=email,
            values=values,
            id=key,
            other_id=account.id if key is None else None,
            hash_kind=_hash_kind(account.password_hash),
            current_workspace=account.current_workspace,
            memberships=[_membership(item) for item in account.workspaces],
            identities=[_identity(item) for item in account.identities],
            profile=None if account.profile is None else _profile(account.profile),
        )

    def _unverified_since(self, account: ImportedAccount) -> datetime | None:
        if account.email_verified or self._trusts_addresses:
            return None
        if not self._can_mark:
            raise RowError(
                "unverified",
                "The email is unverified, and the accounts cannot be marked as unverified."
                " --trust-emails imports it as verified.",
            )
        return account.email_unverified_since or self._clock.now()

    def _role(self, account: ImportedAccount) -> str:
        own = [role for role in self._roles if role in account.roles and role not in ROLES]
        role = own[0] if own and account.role == "user" else account.role
        if role not in self._roles:
            raise RowError("unknown_role", f"The role must be one of {', '.join(self._roles)}.")
        return role

    def _own_columns(self, account: ImportedAccount, email: str) -> JsonObject:
        """Return the columns that the application adds, checked by its schema."""
        if not self._own:
            return {}
        given = {name: account.row[name] for name in self._own if name in account.row}
        try:
            return load_own("registration", given, email)
        except Invalid as problem:
            reason = " ".join(f"{fault.field}: {fault.message}" for fault in problem.faults)
            raise RowError("wrong_field", reason) from None

    def _key(self, value: Any) -> AccountKey | None:
        """Return the id in the type of our accounts' ids, or None for another type."""
        kind = self._key_kind.python_type
        if kind is int:
            number = int(value) if isinstance(value, str) and value.isdecimal() else value
            is_whole = isinstance(number, int) and not isinstance(number, bool)
            return number if is_whole and 0 < number <= MAX_ID else None
        if not isinstance(value, (str, UUID)):
            return None
        if kind is UUID:
            try:
                return UUID(str(value))
            except ValueError:
                return None
        longest = getattr(self._key_kind, "length", None)
        fits = value and is_storable(str(value)) and (longest is None or len(str(value)) <= longest)
        return str(value) if kind is str and fits else None


def _email(text: str) -> str:
    """Return the normalized email. Plain addresses of known domains need no further check."""
    if len(text) > 320:
        raise RowError("too_long", "The email has over 320 characters.")
    folded = text.strip().lower()
    local, _, domain = folded.rpartition("@")
    if len(local) <= _LONGEST_LOCAL and _PLAIN_LOCAL.fullmatch(local) and _is_domain(domain):
        return folded
    try:
        return read_email(text)
    except InvalidEmail:
        raise RowError("invalid_email", InvalidEmail.detail) from None


@lru_cache(10_000)
def _is_domain(domain: str) -> bool:
    """Check the domain with the longest local part: the whole address has a limit too."""
    try:
        return read_email(f"{'a' * _LONGEST_LOCAL}@{domain}").endswith(f"@{domain}")
    except InvalidEmail:
        return False


def _hash_kind(password_hash: str | None) -> str | None:
    if password_hash is None:
        return None
    if len(password_hash) > HASH_LENGTH:
        raise RowError("too_long", f"The password hash has over {HASH_LENGTH} characters.")
    try:
        return check_hash(password_hash)
    except UnusableHash as error:
        raise RowError(error.code, error.reason) from None


def _phone(phone: str | None) -> str | None:
    try:
        return read_phone(phone) if phone else None
    except InvalidPhone:
        raise RowError("invalid_phone", InvalidPhone.detail) from None


def _short(text: str, name: str, longest: int) -> str:
    if len(text) > longest:
        raise RowError("too_long", f"The {name} has over {longest} characters.")
    if not is_storable(text) or not is_not_blank(text):
        raise RowError("wrong_field", f"The {name} is blank, or cannot be stored.")
    return text


def _membership(membership: ImportedMembership) -> ImportedMembership:
    if reason := slug_error(membership.slug):
        raise RowError("wrong_workspace", reason)
    if membership.type not in MEMBER_TYPES:
        raise RowError(
            "unknown_type", f"The type of a member must be one of {', '.join(MEMBER_TYPES)}."
        )
    _short(membership.status, "status of a member", STATUS_LENGTH)
    if membership.name is not None:
        _short(membership.name, "name of a workspace", NAME_LENGTH)
    return membership


def _identity(identity: ImportedIdentity) -> ImportedIdentity:
    _short(identity.issuer, "issuer", LONGEST_ISSUER)
    _short(identity.subject, "subject", LONGEST_SUBJECT)
    _short(identity.provider or "-", "provider", 50)
    return identity


def _profile(properties: Values) -> JsonObject:
    """Check a profile like an update by its owner, who could not correct it otherwise. Required
    properties may be missing."""
    sent = {name: value for name, value in properties.items() if name != "avatar_file"}
    try:
        fields = to_columns(update_schema, schema_instance(update_schema()).load(sent))
    except ValidationError as error:
        names = sorted(map(str, error.messages_dict))
        raise RowError("wrong_profile", f"In the profile, not valid: {', '.join(names)}.") from None
    picture = properties.get("avatar_file")
    if picture is not None:
        if not isinstance(picture, str) or not PICTURE_NAME.fullmatch(picture):
            raise RowError("wrong_profile", "In the profile, not valid: avatar_file.")
        fields["avatar_file"] = picture
    times = {name: timestamp(properties, name) for name in ("created_at", "updated_at")}
    return fields | {name: value for name, value in times.items() if value is not None}
