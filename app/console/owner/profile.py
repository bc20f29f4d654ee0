"""The owner's profile. What clients keep there beside its properties stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Response

from ...auth.guards import active_account_required
from ...core.errors import Fault, Problem, TooLarge
from ...core.web.operation import hidden
from ...core.web.reading import instance
from ...profiles import routes as profiles_api
from ...profiles.errors import PictureTooLarge, ProfileNotFound
from ...profiles.models import PROPERTIES
from ...profiles.schemas import create_schema, update_schema
from ..api_calls import ApiCall, calls_api, get_from_api
from ..pages import page
from ..texts import _
from ..ways import go
from .profile_fields import Group, groups_of


@active_account_required
@hidden
def profile_page() -> Response:
    profile = _profile()
    schema = create_schema() if profile is None else update_schema()
    groups = groups_of(instance(schema))
    return page(
        "owner/profile.html",
        profile=profile,
        groups=groups,
        others=_others(profile or {}, groups),
    )


@calls_api(profiles_api.create_profile, refused=profile_page)
def make_profile(call_api: ApiCall) -> Response:
    call_api()
    return go(".profile_page", _("Your profile is saved."))


@calls_api(profiles_api.update_profile, refused=profile_page)
def change_profile(call_api: ApiCall) -> Response:
    call_api()
    return go(".profile_page", _("Your profile is saved."))


@calls_api(profiles_api.delete_profile, refused=profile_page)
def delete_profile(call_api: ApiCall) -> Response:
    call_api()
    return go(".profile_page", _("Your profile is deleted."))


@calls_api(profiles_api.set_avatar, refused=profile_page)
def set_avatar(call_api: ApiCall) -> Response:
    try:
        call_api()
    except Problem as problem:
        # Whatever is wrong is wrong with the one field that there is.
        text = PictureTooLarge.detail if problem.status == TooLarge.status else problem.detail
        problem.faults = problem.faults or [Fault("files", "avatar", text)]
        raise
    return go(".profile_page", _("Your picture is saved."))


@calls_api(profiles_api.update_profile, refused=profile_page)
def remove_avatar(call_api: ApiCall) -> Response:
    call_api(json={"avatar": None})
    return go(".profile_page", _("Your picture is removed."))


def _profile() -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = get_from_api(profiles_api.get_profile)
    except ProfileNotFound:
        return None
    return found


def _others(profile: Mapping[str, Any], groups: list[Group]) -> list[tuple[str, str]]:
    """What is kept there by others than this page: shown, and left alone."""
    shown = {field.name for group in groups for field in group.fields} | PROPERTIES
    return [(name, _as_text(value)) for name, value in profile.items() if name not in shown]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
