"""Schemas of requests and responses, errors, and the examples of the OpenAPI document."""

from typing import TypedDict

from ..auth.schemas import password_unless_fresh
from ..core.web.fields import Message, RequestSchema, Timestamp, response_field


class DeleteAccount(RequestSchema):
    class Meta(RequestSchema.Meta):
        # Some clients and proxies remove the body of a DELETE.
        may_be_missing = True

    class Input(TypedDict):
        password: str | None

    password = password_unless_fresh()


class DeletionRead(Message):
    deletes_at = response_field(
        Timestamp, "When the account is deleted; until then it can be restored."
    )


WITH_PASSWORD = {"password": "correct horse"}
ASKED = {
    "message": "The account will be deleted. The email has a link to keep it",
    "deletes_at": "2030-01-15T12:00:00+00:00",
}
GONE = {"message": "Account deleted"}
KEPT = {"message": "The account is kept"}
