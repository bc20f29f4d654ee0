"""Names and pictures of people on pages."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from flask import current_app, url_for
from sqlalchemy import bindparam, select

from ..accounts.models import AccountLike
from ..core.db.account_ids import serialize_id
from ..core.db.rows import Rows
from ..core.db.transaction import AnySession
from ..profiles.links import PICTURE_ENDPOINT
from ..profiles.models import Profile


class DisplayedPerson(NamedTuple):
    name: str
    # Empty unless this service stores the picture: pages load nothing from other sites.
    picture: str = ""


class People:
    def __init__(self, session: AnySession, model: Any) -> None:
        self.session = session
        self.model = model
        columns: list[Any] = [Profile.first_name, Profile.last_name, Profile.avatar_file]
        self._rows = Rows(select(*columns).where(Profile.account_id == bindparam("account_id")))

    def by_emails(self, emails: Iterable[str]) -> dict[str, DisplayedPerson]:
        """Return a person for each of these email addresses, in one query."""
        wanted = list(emails)
        model = self.model
        rows = self.session.execute(
            select(model.email, Profile.first_name, Profile.last_name, Profile.avatar_file)
            .join(Profile, Profile.account_id == model.id)
            .where(model.email.in_(wanted))
        )
        found = {row[0]: build_person(*row) for row in rows}
        return {email: found.get(email) or DisplayedPerson(email) for email in wanted}

    def by_account(self, account: AccountLike) -> DisplayedPerson:
        """Return the person of an account; without a profile, the name is the email address."""
        rows = self._rows.read(self.session, account_id=account.id)
        return build_person(account.email, *rows[0]) if rows else DisplayedPerson(account.email)

    def by_ids(self, ids: Iterable[Any]) -> dict[Any, DisplayedPerson]:
        """Return the persons of the accounts that have a profile, in one query."""
        rows = self.session.execute(
            select(
                Profile.account_id, Profile.first_name, Profile.last_name, Profile.avatar_file
            ).where(Profile.account_id.in_(list(ids)))
        )
        return {serialize_id(account_id): build_person("", *names) for account_id, *names in rows}


def build_person(
    email: str, first: str | None, last: str | None, file: str | None
) -> DisplayedPerson:
    name = " ".join(part for part in (first, last) if part)
    return DisplayedPerson(name or email, picture_path(file))


def picture_path(file: Any) -> str:
    if not file or PICTURE_ENDPOINT not in current_app.view_functions:
        return ""
    return url_for(PICTURE_ENDPOINT, name=file)
