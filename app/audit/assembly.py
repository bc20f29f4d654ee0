from __future__ import annotations

from ..core.context import Context
from ..core.records.recorder import Recorder
from .export import export_events
from .retention import RecordRetention
from .service import Records
from .settings import AuditSettings


def assemble(context: Context) -> None:
    context.exporters.append(export_events)
    context.add(Records(context.session, context.get(Recorder), context.clock))
    settings = context.settings.of(AuditSettings)
    retention = RecordRetention(context.session, context.clock, settings)
    context.add(retention)
    context.pruners["events"] = retention.prune
