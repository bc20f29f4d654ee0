"""Profiles: stored, read by permitted accounts, and exported."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Literal

from sqlalchemy import ColumnElement, exists, or_, select, true
from sqlalchemy.orm import aliased

from ..accounts.models import Viewer
from ..core.clock import Clock
from ..core.coded_messages import CodedMessage
from ..core.context import report_action
from ..core.data_export import DataSubject, ExportReader
from ..core.db.transaction import (
    AnySession,
    after_commit,
    insert_new,
    lock_or_raise,
    lock_row,
    transaction,
)
from ..core.errors import Fault, Invalid
from ..core.types import AccountKey, JsonObject, Values
from ..storage import FileMissing, FileStore
from ..workspaces.models import ACTIVE, Member, TokenMember
from .actions import PROFILE_CREATED, PROFILE_DELETED, PROFILE_UPDATED
from .errors import ProfileExists, ProfileNotFound
from .extra import WHOLE, as_json, find_errors
from .links import NOT_A_URL, is_picture_path, picture_name
from .models import PROPERTIES, Profile

# In every time zone, a date of birth is before the day after tomorrow (UTC).
_LATEST_BIRTH = timedelta(days=1)
# Administrators see whole profiles.
_MANAGERS = ("admin", "root")
# The ids identify the profile that the client requests.
_ALWAYS_SHOWN = frozenset(("id", "account_id"))


@dataclass(frozen=True)
class Visibility:
    rule: Literal["everyone", "workspaces", "private"]
    public_fields: frozenset[str] | None

    def condition(self, viewer: Viewer) -> ColumnElement[bool]:
        """Return the condition that the viewer may see a profile, for a query that reads
        profiles."""
        if self.rule == "everyone" or viewer.role in _MANAGERS:
            return true()
        is_own = Profile.account_id == viewer.id
        return is_own if self.rule == "private" else or_(is_own, _shares_workspace(viewer))

    def visible_names(self, viewer: Viewer) -> frozenset[str] | None:
        """Return the properties that the viewer may see of other accounts; None for all."""
        if self.public_fields is None or viewer.role in _MANAGERS:
            return None
        return self.public_fields | _ALWAYS_SHOWN

    def narrow(self, profile: Values, viewer: Viewer) -> Values:
        """Return the properties that the viewer may see."""
        names = self.visible_names(viewer)
        if names is None or viewer.id == profile["account_id"]:
            return profile
        return {name: value for name, value in profile.items() if name in names}


@dataclass(eq=False)
class Profiles:
    """Creates, finds, changes and deletes the profile of each account."""

    session: AnySession
    files: FileStore
    clock: Clock
    visibility: Visibility

    def get(
        self, account_id: AccountKey, within: int | None = None, viewer: Viewer | None = None
    ) -> Profile:
        """Return a profile that the viewer may see; with `within`, only of a workspace's member.
        Raises ProfileNotFound."""
        found = select(Profile).where(Profile.account_id == account_id)
        if within is not None:
            found = found.where(_is_member(account_id, within))
        if viewer is not None:
            found = found.where(self.visibility.condition(viewer))
        profile = self.session.scalar(found.execution_options(populate_existing=True))
        if profile is None:
            raise ProfileNotFound
        return profile

    def create(self, account_id: AccountKey, fields: Values) -> Profile:
        self._check_date_of_birth(fields)
        _reject_picture_path(fields.get("avatar"))
        with transaction(self.session):
            profile = self._insert(account_id, fields)
            if profile is None:
                raise ProfileExists
            return profile

    def update(self, account_id: AccountKey, fields: Values, within: int | None = None) -> Profile:
        """Change the given fields; additional properties are merged with the stored ones."""
        self._check_date_of_birth(fields)
        with transaction(self.session):
            profile = self._lock(account_id, within)
            changes = dict(fields)
            extra = _checked_extra({**profile.extra, **changes.pop("extra", {})})
            changed = []
            if "avatar" in changes and self._set_avatar_url(profile, changes.pop("avatar")):
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
        with transaction(self.session) as session:
            profile = self._lock(account_id)
            self._delete_after_commit(profile.avatar_file)
            session.delete(profile)
            report_action(session, PROFILE_DELETED, account_id=account_id)
            return profile

    def set_avatar_file(
        self, account_id: AccountKey, name: str, blank: Values | None = None
    ) -> Profile:
        """Set the stored picture of a profile. The former picture is deleted after the commit.

        A missing profile is created from `blank`.
        """
        with transaction(self.session) as session:
            if blank is not None and not lock_row(
                session, Profile, Profile.account_id == account_id
            ):
                self._insert(account_id, blank)
            profile = self._lock(account_id)
            self._delete_after_commit(profile.avatar_file)
            profile.avatar, profile.avatar_file = None, name
            profile.updated_at = self.clock.now()
            self._record_change(account_id, ["avatar"])
            return profile

    def delete_avatar_file(self, account_id: AccountKey) -> None:
        """Delete the picture of an account that is being deleted, after the commit."""
        with transaction(self.session) as session:
            name = session.scalar(
                select(Profile.avatar_file).where(Profile.account_id == account_id)
            )
            self._delete_after_commit(name)

    def _insert(self, account_id: AccountKey, fields: Values) -> Profile | None:
        """Insert a profile; return None if the account has one."""
        now = self.clock.now()
        values = {**fields, "extra": _checked_extra(fields.get("extra", {}))}
        profile = insert_new(
            self.session, Profile, **values, account_id=account_id, created_at=now, updated_at=now
        )
        if profile is not None:
            report_action(self.session, PROFILE_CREATED, account_id=account_id)
        return profile

    def _record_change(self, account_id: AccountKey, names: Collection[str]) -> None:
        """Report a change. Names of additional properties are not recorded: they are user input."""
        report_action(self.session, PROFILE_UPDATED, account_id=account_id, changed=sorted(names))

    def _lock(self, account_id: AccountKey, within: int | None = None) -> Profile:
        """Lock a profile until the commit and return it."""
        lock_or_raise(self.session, Profile, Profile.account_id == account_id, ProfileNotFound)
        return self.get(account_id, within)

    def _set_avatar_url(self, profile: Profile, url: str | None) -> bool:
        if url and profile.avatar_file and picture_name(url) == profile.avatar_file:
            return False  # the client has sent the stored picture's URL back
        _reject_picture_path(url)
        is_changed = profile.avatar_file is not None or profile.avatar != url
        self._delete_after_commit(profile.avatar_file)
        profile.avatar, profile.avatar_file = url, None
        return is_changed

    def _delete_after_commit(self, name: str | None) -> None:
        if name is not None:
            after_commit(self.session, partial(self.files.delete, name))

    def _check_date_of_birth(self, fields: Values) -> None:
        birth = fields.get("date_of_birth")
        if birth is not None and birth > (self.clock.now() + _LATEST_BIRTH).date():
            raise Invalid.about(
                "date_of_birth", CodedMessage("Lies in the future.", "in_the_future")
            )


def _shares_workspace(viewer: Viewer) -> ColumnElement[bool]:
    first, second = aliased(Member), aliased(Member)
    if isinstance(viewer, TokenMember):
        is_there = (first.workspace_id == viewer.workspace_id, first.status == ACTIVE)
        return exists().where(*is_there, first.account_id == Profile.account_id)
    return exists(
        select(1)
        .select_from(first)
        .join(second, second.workspace_id == first.workspace_id)
        .where(first.account_id == viewer.id, first.status == ACTIVE)
        .where(second.account_id == Profile.account_id, second.status == ACTIVE)
    )


def _is_member(account_id: AccountKey, workspace_id: int) -> ColumnElement[bool]:
    return exists().where(Member.account_id == account_id, Member.workspace_id == workspace_id)


def _checked_extra(extra: Values) -> JsonObject:
    """Return the additional properties as JSON. Raises Invalid: valid updates can exceed the limits
    together."""
    if faults := find_errors(extra):
        raise Invalid(
            faults=[
                Fault.of("", "" if name == WHOLE else name, message)
                for name, messages in faults.items()
                for message in messages
            ]
        )
    return as_json(extra)


def _reject_picture_path(url: str | None) -> None:
    """Raise Invalid for the path of a stored picture, which belongs to another profile."""
    if url and is_picture_path(url):
        raise Invalid.about("avatar", NOT_A_URL)


def export_profile(
    files: FileStore, subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, object]]:
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
