from __future__ import annotations

from typing import Any

from flask import Flask
from sqlalchemy import select

from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk


def records(app: Flask, **facts: Any) -> list[AuditEntry]:
    """All that are stored, the oldest first; with facts, those that have them."""
    with app.app_context():
        found = select(AuditEntry).filter_by(**facts).order_by(AuditEntry.id)
        return list(current_frontdesk.session.scalars(found))


def types(app: Flask, **facts: Any) -> list[str]:
    return [each.type for each in records(app, **facts)]
