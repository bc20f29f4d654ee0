from __future__ import annotations

from ..core.context import Context
from ..core.records.recorder import Recorder
from .retention import RecordRetention
from .service import Records
from .settings import AuditSettings


def assemble(context: Context) -> None:
    context.add(Records(context.session, context.get(Recorder), context.clock))
    settings = context.settings.of(AuditSettings)
    context.add(RecordRetention(context.session, context.clock, settings))
