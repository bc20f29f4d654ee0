"""Schemas and errors of tasks, with the examples of the OpenAPI document."""

from __future__ import annotations

from marshmallow import Schema, fields

from ..core.errors import NotFound, TooManyRequests
from ..core.web.fields import RequestSchema, StrictBoolean, Text


class Owner(RequestSchema):
    owner = Text(
        data_key="X-Owner",
        min=1,
        max=255,
        load_default="anonymous",
        metadata={
            "description": "Owner of the tasks. This header is a sample and does not authenticate."
        },
    )


class TaskCreate(RequestSchema):
    title = Text(
        min=1,
        max=200,
        required=True,
        metadata={"description": "Title of the task.", "example": "Water the plants"},
    )
    done = StrictBoolean(load_default=False, metadata={"description": "Whether the task is done."})
    priority = Text(
        min=1,
        max=50,
        load_default="normal",
        metadata={"description": "Priority of the task, as free text.", "example": "high"},
    )


class TaskUpdate(RequestSchema):
    title = Text(min=1, max=200, metadata={"description": "Title of the task."})
    done = StrictBoolean(metadata={"description": "Whether the task is done."})
    priority = Text(min=1, max=50, metadata={"description": "Priority of the task, as free text."})


class TaskRead(Schema):
    id = fields.Integer(required=True, metadata={"description": "ID of the task."})
    title = fields.String(required=True, metadata={"description": "Title of the task."})
    done = fields.Boolean(required=True, metadata={"description": "Whether the task is done."})
    priority = fields.String(
        required=True, metadata={"description": "Priority of the task, as free text."}
    )
    owner = fields.String(required=True, metadata={"description": "Owner of the task."})


class TaskNotFound(NotFound):
    code = "task_not_found"
    detail = "Task not found"
    title = "The task does not exist"
    cause = "No task has this id, or the task belongs to another owner."
    fix = "List the tasks with `GET /tasks/`, with the same `X-Owner`."


class TooManyTasks(TooManyRequests):
    code = "too_many_tasks"
    detail = "Too many new tasks"
    title = "Too many new tasks"
    cause = "More tasks were created from one IP address than `TASKS__CREATE_LIMIT` allows."
    fix = "Wait for the number of seconds in `Retry-After`."


WATER = {"title": "Water the plants", "priority": "high"}
WATERED = {"id": 1, "done": False, "owner": "anonymous", **WATER}
DONE = {"done": True}
WATERED_DONE = {**WATERED, **DONE}
