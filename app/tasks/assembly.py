from __future__ import annotations

from ..core.context import Context
from ..core.limits import RateLimit
from .errors import TooManyTasks
from .models import Task
from .service import Tasks
from .settings import TasksSettings


def assemble(context: Context) -> None:
    context.bring(Task)
    settings = context.settings.of(TasksSettings)
    creations = RateLimit(
        context.keystore, "task-create", settings.CREATE_LIMIT, error=TooManyTasks
    )
    context.add(Tasks(context.session, settings.OWNER_LIMIT, creations))
