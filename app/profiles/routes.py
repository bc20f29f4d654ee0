from __future__ import annotations

from typing import Any

from flask import Response, request

from ..accounts.needs import accounts_needed
from ..auth.guards import active_account_required, caller
from ..core.desk import service
from ..core.http.answering import answers
from ..core.http.blueprint import Blueprint
from ..core.http.operation import anyone, example, hidden, raises
from ..core.http.reading import takes
from .avatars import Avatars
from .errors import (
    PictureTooLarge,
    ProfileExists,
    ProfileNotFound,
    TooManyPictures,
)
from .guards import oneself_or_roles, scope, scoped
from .listeners import listen
from .models import Profile
from .picture import MOST_BYTES
from .schemas import AvatarFile, ProfileCreate, ProfileRead, ProfileUpdate
from .service import Profiles

ADA = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "date_of_birth": "1815-12-10",
    "gender": "female",
    "marital_status": "married",
    "city": "London",
    "nickname": "Countess",
}
ADA_READ = {
    "id": 5,
    "account_id": 3,
    **ADA,
    "phone": None,
    "address": None,
    "state": None,
    "country": None,
    "postal_code": None,
    "avatar": None,
    "bio": None,
    "created_at": "2030-01-01T12:00:00+00:00",
    "updated_at": "2030-01-01T12:00:00+00:00",
}
PICTURE = "https://api.example.com/api/v1/profiles/avatars/00112233445566778899aabbccddeeff.jpg"
# Room for the form around the picture.
MOST_FORM_BYTES = MOST_BYTES + 64 * 1024


blueprint = Blueprint("profiles", __name__, needs=(accounts_needed,))
blueprint.record_once(listen)


@blueprint.get("")
@active_account_required
@scoped
@example(answer=ADA_READ)
@raises(ProfileNotFound)
@answers(200, ProfileRead)
def read_own() -> Profile:
    """Read the caller's profile"""
    return service(Profiles).get(caller().id)


@blueprint.post("")
@active_account_required
@scoped
@example(json=ADA, answer=ADA_READ)
@raises(ProfileExists)
@takes(json=ProfileCreate)
@answers(200, ProfileRead)
def create_own(json: dict[str, Any]) -> Profile:
    """Create the caller's profile"""
    return service(Profiles).create(caller().id, json)


@blueprint.put("")
@active_account_required
@scoped
@example(json={"city": "London"}, answer=ADA_READ)
@raises(ProfileNotFound)
@takes(json=ProfileUpdate)
@answers(200, ProfileRead)
def update_own(json: dict[str, Any]) -> Profile:
    """Change the caller's profile; what is left out stays"""
    return service(Profiles).update(caller().id, json)


@blueprint.delete("")
@active_account_required
@scoped
@example(answer=ADA_READ)
@raises(ProfileNotFound)
@answers(200, ProfileRead)
def delete_own() -> Profile:
    """Delete the caller's profile; the answer is the deleted one"""
    return service(Profiles).delete(caller().id)


@blueprint.put("/avatar")
@active_account_required
@scoped
@example(answer={**ADA_READ, "avatar": PICTURE})
@raises(ProfileNotFound, PictureTooLarge, TooManyPictures)
@takes(files=AvatarFile, max_body=MOST_FORM_BYTES)
@answers(200, ProfileRead)
def set_avatar(files: dict[str, Any]) -> Profile:
    """Give the caller's profile a picture: PNG, JPEG, WebP or GIF, up to 5 MiB"""
    return service(Avatars).set(caller().id, files["avatar"])


@blueprint.get("/avatars/<name>")
@anyone
@hidden
def read_picture(name: str, **_mount: str) -> Response:
    """A picture. Its address comes with a profile; `<img>` sends no token, and nobody guesses it"""
    picture = service(Avatars).read(name)
    response = Response(picture.data, mimetype=picture.content_type)
    response.headers.update(
        {
            "Cache-Control": "public, max-age=31536000, immutable",
            # The client lives on another origin, and may isolate itself from all others.
            "Cross-Origin-Resource-Policy": "cross-origin",
        }
    )
    # One kept from an <img> must not be taken for one that a script may read.
    response.vary.add("Origin")
    response.set_etag(name)
    return response.make_conditional(request)  # type: ignore[return-value]


@blueprint.get("/<row_id:account_id>")
@active_account_required
@scoped
@example(answer=ADA_READ)
@raises(ProfileNotFound)
@answers(200, ProfileRead)
def read_other(account_id: int) -> Profile:
    """Read an account's profile, by the account's id"""
    return service(Profiles).get(account_id, scope())


@blueprint.put("/<row_id:account_id>")
@active_account_required
@scoped
@oneself_or_roles("admin", "root")
@example(json={"city": "London"}, answer=ADA_READ)
@raises(ProfileNotFound)
@takes(json=ProfileUpdate)
@answers(200, ProfileRead)
def update_other(account_id: int, json: dict[str, Any]) -> Profile:
    """Change an account's profile, by the account's id: one's own, or as an admin"""
    return service(Profiles).update(account_id, json, scope())
