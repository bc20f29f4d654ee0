"""The fields of the profile's form, by the schema that is in force: a host's may have others, and
ask for other ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from marshmallow import Schema, fields, validate

from ..texts import _, later

# Which kinds of fields a form can have, and by what an answer is typed in.
_TYPES: tuple[tuple[type[fields.Field[Any]], str], ...] = (
    (fields.Date, "date"),
    (fields.Email, "email"),
    (fields.URL, "url"),
    (fields.Boolean, "checkbox"),
    (fields.Number, "number"),
    (fields.String, "text"),
)
# Longer ones are written in several lines.
ONE_LINE = 500
# The picture has a form of its own.
_ELSEWHERE = frozenset(("avatar",))


class Known(NamedTuple):
    label: str
    # What a browser fills in by itself.
    autocomplete: str = ""
    type: str = ""
    width: str = ""


_KNOWN: Mapping[str, Known] = {
    "first_name": Known(later("First name"), "given-name"),
    "last_name": Known(later("Last name"), "family-name"),
    "date_of_birth": Known(later("Date of birth"), "bday"),
    "gender": Known(later("Gender"), "sex"),
    "marital_status": Known(later("Marital status")),
    "bio": Known(later("About yourself")),
    "phone": Known(later("Phone"), "tel", "tel"),
    "address": Known(later("Street and number"), "street-address"),
    "postal_code": Known(later("Postal code"), "postal-code"),
    "city": Known(later("City"), "address-level2"),
    "state": Known(later("State or region"), "address-level1"),
    "country": Known(later("Country"), "country-name"),
}
_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (later("Name"), ("first_name", "last_name")),
    (later("About you"), ("date_of_birth", "gender", "marital_status", "bio")),
    (
        later("Where you are found"),
        ("phone", "address", "postal_code", "city", "state", "country"),
    ),
)
_GROUPED = frozenset(name for _title, names in _GROUPS for name in names)


class FormField(NamedTuple):
    name: str
    label: str
    type: str
    required: bool
    autocomplete: str | None
    maxlength: int | None
    # What may be chosen, where not everything may be.
    choices: list[Any]


class Group(NamedTuple):
    title: str
    fields: list[FormField]


def groups_of(schema: Schema) -> list[Group]:
    """Empty ones are left out; what we know nothing of comes last."""
    found = {field.name: field for field in _fields_of(schema)}
    groups = [
        Group(_(title), [found[name] for name in names if name in found])
        for title, names in _GROUPS
    ]
    others = [field for name, field in found.items() if name not in _GROUPED]
    return [group for group in (*groups, Group(_("More"), others)) if group.fields]


def _fields_of(schema: Schema) -> Iterator[FormField]:
    for attribute, field in schema.load_fields.items():
        name = field.data_key or attribute
        known = _KNOWN.get(name)
        kind = next((typed for base, typed in _TYPES if isinstance(field, base)), "")
        if not kind or name in _ELSEWHERE:
            continue
        longest = _longest(field)
        if known and known.type:
            kind = known.type
        elif kind == "text" and longest and longest > ONE_LINE:
            kind = "textarea"
        yield FormField(
            name,
            _(known.label) if known else _title_of(name, field),
            kind,
            field.required,
            (known.autocomplete if known else "") or None,
            longest,
            _choices(field),
        )


def _title_of(name: str, field: fields.Field[Any]) -> str:
    """In the host's own words, where its schema has some."""
    said = field.metadata.get("title")
    return _(str(said)) if said else name.replace("_", " ").capitalize()


def _longest(field: fields.Field[Any]) -> int | None:
    bounds = (each.max for each in field.validators if isinstance(each, validate.Length))
    return next((most for most in bounds if most), None)


def _choices(field: fields.Field[Any]) -> list[Any]:
    allowed = (each.choices for each in field.validators if isinstance(each, validate.OneOf))
    return list(next(allowed, ()))
