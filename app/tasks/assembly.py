from __future__ import annotations

from ..core.context import Context
from .models import Task
from .service import Tasks
from .settings import TasksSettings


def assemble(context: Context) -> None:
    context.bring(Task)
    limit = context.settings.of(TasksSettings).OWNER_LIMIT
    context.add(Tasks(context.session, limit))
