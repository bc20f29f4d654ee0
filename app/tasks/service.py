from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import and_, select

from ..core.races import lock_row
from ..core.transaction import AnySession, transaction
from .errors import TaskNotFound
from .models import Task


class Tasks:
    def __init__(self, session: AnySession) -> None:
        self.session = session

    def page(self, owner: str, offset: int, limit: int) -> Sequence[Task]:
        newest_last = select(Task).where(Task.owner == owner).order_by(Task.id)
        return self.session.scalars(newest_last.offset(offset).limit(limit)).all()

    def get(self, owner: str, task_id: int) -> Task:
        """Another owner's task is as absent as one that never was."""
        task = self.session.scalar(select(Task).where(Task.id == task_id, Task.owner == owner))
        if task is None:
            raise TaskNotFound
        return task

    def create(self, owner: str, fields: Mapping[str, Any]) -> Task:
        with transaction(self.session):
            # A host's schema need not know all that a task has.
            values = {"done": False, "priority": "normal", **_columns(fields)}
            task = Task(**values, owner=owner)
            self.session.add(task)
            self.session.flush()
            return task

    def update(self, owner: str, task_id: int, fields: Mapping[str, Any]) -> Task:
        with transaction(self.session):
            task = self._hold(owner, task_id)
            for name, value in _columns(fields).items():
                setattr(task, name, value)
            return task

    def delete(self, owner: str, task_id: int) -> Task:
        with transaction(self.session):
            task = self._hold(owner, task_id)
            self.session.delete(task)
            return task

    def _hold(self, owner: str, task_id: int) -> Task:
        """The task as it is now; whoever else would change or delete it waits for the commit."""
        lock_row(self.session, Task, and_(Task.id == task_id, Task.owner == owner))
        return self.get(owner, task_id)


def _columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A host's schema may load more than a task has, and never decides whose it is."""
    return {name: fields[name] for name in ("title", "done", "priority") if name in fields}
