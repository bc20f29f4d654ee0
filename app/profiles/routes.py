from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, request

from ..accounts.models import AccountLike
from ..accounts.service import Accounts
from ..auth.caller import caller
from ..auth.decorators import active_account_required
from ..core.context import service
from ..core.types import AccountKey, Loaded
from ..core.web.blueprint import Blueprint
from ..core.web.operation import anyone, example, raises, variables
from ..core.web.request_data import takes
from ..core.web.responses import answers, json_response
from . import schemas
from .avatars import Avatars
from .errors import (
    AvatarsUnsupported,
    DecoderUnavailable,
    PictureNotFound,
    PictureTooLarge,
    ProfileExists,
    ProfileNotFound,
    TooManyPictures,
)
from .guards import oneself_or_roles, root_by_root_alone, scope, scoped
from .models import Profile
from .picture import MOST_BYTES
from .schemas import (
    AvatarFile,
    ProfileRead,
    as_profile_read,
    blank_profile,
    create_schema,
    read_schema,
    to_show,
    to_store,
    update_schema,
)
from .service import Profiles
from .visibility import Visibility

# Room for the form around the picture.
MOST_FORM_BYTES = MOST_BYTES + 64 * 1024

Shown = Mapping[str, Any] | Response

blueprint = Blueprint("profiles", __name__, needs=Accounts, about="Who somebody is, and a picture")


def answer(profile: Profile, viewer: AccountLike | None = None) -> Shown:
    """What the read schema shows, to somebody else as much as may be seen."""
    properties = to_show(profile)
    if viewer is not None:
        properties = service(Visibility).narrow(properties, viewer)
    if read_schema() is ProfileRead:
        # Its values go out as they are: its own dump costs ten times as much.
        return json_response(as_profile_read(properties))
    return properties


@blueprint.get("")
@active_account_required
@scoped
@example(answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@answers(200, read_schema)
def get_profile() -> Shown:
    """Get the caller's profile"""
    return answer(service(Profiles).get(caller().account.id))


@blueprint.post("")
@active_account_required
@scoped
@example(json=schemas.ADA, answer=schemas.ADA_READ)
@raises(ProfileExists)
@takes(json=create_schema)
@answers(200, read_schema)
def create_profile(json: Loaded) -> Shown:
    """Create the caller's profile"""
    return answer(service(Profiles).create(caller().account.id, to_store(create_schema, json)))


@blueprint.put("")
@active_account_required
@scoped
@example(json=schemas.MOVED, answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@takes(json=update_schema)
@answers(200, read_schema)
def update_profile(json: Loaded) -> Shown:
    """Change the caller's profile; what is left out stays"""
    return answer(service(Profiles).update(caller().account.id, to_store(update_schema, json)))


@blueprint.delete("")
@active_account_required
@scoped
@example(answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@answers(200, read_schema)
def delete_profile() -> Shown:
    """Delete the caller's profile; the answer is the deleted one"""
    return answer(service(Profiles).delete(caller().account.id))


@blueprint.put("/avatar")
@active_account_required
@scoped
@example(answer=schemas.WITH_PICTURE)
@raises(ProfileNotFound, PictureTooLarge, TooManyPictures, DecoderUnavailable, AvatarsUnsupported)
@takes(files=AvatarFile, max_body=MOST_FORM_BYTES)
@answers(200, read_schema)
def set_avatar(files: Loaded) -> Shown:
    """Give the caller's profile a picture: PNG, JPEG, WebP or GIF, up to 5 MiB"""
    return answer(service(Avatars).set(caller().account.id, files["avatar"], blank_profile()))


@blueprint.get("/avatars/<name>")
@anyone
@raises(PictureNotFound)
@answers(304, None, description="The client has it already")
@answers(200, None, media=("image/jpeg", "image/png"))
def get_picture(name: str, **_mount: str) -> Response:
    """Get a picture

    Its address comes with a profile. An `<img>` sends no token, and nobody guesses the name.
    """
    picture = service(Avatars).read(name)
    response = Response(picture.data, mimetype=picture.content_type)
    response.headers.update(
        {
            "Cache-Control": "public, max-age=31536000, immutable",
            # The client lives on another origin, and may isolate itself from all others.
            "Cross-Origin-Resource-Policy": "cross-origin",
            # Whoever keeps it as a file keeps it by our name, and with the ending of its kind.
            "Content-Disposition": f'inline; filename="{name}"',
        }
    )
    # One kept from an <img> must not be taken for one that a script may read.
    response.vary.add("Origin")
    response.set_etag(name)
    return response.make_conditional(request)  # type: ignore[return-value]


@blueprint.get("/<account_id:account_id>")
@active_account_required
@scoped
@variables(account_id="The account's id, not the profile's")
@example(answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@answers(200, read_schema)
def get_account_profile(account_id: AccountKey) -> Shown:
    """Get an account's profile"""
    viewer = caller().account
    return answer(service(Profiles).get(account_id, scope(), viewer), viewer)


@blueprint.put("/<account_id:account_id>")
@active_account_required
@scoped
@oneself_or_roles("admin", "root")
@root_by_root_alone
@variables(account_id="The account's id, not the profile's")
@example(json=schemas.MOVED, answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@takes(json=update_schema)
@answers(200, read_schema)
def update_account_profile(account_id: AccountKey, json: Loaded) -> Shown:
    """Change an account's profile: the caller's own, or as an admin"""
    fields = to_store(update_schema, json)
    return answer(service(Profiles).update(account_id, fields, scope()))
