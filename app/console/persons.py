"""How people are called and pictured on pages."""

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


class Face(NamedTuple):
    name: str
    # Empty where there is none of ours: no page asks another host for anything.
    picture: str = ""


class Persons:
    def __init__(self, session: AnySession, model: Any) -> None:
        self.session = session
        self.model = model
        named: list[Any] = [Profile.first_name, Profile.last_name, Profile.avatar_file]
        self._rows = Rows(select(*named).where(Profile.account_id == bindparam("account_id")))

    def named(self, emails: Iterable[str]) -> dict[str, Face]:
        """Several of them, by their addresses, in one question."""
        wanted = list(emails)
        model = self.model
        rows = self.session.execute(
            select(model.email, Profile.first_name, Profile.last_name, Profile.avatar_file)
            .join(Profile, Profile.account_id == model.id)
            .where(model.email.in_(wanted))
        )
        found = {row[0]: person_of(*row) for row in rows}
        return {email: found.get(email) or Face(email) for email in wanted}

    def find(self, account: AccountLike) -> Face:
        """By the profile's name, and by the address where there is none."""
        rows = self._rows.read(self.session, account_id=account.id)
        return person_of(account.email, *rows[0]) if rows else Face(account.email)

    def find_all(self, ids: Iterable[Any]) -> dict[Any, Face]:
        """Those of these accounts that have a profile, in one query."""
        rows = self.session.execute(
            select(
                Profile.account_id, Profile.first_name, Profile.last_name, Profile.avatar_file
            ).where(Profile.account_id.in_(list(ids)))
        )
        return {serialize_id(account_id): person_of("", *named) for account_id, *named in rows}


def person_of(email: str, first: str | None, last: str | None, file: str | None) -> Face:
    name = " ".join(part for part in (first, last) if part)
    return Face(name or email, picture_path(file))


def picture_path(file: Any) -> str:
    if not file or PICTURE_ENDPOINT not in current_app.view_functions:
        return ""
    return url_for(PICTURE_ENDPOINT, name=file)
