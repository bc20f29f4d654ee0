"""Schemas and errors of tasks, with the examples of the OpenAPI document."""

from typing import TypedDict

from marshmallow import Schema, fields

from ..core.errors import NotFound, TooManyRequests
from ..core.web.fields import RequestSchema, StrictBoolean, Text, response_field

OWNER_HEADER = "X-Owner"


class Owner(RequestSchema):
    class Input(TypedDict):
        owner: str

    owner = Text(
        data_key=OWNER_HEADER,
        min=1,
        max=255,
        load_default="anonymous",
        description="Owner of the tasks. This header is a sample and does not authenticate.",
    )


class TaskCreate(RequestSchema):
    title = Text(
        min=1,
        max=200,
        required=True,
        description="Title of the task.",
        metadata={"example": "Water the plants"},
    )
    done = StrictBoolean(load_default=False, description="Whether the task is done.")
    priority = Text(
        min=1,
        max=50,
        load_default="normal",
        description="Priority of the task, as free text.",
        metadata={"example": "high"},
    )


class TaskUpdate(RequestSchema):
    title = Text(min=1, max=200, description="Title of the task.")
    done = StrictBoolean(description="Whether the task is done.")
    priority = Text(min=1, max=50, description="Priority of the task, as free text.")


class TaskRead(Schema):
    id = response_field(fields.Integer, "ID of the task.")
    title = response_field(fields.String, "Title of the task.")
    done = response_field(fields.Boolean, "Whether the task is done.")
    priority = response_field(fields.String, "Priority of the task, as free text.")
    owner = response_field(fields.String, "Owner of the task.")


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
