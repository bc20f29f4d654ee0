"""The fields of an application's schema in forms, and its columns on the pages of accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from marshmallow import fields, validate

from ..accounts.own_columns import own_names
from ..accounts.schemas import AccountRead, own_fields, own_schema
from ..accounts.service import Accounts
from ..auth.schemas import account_read
from ..core.context import current_frontdesk, service
from ..core.types import AccountKey, JsonObject
from ..core.web.request_data import schema_instance
from .texts import _

# The input type for each type of field.
_TYPES: tuple[tuple[type[fields.Field[Any]], str], ...] = (
    (fields.Date, "date"),
    (fields.Email, "email"),
    (fields.URL, "url"),
    (fields.Boolean, "checkbox"),
    (fields.Number, "number"),
    (fields.String, "text"),
)
# Longer texts get a text area.
MAX_ONE_LINE = 500


class FormField(NamedTuple):
    name: str
    label: str
    # Empty for a type of field that has no input type.
    type: str
    required: bool
    autocomplete: str | None
    maxlength: int | None
    # The allowed values, if they are limited.
    choices: list[object]


def build_field(attribute: str, field: fields.Field[Any]) -> FormField:
    """Return how a form shows a field of a schema."""
    name, longest = field.data_key or attribute, _max_length(field)
    kind = next((typed for base, typed in _TYPES if isinstance(field, base)), "")
    if kind == "text" and longest and longest > MAX_ONE_LINE:
        kind = "textarea"
    label = _field_label(name, field)
    return FormField(name, label, kind, field.required, None, longest, _choices(field))


def _field_label(name: str, field: fields.Field[Any]) -> str:
    """Return the title in the application's schema, otherwise a label made of the name."""
    title = field.metadata.get("title")
    return _(str(title)) if title else name.replace("_", " ").capitalize()


def _max_length(field: fields.Field[Any]) -> int | None:
    bounds = (each.max for each in field.validators if isinstance(each, validate.Length))
    return next((most for most in bounds if most), None)


def _choices(field: fields.Field[Any]) -> list[object]:
    allowed = (each.choices for each in field.validators if isinstance(each, validate.OneOf))
    return list(next(allowed, ()))


def form_fields(declared: Mapping[str, fields.Field[Any]]) -> list[FormField]:
    return [build_field(name, field) for name, field in declared.items()]


def own_details(account_id: AccountKey, *, may_change: bool) -> JsonObject:
    """Return the columns that the application's schemas of an account return and change: the fields
    of a form with their values, and the labels and values of the others."""
    reads = own_names(current_frontdesk.schemas.get("account"), AccountRead)
    changes = own_fields("account_update")
    details: JsonObject = {"fields": [], "current": {}, "others": []}
    if not reads and not changes:
        return details
    account = service(Accounts).by_id(account_id)
    returned = schema_instance(account_read())
    shown = {
        name: field
        for name, field in returned.dump_fields.items()
        if name in reads and hasattr(account, field.attribute or name)
    }
    values = details["current"] = schema_instance(own_schema("account_update")).dump(account)
    texts = {**returned.dump(account), **values}
    for name, declared in {**shown, **changes}.items():
        field = build_field(name, declared)
        if may_change and name in changes:
            # An empty input is sent as null, and ignored where the schema allows no null.
            stays = values.get(field.name) not in (None, "") and not declared.allow_none
            details["fields"].append(field._replace(required=field.required or stays))
        elif field.name in texts:
            details["others"].append((field.label, texts[field.name]))
    return details
