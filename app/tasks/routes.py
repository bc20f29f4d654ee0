from collections.abc import Sequence

from flask import request
from marshmallow import Schema

from ..core.context import current_frontdesk, service
from ..core.errors import QuotaReached
from ..core.keystore import KeystoreUnavailable
from ..core.types import Values
from ..core.web.blueprint import Blueprint
from ..core.web.fields import Page
from ..core.web.operation import anyone, example, raises
from ..core.web.request_data import takes
from ..core.web.responses import answers
from . import schemas
from .models import Task
from .schemas import Owner, TaskCreate, TaskNotFound, TaskRead, TaskUpdate, TooManyTasks
from .service import Tasks, assemble

blueprint = Blueprint("tasks", __name__, assemble=assemble, about="Tasks, a sample resource")


def create_schema() -> type[Schema]:
    return current_frontdesk.schemas.get("task_create", TaskCreate)


def update_schema() -> type[Schema]:
    return current_frontdesk.schemas.get("task_update", TaskUpdate)


@blueprint.get("/")
@anyone
@example(answer=[schemas.WATERED])
@takes(headers=Owner, query=Page)
@answers(200, TaskRead, paged=True)
def list_tasks(headers: Owner.Input, query: Page.Input) -> Sequence[Task]:
    """List tasks

    Returns the tasks of the owner in the header `X-Owner`.
    """
    return service(Tasks).page(headers["owner"], **query)


@blueprint.post("/")
@anyone
@example(json=schemas.WATER, answer=schemas.WATERED)
@raises(QuotaReached, TooManyTasks, KeystoreUnavailable)
@takes(headers=Owner, json=create_schema)
@answers(201, TaskRead)
def create_task(headers: Owner.Input, json: Values) -> Task:
    """Create a task"""
    return service(Tasks).create(headers["owner"], json, request.remote_addr or "")


@blueprint.get("/<row_id:task_id>")
@anyone
@example(answer=schemas.WATERED)
@raises(TaskNotFound)
@takes(headers=Owner)
@answers(200, TaskRead)
def get_task(task_id: int, headers: Owner.Input) -> Task:
    """Get a task"""
    return service(Tasks).get(headers["owner"], task_id)


@blueprint.patch("/<row_id:task_id>")
@anyone
@example(json=schemas.DONE, answer=schemas.WATERED_DONE)
@raises(TaskNotFound)
@takes(headers=Owner, json=update_schema)
@answers(200, TaskRead)
def update_task(task_id: int, headers: Owner.Input, json: Values) -> Task:
    """Update a task"""
    return service(Tasks).update(headers["owner"], task_id, json)


@blueprint.delete("/<row_id:task_id>")
@anyone
@example(answer=schemas.WATERED)
@raises(TaskNotFound)
@takes(headers=Owner)
@answers(200, TaskRead)
def delete_task(task_id: int, headers: Owner.Input) -> Task:
    """Delete and return a task"""
    return service(Tasks).delete(headers["owner"], task_id)
