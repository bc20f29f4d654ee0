"""Names and pictures of people on pages."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from flask import current_app, url_for
from sqlalchemy import bindparam, select

from ..accounts.models import AccountLike, Viewer
from ..core.db.account_ids import serialize_id
from ..core.db.rows import Rows
from ..core.db.transaction import AnySession
from ..core.types import AccountKey, AccountModel
from ..profiles.links import PICTURE_ENDPOINT
from ..profiles.models import Profile
from ..profiles.service import Visibility


class DisplayedPerson(NamedTuple):
    name: str
    # Empty unless this service stores the picture: pages load nothing from other sites.
    picture: str = ""


_COLUMNS: tuple[Any, ...] = (Profile.first_name, Profile.last_name, Profile.avatar_file)


class People:
    def __init__(
        self, session: AnySession, model: AccountModel, visibility: Visibility, has_profiles: bool
    ) -> None:
        self.session = session
        self.model = model
        self.visibility = visibility
        # Whether pages show the names and pictures of profiles.
        self.has_profiles = has_profiles
        self._rows = Rows(select(*_COLUMNS).where(Profile.account_id == bindparam("account_id")))

    def by_emails(self, emails: Iterable[str], viewer: Viewer) -> dict[str, DisplayedPerson]:
        """Return a person for each of these email addresses, in one query, with what the viewer may
        see of the profile."""
        wanted = list(emails)
        if not self.has_profiles:
            return {email: DisplayedPerson(email) for email in wanted}
        model = self.model
        profiles = (
            select(model.email, Profile.account_id, *_COLUMNS)
            .join(Profile, Profile.account_id == model.id)
            .where(model.email.in_(wanted), self.visibility.condition(viewer))
        )
        found = {}
        for email, account_id, first, last, file in self.session.execute(profiles):
            known = {"account_id": account_id, "first_name": first, "last_name": last}
            shown = self.visibility.narrow({**known, "avatar": file}, viewer)
            names = (shown.get(name) for name in ("first_name", "last_name", "avatar"))
            found[email] = build_person(email, *names)
        return {email: found.get(email) or DisplayedPerson(email) for email in wanted}

    def by_account(self, account: AccountLike) -> DisplayedPerson:
        """Return the person of an account; without a profile, the name is the email address."""
        if not self.has_profiles:
            return DisplayedPerson(account.email)
        rows = self._rows.read(self.session, account_id=account.id)
        return build_person(account.email, *rows[0]) if rows else DisplayedPerson(account.email)

    def by_ids(self, ids: Iterable[AccountKey]) -> dict[AccountKey, DisplayedPerson]:
        """Return the persons of the accounts that have a profile, in one query."""
        if not self.has_profiles:
            return {}
        rows = self.session.execute(
            select(Profile.account_id, *_COLUMNS).where(Profile.account_id.in_(list(ids)))
        )
        return {serialize_id(account_id): build_person("", *names) for account_id, *names in rows}


def build_person(
    email: str, first: str | None, last: str | None, file: str | None
) -> DisplayedPerson:
    name = " ".join(part for part in (first, last) if part)
    return DisplayedPerson(name or email, picture_path(file))


def workspace_logo(workspace: Any) -> str:
    """Return the path of a workspace's logo, or an empty string."""
    return picture_path(workspace.logo_file)


def has_pictures() -> bool:
    """Return whether the application serves stored pictures."""
    return PICTURE_ENDPOINT in current_app.view_functions


def picture_path(file: object) -> str:
    if not file or not has_pictures():
        return ""
    return url_for(PICTURE_ENDPOINT, name=file)
