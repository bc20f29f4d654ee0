"""The values of recipients' personal fields, and the fields of inbox items.

The text of an inbox item is stored once for all recipients. Its fields are filled in when the item
is read, with the recipient's current values.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select

from ..core.db.base import autocommit_engine
from ..core.db.id_lists import is_one_of
from ..core.db.transaction import AnySession
from ..core.types import AccountKey, AccountModel, JsonObject
from ..delivery.personal import FieldValues, fill_row
from ..profiles.models import Profile
from .models import Notification


@dataclass(frozen=True)
class PersonalFields:
    model: AccountModel
    database: Engine

    def read(self, ids: Collection[AccountKey]) -> Mapping[AccountKey, FieldValues]:
        with autocommit_engine(self.database).connect() as connection:
            return self.read_by(connection, ids)

    def read_by(
        self, session: AnySession | Connection, ids: Collection[AccountKey]
    ) -> Mapping[AccountKey, FieldValues]:
        account = self.model
        wanted = is_one_of(account.id, ids, self.database.dialect)
        columns = select(account.id, account.email, Profile.first_name, Profile.last_name)
        joined = columns.outerjoin(Profile, Profile.account_id == account.id).where(wanted)
        return {row[0]: _values(*row[1:]) for row in session.execute(joined)}

    def fill_items(
        self, session: AnySession, receiver_id: AccountKey, items: Iterable[JsonObject]
    ) -> None:
        """Fill in the fields of inbox items, of notifications that have personal fields."""
        by_id = {item["notification_id"]: item for item in items}
        is_personal = select(Notification.id).where(
            Notification.id.in_(list(by_id)), Notification.is_personal.is_(True)
        )
        personal = session.scalars(is_personal).all()
        values = self.read_by(session, [receiver_id]) if personal else {}
        for notification_id in personal:
            fill_row(by_id[notification_id], values.get(receiver_id, {}))


def _values(email: str, first_name: str | None, last_name: str | None) -> FieldValues:
    """Return the values, each on one line, since a title must not have line breaks."""
    first, last = (" ".join((name or "").split()) for name in (first_name, last_name))
    name = " ".join(filter(None, (first, last)))
    return {"first_name": first, "last_name": last, "name": name, "email": email}
