from __future__ import annotations

from ..core.errors import NotFound, TooManyRequests


class TaskNotFound(NotFound):
    code = "task_not_found"
    detail = "Task not found"


class TooManyTasks(TooManyRequests):
    code = "too_many_tasks"
    detail = "Too many new tasks"
