"""Message-IDs of broadcasts.

They differ from those of other installations with the same sender domain. All attempts of a
delivery have the same one, so that a provider can drop duplicates.
"""

import hmac
import secrets
from datetime import datetime

from sqlalchemy import Engine, SmallInteger, String, select
from sqlalchemy.orm import Mapped, mapped_column

from ...core.clock import Clock
from ...core.db.base import Base, UtcDateTime, autocommit_engine, dialect_insert

# The table has this one row.
_ROW = 1


class Installation(Base):
    __tablename__ = "frontdesk_installation"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    secret: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class MessageIds:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._secret: bytes | None = None

    def derive(self, key: str) -> str:
        """Return the left part of the Message-ID for the delivery with this key."""
        if self._secret is None:
            self._secret = self._load().encode()
        return hmac.digest(self._secret, key.encode(), "sha256").hex()[:32]

    def _load(self) -> str:
        """Return the secret, created by the first process that sends. Two processes that start
        together use the stored secret."""
        stored = select(Installation.secret).where(Installation.id == _ROW)
        with autocommit_engine(self._engine).connect() as connection:
            found: str | None = connection.execute(stored).scalar_one_or_none()
            if found is not None:
                return found
            new = {"id": _ROW, "secret": secrets.token_hex(32), "created_at": self._clock.now()}
            insert = dialect_insert(connection.dialect)(Installation).values(new)
            connection.execute(insert.on_conflict_do_nothing())
            return str(connection.execute(stored).scalar_one())
