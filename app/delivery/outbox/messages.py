from __future__ import annotations

from collections.abc import Mapping

import orjson
from sqlalchemy import Connection, select

from ..message import StoredMessage
from .models import OutgoingMessage


def stored_messages(connection: Connection, ids: set[int]) -> Mapping[int, StoredMessage]:
    columns = OutgoingMessage.__table__.c
    rows = connection.execute(
        select(
            columns.id,
            columns.title,
            columns.message,
            columns.created_at,
            columns.template_file,
            columns.context,
        ).where(columns.id.in_(ids))
    )
    return {
        row.id: StoredMessage(
            id=row.id,
            title=row.title,
            message=row.message,
            created_at=row.created_at,
            template_file=row.template_file,
            context=orjson.loads(row.context) if row.context else {},
        )
        for row in rows
    }
