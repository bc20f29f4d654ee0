"""The owner's profile. What clients keep there beside its properties stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson
from flask import Response
from marshmallow import Schema, fields, validate

from ...auth.decorators import active_account_required
from ...core.errors import Fault, Problem, TooLarge
from ...core.types import JsonObject, Values
from ...core.web.operation import hidden
from ...core.web.request_data import schema_instance
from ...profiles import routes as profiles_api
from ...profiles.errors import PictureTooLarge, ProfileNotFound
from ...profiles.models import PROPERTIES
from ...profiles.schemas import create_schema, update_schema
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import page
from ..texts import _, later
from ..ways import go


@active_account_required
@hidden
def profile_page() -> Response:
    profile = _profile()
    schema = create_schema() if profile is None else update_schema()
    groups = groups_of(schema_instance(schema))
    return page(
        "owner/profile.html", profile=profile, groups=groups, others=_others(profile or {}, groups)
    )


@calls_api(profiles_api.create_profile, refused=profile_page)
def make_profile(call_api: ApiCall) -> Response:
    call_api()
    return go(".profile_page", _("Profile saved."))


@calls_api(profiles_api.update_profile, refused=profile_page)
def change_profile(call_api: ApiCall) -> Response:
    call_api()
    return go(".profile_page", _("Profile saved."))


@calls_api(profiles_api.delete_profile, refused=profile_page)
def delete_profile(call_api: ApiCall) -> Response:
    call_api()
    return go(".profile_page", _("Profile deleted."))


@calls_api(profiles_api.set_avatar, refused=profile_page)
def set_avatar(call_api: ApiCall) -> Response:
    try:
        call_api()
    except Problem as problem:
        # Whatever is wrong is wrong with the one field that there is.
        text = PictureTooLarge.detail if problem.status == TooLarge.status else problem.detail
        problem.faults = problem.faults or [Fault("files", "avatar", text)]
        raise
    return go(".profile_page", _("Picture saved."))


@calls_api(profiles_api.update_profile, refused=profile_page)
def remove_avatar(call_api: ApiCall) -> Response:
    call_api(json={"avatar": None})
    return go(".profile_page", _("Picture removed."))


def _profile() -> JsonObject | None:
    try:
        found: JsonObject = get_from_api(profiles_api.get_profile)
    except ProfileNotFound:
        return None
    return found


def _others(profile: Values, groups: list[Group]) -> list[tuple[str, str]]:
    """What is kept there by others than this page: shown, and left alone."""
    shown = {field.name for group in groups for field in group.fields} | PROPERTIES
    return [(name, _as_text(value)) for name, value in profile.items() if name not in shown]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


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
    """How the form shows a field of ours; an application's schema may have further ones."""

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
    "bio": Known(later("Bio")),
    "phone": Known(later("Phone"), "tel", "tel"),
    "address": Known(later("Street and number"), "street-address"),
    "postal_code": Known(later("Postal code"), "postal-code"),
    "city": Known(later("City"), "address-level2"),
    "state": Known(later("State or region"), "address-level1"),
    "country": Known(later("Country"), "country-name"),
}
_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (later("Name"), ("first_name", "last_name")),
    (later("Personal details"), ("date_of_birth", "gender", "marital_status", "bio")),
    (later("Contact"), ("phone", "address", "postal_code", "city", "state", "country")),
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
