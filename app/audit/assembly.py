from __future__ import annotations

from ..core.context import Context
from .retention import RecordRetention
from .settings import AuditSettings


def assemble(context: Context) -> None:
    settings = context.settings.of(AuditSettings)
    context.add(RecordRetention(context.session, context.clock, settings))
