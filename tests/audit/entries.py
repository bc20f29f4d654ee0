from __future__ import annotations

from typing import Any

from flask import Flask
from sqlalchemy import select

from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk


def records(app: Flask, **values: Any) -> list[AuditEntry]:
    """Return the stored entries with these values, the oldest first."""
    with app.app_context():
        found = select(AuditEntry).filter_by(**values).order_by(AuditEntry.id)
        return list(current_frontdesk.session.scalars(found))


def types(app: Flask, **values: Any) -> list[str]:
    return [each.type for each in records(app, **values)]
