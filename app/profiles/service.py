"""Profiles: stored, read by permitted accounts, and exported."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import exists, select

from ..accounts.models import AccountLike
from ..core.clock import Clock
from ..core.context import report_action
from ..core.data_export import DataSubject, ExportReader
from ..core.db.transaction import AnySession, after_commit, insert_new, lock_row, transaction
from ..core.errors import Fault, Invalid
from ..core.types import AccountKey, JsonObject, Values
from ..storage import FileMissing, FileStore
from ..workspaces.models import Member
from .actions import PROFILE_CREATED, PROFILE_DELETED, PROFILE_UPDATED
from .errors import ProfileExists, ProfileNotFound
from .extra import WHOLE, as_json, faults_in
from .links import NOT_AN_ADDRESS, is_own_path, picture_name
from .models import PROPERTIES, Profile
from .visibility import Visibility

# In every time zone, a date of birth is before the day after tomorrow (UTC).
_LATEST_BIRTH = timedelta(days=1)


@dataclass(eq=False)
class Profiles:
    """One profile for each account: made, found, changed and deleted."""

    session: AnySession
    files: FileStore
    clock: Clock
    visibility: Visibility

    def get(
        self, account_id: AccountKey, within: int | None = None, viewer: AccountLike | None = None
    ) -> Profile:
        """Within a workspace, only its members' profiles are found; a viewer finds those that may
        be seen."""
        found = select(Profile).where(Profile.account_id == account_id)
        if within is not None:
            found = found.where(_is_member(account_id, within))
        if viewer and (condition := self.visibility.condition(viewer, account_id)) is not None:
            found = found.where(condition)
        profile = self.session.scalar(found.execution_options(populate_existing=True))
        if profile is None:
            raise ProfileNotFound
        return profile

    def create(self, account_id: AccountKey, fields: Values) -> Profile:
        self._check(fields)
        _refuse_ours(fields.get("avatar"))
        with transaction(self.session):
            profile = self._insert(account_id, fields)
            if profile is None:
                raise ProfileExists
            return profile

    def update(self, account_id: AccountKey, fields: Values, within: int | None = None) -> Profile:
        """Change the given fields; additional properties are merged with the stored ones."""
        self._check(fields)
        with transaction(self.session):
            profile = self._hold(account_id, within)
            changes = dict(fields)
            extra = _kept({**profile.extra, **changes.pop("extra", {})})
            changed = []
            if "avatar" in changes and self._point_to(profile, changes.pop("avatar")):
                changed.append("avatar")
            for name, value in {**changes, "extra": extra}.items():
                if getattr(profile, name) != value:
                    changed.append(name)
                setattr(profile, name, value)
            profile.updated_at = self.clock.now()
            if changed:
                self._record_change(account_id, changed)
            return profile

    def delete(self, account_id: AccountKey) -> Profile:
        with transaction(self.session):
            profile = self._hold(account_id)
            self._drop_later(profile.avatar_file)
            self.session.delete(profile)
            report_action(self.session, PROFILE_DELETED, account_id=account_id)
            return profile

    def show_picture(
        self, account_id: AccountKey, name: str, blank: Values | None = None
    ) -> Profile:
        """Let the profile show a picture of our store; the one before goes after the commit.

        Where there is no profile yet, `blank` makes one.
        """
        with transaction(self.session):
            if blank is not None and not self._lock(account_id):
                self._insert(account_id, blank)
            profile = self._hold(account_id)
            self._drop_later(profile.avatar_file)
            profile.avatar, profile.avatar_file = None, name
            profile.updated_at = self.clock.now()
            self._record_change(account_id, ["avatar"])
            return profile

    def forget(self, account_id: AccountKey) -> None:
        """An account goes, and its profile with it; the picture would stay."""
        with transaction(self.session):
            name = self.session.scalar(
                select(Profile.avatar_file).where(Profile.account_id == account_id)
            )
            self._drop_later(name)

    def _insert(self, account_id: AccountKey, fields: Values) -> Profile | None:
        """A new profile, or nothing where the account has one."""
        now = self.clock.now()
        given = {**fields, "extra": _kept(fields.get("extra", {}))}
        made = insert_new(
            self.session, Profile, **given, account_id=account_id, created_at=now, updated_at=now
        )
        if made is not None:
            report_action(self.session, PROFILE_CREATED, account_id=account_id)
        return made

    def _record_change(self, account_id: AccountKey, names: Collection[str]) -> None:
        """Of a client's own properties not even the names, which are its own words."""
        report_action(self.session, PROFILE_UPDATED, account_id=account_id, changed=sorted(names))

    def _lock(self, account_id: AccountKey) -> bool:
        return lock_row(self.session, Profile, Profile.account_id == account_id)

    def _hold(self, account_id: AccountKey, within: int | None = None) -> Profile:
        """Return the stored profile, locked until the commit."""
        self._lock(account_id)
        return self.get(account_id, within)

    def _point_to(self, profile: Profile, address: str | None) -> bool:
        """Whether it showed something else before."""
        if address and profile.avatar_file and picture_name(address) == profile.avatar_file:
            return False  # the profile's own picture, sent back with the rest of it
        _refuse_ours(address)
        is_other = profile.avatar_file is not None or profile.avatar != address
        self._drop_later(profile.avatar_file)
        profile.avatar, profile.avatar_file = address, None
        return is_other

    def _drop_later(self, name: str | None) -> None:
        if name is not None:
            after_commit(self.session, partial(self.files.delete, name))

    def _check(self, fields: Values) -> None:
        birth = fields.get("date_of_birth")
        if birth is not None and birth > (self.clock.now() + _LATEST_BIRTH).date():
            raise Invalid.about("date_of_birth", "Lies in the future.")


def _is_member(account_id: AccountKey, workspace_id: int) -> Any:
    return exists().where(Member.account_id == account_id, Member.workspace_id == workspace_id)


def _kept(extra: Values) -> JsonObject:
    """As JSON has it, within bounds: each update was, and all of them together must be too."""
    if faults := faults_in(extra):
        raise Invalid(
            faults=[
                Fault("", "" if name == WHOLE else name, message)
                for name, messages in faults.items()
                for message in messages
            ]
        )
    return as_json(extra)


def _refuse_ours(address: str | None) -> None:
    """Only the profile that shows a picture of our store may name it."""
    if address and is_own_path(address):
        raise Invalid.about("avatar", NOT_AN_ADDRESS)


def export_profile(
    files: FileStore, subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, Any]]:
    """An account's profile and avatar in its data export."""
    if not reader.has(Profile):
        return
    profiles = select(Profile.__table__).where(Profile.account_id == subject.id)
    for row in reader.rows(profiles):
        properties = {name: row[name] for name in sorted(PROPERTIES)}
        yield "profile.json", {**row["extra"], **properties}
        if (name := row["avatar_file"]) is not None:
            try:
                avatar = files.read(name)
            except FileMissing:
                continue
            yield f"avatar.{name.rpartition('.')[2]}", avatar
