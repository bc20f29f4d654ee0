from __future__ import annotations

from ..core.errors import NotFound


class TaskNotFound(NotFound):
    code = "task_not_found"
    detail = "Task not found"
