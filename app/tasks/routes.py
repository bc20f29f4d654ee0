from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marshmallow import Schema

from ..core.desk import current_desk, service
from ..core.http.answering import answers
from ..core.http.blueprint import Blueprint
from ..core.http.fields import Page
from ..core.http.operation import anyone, example, raises
from ..core.http.reading import takes
from .errors import TaskNotFound
from .models import Task
from .schemas import Owner, TaskCreate, TaskRead, TaskUpdate
from .service import Tasks

# Brought by the blueprint: a host that does not mount it may have a table `tasks` of its own.
blueprint = Blueprint("tasks", __name__, brings=(lambda desk: desk.add(Tasks(desk.session)),))

WATER = {"title": "Water the plants", "priority": "high"}
WATERED = {"id": 1, "done": False, "owner": "anonymous", **WATER}


def create_schema() -> type[Schema]:
    return current_desk.hooks.task_create_schema or TaskCreate


def update_schema() -> type[Schema]:
    return current_desk.hooks.task_update_schema or TaskUpdate


@blueprint.get("/")
@anyone
@example(answer=[WATERED])
@takes(headers=Owner, query=Page)
@answers(200, TaskRead, many=True)
def list_tasks(headers: dict[str, Any], query: dict[str, Any]) -> Sequence[Task]:
    """List the owner's tasks"""
    return service(Tasks).page(headers["owner"], **query)


@blueprint.post("/")
@anyone
@example(json=WATER, answer=WATERED)
@takes(headers=Owner, json=create_schema)
@answers(201, TaskRead)
def create_task(headers: dict[str, Any], json: dict[str, Any]) -> Task:
    """Create a task"""
    return service(Tasks).create(headers["owner"], json)


@blueprint.get("/<row_id:task_id>")
@anyone
@example(answer=WATERED)
@raises(TaskNotFound)
@takes(headers=Owner)
@answers(200, TaskRead)
def read_task(task_id: int, headers: dict[str, Any]) -> Task:
    """Read a task"""
    return service(Tasks).get(headers["owner"], task_id)


@blueprint.patch("/<row_id:task_id>")
@anyone
@example(json={"done": True}, answer={**WATERED, "done": True})
@raises(TaskNotFound)
@takes(headers=Owner, json=update_schema)
@answers(200, TaskRead)
def update_task(task_id: int, headers: dict[str, Any], json: dict[str, Any]) -> Task:
    """Change a task"""
    return service(Tasks).update(headers["owner"], task_id, json)


@blueprint.delete("/<row_id:task_id>")
@anyone
@example(answer=WATERED)
@raises(TaskNotFound)
@takes(headers=Owner)
@answers(200, TaskRead)
def delete_task(task_id: int, headers: dict[str, Any]) -> Task:
    """Delete a task; the answer is the deleted one"""
    return service(Tasks).delete(headers["owner"], task_id)
