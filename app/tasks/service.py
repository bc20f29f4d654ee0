"""Creates, finds, changes and deletes tasks, within limits for each owner and IP address."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, select

from ..core.context import Context
from ..core.db.transaction import AnySession, lock_or_raise, transaction
from ..core.limits import RateLimit, check_quota, has_rows
from ..core.request import rate_limit_network
from ..core.types import JsonObject, Values
from ..core.web.operation import PathVariable, RequestHeader
from .models import Task
from .schemas import OWNER_HEADER, TaskNotFound, TooManyTasks
from .settings import TasksSettings

# Within this distance of the limit, creations for one owner are serialized. Further away, too few
# requests run at once to reach the limit.
LOCKING_DISTANCE = 1_000


@dataclass(eq=False)
class Tasks:
    session: AnySession
    owner_limit: int
    creations: RateLimit

    def page(self, owner: str, offset: int, limit: int) -> Sequence[Task]:
        newest_last = select(Task).where(Task.owner == owner).order_by(Task.id)
        return self.session.scalars(newest_last.offset(offset).limit(limit)).all()

    def get(self, owner: str, task_id: int) -> Task:
        """Return the owner's task. Raises TaskNotFound, also for another owner's task."""
        task = self.session.scalar(select(Task).where(Task.id == task_id, Task.owner == owner))
        if task is None:
            raise TaskNotFound
        return task

    def create(self, owner: str, fields: Values, address: str) -> Task:
        """The IP address is rate-limited because a client can name a new owner each time."""
        self.creations.count(rate_limit_network(address))
        with transaction(self.session) as session:
            self._check_limit(owner)
            # An application's schema may have fewer properties than a task.
            values = {"done": False, "priority": "normal", **_columns(fields)}
            task = Task(**values, owner=owner)
            session.add(task)
            session.flush()
            return task

    def update(self, owner: str, task_id: int, fields: Values) -> Task:
        with transaction(self.session):
            task = self._lock(owner, task_id)
            for name, value in _columns(fields).items():
                setattr(task, name, value)
            return task

    def delete(self, owner: str, task_id: int) -> Task:
        with transaction(self.session) as session:
            task = self._lock(owner, task_id)
            session.delete(task)
            return task

    def _check_limit(self, owner: str) -> None:
        safe = self.owner_limit - LOCKING_DISTANCE
        if safe > 0 and not has_rows(self.session, Task, safe, Task.owner == owner):
            return
        check_quota(self.session, Task, owner, self.owner_limit, Task.owner == owner)

    def _lock(self, owner: str, task_id: int) -> Task:
        """Lock the owner's task until the commit and return it as stored."""
        is_this = and_(Task.id == task_id, Task.owner == owner)
        lock_or_raise(self.session, Task, is_this, TaskNotFound)
        return self.get(owner, task_id)


def _columns(fields: Values) -> JsonObject:
    """Return the columns. An application's schema may load other values, also an owner."""
    return {name: fields[name] for name in ("title", "done", "priority") if name in fields}


def assemble(context: Context) -> None:
    context.tables.add(Task)
    context.contribute(RequestHeader(OWNER_HEADER), PathVariable("task_id", "ID of the task."))
    settings = context.settings.of(TasksSettings)
    creations = RateLimit(
        context.keystore, "task-create", settings.CREATE_LIMIT, error=TooManyTasks
    )
    context.add(Tasks(context.session, settings.OWNER_LIMIT, creations))
