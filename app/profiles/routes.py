from collections.abc import Mapping
from typing import Any

from flask import Response, request

from ..accounts.models import Viewer
from ..accounts.service import Accounts
from ..auth.caller import caller
from ..auth.scopes import PROFILES_READ, PROFILES_WRITE, scope
from ..core.context import service
from ..core.types import AccountKey, Values
from ..core.web.blueprint import Blueprint
from ..core.web.operation import anyone, example, raises, variables
from ..core.web.request_data import takes
from ..core.web.responses import AnswerWith, answers
from ..workspaces.guards import current_viewer
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
from .guards import (
    account_in_workspace_required,
    caller_in_workspace_required,
    limiting_workspace,
    root_required_for_root,
    self_or_roles_required,
)
from .models import Profile
from .picture import MAX_BYTES
from .service import Profiles

# The picture, and the rest of the form.
MAX_FORM_BYTES = MAX_BYTES + 64 * 1024

ProfileResponse = Mapping[str, Any] | AnswerWith

blueprint = Blueprint("profiles", __name__, needs=Accounts, about="Profiles and avatars")


def build_response(profile: Profile, viewer: Viewer | None = None) -> ProfileResponse:
    """Return what the read schema shows, limited to public fields for another viewer."""
    properties = schemas.to_properties(profile)
    if viewer is not None:
        properties = service(Profiles).visibility.narrow(properties, viewer)
    if schemas.read_schema() is schemas.ProfileRead:
        # The values need no conversion, and the schema's dump costs ten times as much.
        return AnswerWith(schemas.as_profile_read(properties), ready=True)
    return properties


@blueprint.get("")
@account_in_workspace_required
@scope(PROFILES_READ)
@example(answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@answers(200, schemas.read_schema)
def get_profile() -> ProfileResponse:
    """Get the caller's profile"""
    return build_response(service(Profiles).get(caller().account.id))


@blueprint.post("")
@account_in_workspace_required
@scope(PROFILES_WRITE)
@example(json=schemas.ADA, answer=schemas.ADA_READ)
@raises(ProfileExists)
@takes(json=schemas.create_schema)
@answers(200, schemas.read_schema)
def create_profile(json: Values) -> ProfileResponse:
    """Create the caller's profile"""
    return build_response(
        service(Profiles).create(
            caller().account.id, schemas.to_columns(schemas.create_schema, json)
        )
    )


@blueprint.put("")
@account_in_workspace_required
@scope(PROFILES_WRITE)
@example(json=schemas.MOVED, answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@takes(json=schemas.update_schema)
@answers(200, schemas.read_schema)
def update_profile(json: Values) -> ProfileResponse:
    """Change the given properties of the caller's profile"""
    return build_response(
        service(Profiles).update(
            caller().account.id, schemas.to_columns(schemas.update_schema, json)
        )
    )


@blueprint.delete("")
@account_in_workspace_required
@scope(PROFILES_WRITE)
@example(answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@answers(200, schemas.read_schema)
def delete_profile() -> ProfileResponse:
    """Delete and return the caller's profile"""
    return build_response(service(Profiles).delete(caller().account.id))


@blueprint.put("/avatar")
@account_in_workspace_required
@scope(PROFILES_WRITE)
@example(answer=schemas.WITH_PICTURE)
@raises(ProfileNotFound, PictureTooLarge, TooManyPictures, DecoderUnavailable, AvatarsUnsupported)
@takes(files=schemas.AvatarFile, max_body=MAX_FORM_BYTES)
@answers(200, schemas.read_schema)
def set_avatar(files: schemas.AvatarFile.Input) -> ProfileResponse:
    """Set the avatar of the caller's profile: PNG, JPEG, WebP or GIF, up to 5 MiB"""
    return build_response(
        service(Avatars).set(caller().account.id, files["avatar"], schemas.blank_profile())
    )


@blueprint.get("/avatars/<name>")
@anyone
@variables(name="File name from the URL of an avatar.")
@raises(PictureNotFound)
@answers(304, None, description="Not modified")
@answers(200, None, media=("image/jpeg", "image/png"))
def get_picture(name: str, **_mount: str) -> Response:
    """Get an avatar

    A profile has the URL. It needs no token, because an `<img>` sends none and the name is random.
    """
    picture = service(Avatars).read(name)
    response = Response(picture.data, mimetype=picture.content_type)
    response.headers.update(
        {
            "Cache-Control": "public, max-age=31536000, immutable",
            # A client on another origin may use cross-origin isolation.
            "Cross-Origin-Resource-Policy": "cross-origin",
            # A browser saves the file with this name.
            "Content-Disposition": f'inline; filename="{name}"',
        }
    )
    # A response cached for an <img> must not be used for a script's request.
    response.vary.add("Origin")
    response.set_etag(name)
    return response.make_conditional(request)  # type: ignore[return-value]


@blueprint.get("/<account_id:account_id>")
@caller_in_workspace_required
@scope(PROFILES_READ)
@variables(account_id="ID of an account (not of a profile).")
@example(answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@answers(200, schemas.read_schema)
def get_account_profile(account_id: AccountKey) -> ProfileResponse:
    """Get an account's profile"""
    viewer = current_viewer()
    return build_response(service(Profiles).get(account_id, limiting_workspace(), viewer), viewer)


@blueprint.put("/<account_id:account_id>")
@account_in_workspace_required
@self_or_roles_required("admin", "root")
@root_required_for_root
@scope(PROFILES_WRITE)
@variables(account_id="ID of an account (not of a profile).")
@example(json=schemas.MOVED, answer=schemas.ADA_READ)
@raises(ProfileNotFound)
@takes(json=schemas.update_schema)
@answers(200, schemas.read_schema)
def update_account_profile(account_id: AccountKey, json: Values) -> ProfileResponse:
    """Change an account's profile, as its owner or as an admin"""
    fields = schemas.to_columns(schemas.update_schema, json)
    return build_response(service(Profiles).update(account_id, fields, limiting_workspace()))
