"""The owner's profile. Properties that clients add to it stay unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson
from flask import Response
from marshmallow import Schema

from ...auth.caller import caller
from ...auth.decorators import active_account_required
from ...core.context import service
from ...core.types import JsonObject, Values
from ...core.web.request_data import schema_for, takes
from ...profiles import routes as profiles_api
from ...profiles.errors import ProfileNotFound
from ...profiles.guards import account_in_workspace_required
from ...profiles.models import PROPERTIES
from ...profiles.schemas import form_schema, form_update_schema, to_columns
from ...profiles.service import Profiles
from ..api_calls import ApiCall, console_form, get_from_api
from ..form_fields import FormField, form_fields
from ..forms import picture_errors
from ..links import redirect_to
from ..pages import render_page
from ..texts import _, mark


@active_account_required
def profile_page() -> Response:
    profile = _profile()
    schema = schema_for(form_schema if profile is None else form_update_schema)
    groups = field_groups(schema)
    return render_page(
        "owner/profile.html",
        profile=profile,
        groups=groups,
        others=_other_properties(profile or {}, groups),
    )


@console_form(page=profile_page)
@account_in_workspace_required
@takes(form=form_schema)
def make_profile(form: Values) -> Response:
    service(Profiles).create(caller().account.id, to_columns(form_schema, form))
    return redirect_to(".profile_page", _("Profile saved."))


@console_form(page=profile_page)
@account_in_workspace_required
@takes(form=form_update_schema)
def change_profile(form: Values) -> Response:
    service(Profiles).update(caller().account.id, to_columns(form_update_schema, form))
    return redirect_to(".profile_page", _("Profile saved."))


@console_form(profiles_api.delete_profile, page=profile_page)
def delete_profile(call_api: ApiCall) -> Response:
    call_api()
    return redirect_to(".profile_page", _("Profile deleted."))


@console_form(profiles_api.set_avatar, page=profile_page)
def set_avatar(call_api: ApiCall) -> Response:
    with picture_errors("avatar"):
        call_api()
    return redirect_to(".profile_page", _("Picture saved."))


@console_form(profiles_api.update_profile, page=profile_page)
def remove_avatar(call_api: ApiCall) -> Response:
    call_api(json={"avatar": None})
    return redirect_to(".profile_page", _("Picture removed."))


def _profile() -> JsonObject | None:
    try:
        found: JsonObject = get_from_api(profiles_api.get_profile)
    except ProfileNotFound:
        return None
    return found


def _other_properties(profile: Values, groups: list[Group]) -> list[tuple[str, str]]:
    """Return the properties that this page shows but does not change."""
    shown = {field.name for group in groups for field in group.fields} | PROPERTIES
    return [(name, _as_text(value)) for name, value in profile.items() if name not in shown]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


# The picture has its own form.
_SEPARATE_FORMS = frozenset(("avatar",))


class KnownField(NamedTuple):
    """How the form shows a built-in field; an application's schema can have more fields."""

    label: str
    # The autofill token.
    autocomplete: str = ""
    type: str = ""
    width: str = ""


_KNOWN_FIELDS: Mapping[str, KnownField] = {
    "first_name": KnownField(mark("First name"), "given-name"),
    "last_name": KnownField(mark("Last name"), "family-name"),
    "date_of_birth": KnownField(mark("Date of birth"), "bday"),
    "gender": KnownField(mark("Gender"), "sex"),
    "marital_status": KnownField(mark("Marital status")),
    "bio": KnownField(mark("Bio")),
    "phone": KnownField(mark("Phone"), "tel", "tel"),
    "address": KnownField(mark("Street and number"), "street-address"),
    "postal_code": KnownField(mark("Postal code"), "postal-code"),
    "city": KnownField(mark("City"), "address-level2"),
    "state": KnownField(mark("State or region"), "address-level1"),
    "country": KnownField(mark("Country"), "country-name"),
}
_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (mark("Name"), ("first_name", "last_name")),
    (mark("Personal details"), ("date_of_birth", "gender", "marital_status", "bio")),
    (mark("Contact"), ("phone", "address", "postal_code", "city", "state", "country")),
)
_GROUPED = frozenset(name for _title, names in _GROUPS for name in names)


class Group(NamedTuple):
    title: str
    fields: list[FormField]


def field_groups(schema: Schema) -> list[Group]:
    """Return the fields in groups, without empty groups; the application's fields come last."""
    found = {field.name: field for field in _fields_of(schema)}
    groups = [
        Group(_(title), [found[name] for name in names if name in found])
        for title, names in _GROUPS
    ]
    others = [field for name, field in found.items() if name not in _GROUPED]
    return [group for group in (*groups, Group(_("More"), others)) if group.fields]


def _fields_of(schema: Schema) -> Iterator[FormField]:
    for field in form_fields(schema.load_fields):
        known = _KNOWN_FIELDS.get(field.name)
        if not field.type or field.name in _SEPARATE_FORMS:
            continue
        if known is None:
            yield field
            continue
        yield field._replace(
            label=_(known.label),
            autocomplete=known.autocomplete or None,
            type=known.type or field.type,
        )
