"""Messages of validation errors, with the code and the params that programs read."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

from .types import Values

# The code of an error of an application's own validator.
INVALID = "invalid"


class CodedMessage(str):
    """A message for marshmallow's `ValidationError`, which stores nothing but messages: this one
    carries the code of the error and its params, without the value that was sent."""

    __slots__ = ("code", "params")

    code: str
    params: Values

    def __new__(cls, text: str, code: str = INVALID, /, **params: object) -> Self:
        message = super().__new__(cls, text)
        message.code, message.params = code, params
        return message

    def format(self, *args: object, **values: object) -> Self:
        """Fill in the placeholders, as marshmallow does for the messages of a field."""
        return type(self)(super().format(*args, **values), self.code, **self.params)


class ValidationMessage(CodedMessage):
    """A message for marshmallow's `ValidationError`, with the code of the error and its params.

    Raise it in a validator, or use it in the `error_messages` of a field. The 422 response has the
    code and the params next to the message. A message that is a plain string has the code
    `invalid`. The console shows the message.

    Args:
        text: Sentence for people.
        code: A code of Frontdesk, or your own.
        params: What a client needs to write its own text, such as `min` and `max`. Do not pass the
            value that was sent, which can be a secret.

    Example::

        def is_weekday(day):
            if day.weekday() > 4:
                raise ValidationError(ValidationMessage("Must be a weekday.", "not_a_weekday"))
    """

    __slots__ = ()


REQUIRED = CodedMessage("Missing data for required field.", "required")
DISABLED = CodedMessage("This method is disabled.", "unknown_field")
BLANK = CodedMessage("Must not be blank.", "blank")
NOT_STORABLE = CodedMessage(
    "Contains characters that cannot be stored.", "invalid_format", expected="text"
)
UNCHANGED = CodedMessage("Must differ from the current value.", "repeated")
NOT_A_PLACE = CodedMessage("Not a place in this list.", "invalid_format", expected="cursor")


def not_together(others: str) -> CodedMessage:
    """Return the message for a field that was sent with another one that excludes it."""
    return CodedMessage(f"Not together with {others}.", "too_many", max=1)


def exactly_one(text: str, given: Collection[str]) -> CodedMessage | None:
    """Return the message for alternatives of which not exactly one was sent, otherwise None."""
    if len(given) == 1:
        return None
    return CodedMessage(text, "too_many", max=1) if given else CodedMessage(text, "required")
