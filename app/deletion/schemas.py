"""Schemas of requests and responses, errors, and the examples of the OpenAPI document."""

from typing import TypedDict

from ..auth.schemas import password_unless_fresh
from ..core.errors import Forbidden
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


class DeletionOff(Forbidden):
    code = "account_deletion_off"
    detail = "Accounts cannot be deleted by their owners here"
    title = "Account deletion is switched off"
    cause = "Accounts cannot be deleted by their owners: `AUTH__ACCOUNT_DELETION` is off."
    fix = "Ask an administrator to delete the account."
    security_event = ""


WITH_PASSWORD = {"password": "correct horse"}
ASKED = {
    "message": "The account will be deleted. The email has a link to keep it",
    "deletes_at": "2030-01-15T12:00:00+00:00",
}
GONE = {"message": "Account deleted"}
KEPT = {"message": "The account is kept"}
