"""Schemas of requests and responses, errors, and the examples of the OpenAPI document."""

from typing import TypedDict

from marshmallow import Schema, fields

from ..auth.schemas import password_unless_fresh
from ..core.errors import Conflict, NotFound, TooManyRequests
from ..core.web.fields import EnumField, NamedEnum, RequestSchema, Timestamp, response_field
from .models import STATES

EXPORT_STATE = NamedEnum("ExportState", STATES)


class ExportCreate(RequestSchema):
    class Input(TypedDict):
        password: str | None

    password = password_unless_fresh()


class ExportRead(Schema):
    id = response_field(fields.Integer, "ID of the data export.")
    state = response_field(EnumField, "State of the data export.", EXPORT_STATE)
    size = response_field(
        fields.Integer, "Size in bytes when the data export is ready.", allow_none=True
    )
    created_at = response_field(Timestamp, "When the data export was created.")
    expires_at = response_field(Timestamp, "When the data export is deleted.", allow_none=True)


class ExportNotFound(NotFound):
    code = "export_not_found"
    detail = "Export not found"
    title = "The data export does not exist"
    cause = "The account has no data export with this id, or the data export has expired."
    fix = "Request a new data export with `POST /account/exports`."


class ExportNotReady(Conflict):
    """The export is still being made, or has failed."""

    code = "export_not_ready"
    detail = "The export is not ready"
    title = "The data export is not ready"
    cause = "The data export is still being created, or its creation failed."
    fix = "Read the export's `status`, and download the export when it is ready."


class TooManyExports(TooManyRequests):
    code = "too_many_exports"
    detail = "An export was already requested today"
    title = "Too many data exports"
    cause = "The account has requested a data export within the last day."
    fix = "Download the existing data export, or wait for the number of seconds in `Retry-After`."


ASKED = {"password": "correct horse"}
PENDING = {
    "id": 1,
    "state": "pending",
    "size": None,
    "created_at": "2030-01-01T12:00:00+00:00",
    "expires_at": None,
}
READY = {**PENDING, "state": "ready", "size": 48213, "expires_at": "2030-01-08T12:00:04+00:00"}
