"""Tasks: what may be done with them, and the limits that each request meets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, select

from ..core.context import Context
from ..core.db.transaction import AnySession, lock_name, lock_row, transaction
from ..core.errors import QuotaReached
from ..core.limits import RateLimit
from ..core.request import rate_limit_network
from ..core.types import JsonObject, Values
from .models import Task
from .schemas import TaskNotFound, TooManyTasks
from .settings import TasksSettings

# Nearer to the limit than this, creations of one owner wait for each other; further off, as many as
# are ever under way at once cannot reach it.
NEAR = 1_000


@dataclass(eq=False)
class Tasks:
    session: AnySession
    owner_limit: int
    creations: RateLimit

    def page(self, owner: str, offset: int, limit: int) -> Sequence[Task]:
        newest_last = select(Task).where(Task.owner == owner).order_by(Task.id)
        return self.session.scalars(newest_last.offset(offset).limit(limit)).all()

    def get(self, owner: str, task_id: int) -> Task:
        """Another owner's task is as absent as one that never was."""
        task = self.session.scalar(select(Task).where(Task.id == task_id, Task.owner == owner))
        if task is None:
            raise TaskNotFound
        return task

    def create(self, owner: str, fields: Values, address: str) -> Task:
        """The IP address is rate-limited because a client can name a new owner each time."""
        self.creations.count(rate_limit_network(address))
        with transaction(self.session):
            self._keep_within_limit(owner)
            # A host's schema need not know all that a task has.
            values = {"done": False, "priority": "normal", **_columns(fields)}
            task = Task(**values, owner=owner)
            self.session.add(task)
            self.session.flush()
            return task

    def update(self, owner: str, task_id: int, fields: Values) -> Task:
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

    def _keep_within_limit(self, owner: str) -> None:
        far = self.owner_limit - NEAR
        if far > 0 and not self._has(owner, far):
            return
        lock_name(self.session, Task, owner)
        if self._has(owner, self.owner_limit):
            raise QuotaReached

    def _has(self, owner: str, amount: int) -> bool:
        """By the index, no further than needed."""
        ids = select(Task.id).where(Task.owner == owner).order_by(Task.id)
        return self.session.scalar(ids.offset(amount - 1).limit(1)) is not None

    def _hold(self, owner: str, task_id: int) -> Task:
        """The task as it is now; whoever else would change or delete it waits for the commit."""
        lock_row(self.session, Task, and_(Task.id == task_id, Task.owner == owner))
        return self.get(owner, task_id)


def _columns(fields: Values) -> JsonObject:
    """A host's schema may load more than a task has, and never decides whose it is."""
    return {name: fields[name] for name in ("title", "done", "priority") if name in fields}


def assemble(context: Context) -> None:
    context.tables.add(Task)
    settings = context.settings.of(TasksSettings)
    creations = RateLimit(
        context.keystore, "task-create", settings.CREATE_LIMIT, error=TooManyTasks
    )
    context.add(Tasks(context.session, settings.OWNER_LIMIT, creations))
