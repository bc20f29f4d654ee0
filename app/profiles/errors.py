"""What can be wrong with a profile."""

from __future__ import annotations

from ..core.errors import Conflict, Fault, Invalid, NotFound, Problem, TooLarge, Unavailable


class ProfileNotFound(NotFound):
    code = "profile_not_found"
    detail = "Profile not found"


class ProfileExists(Conflict):
    code = "profile_exists"
    detail = "Profile already exists"


class PictureNotFound(NotFound):
    code = "picture_not_found"
    detail = "Picture not found"


class PictureRefused(Invalid):
    """The avatar file is not a picture that is taken; the message says why."""

    def __init__(self, message: str) -> None:
        super().__init__(faults=[Fault("", "avatar", message)])


class PictureTooLarge(TooLarge):
    detail = "The picture is larger than 5 MiB"


class TooManyPictures(Unavailable):
    code = "busy"
    detail = "Too many pictures at once"


class DecoderUnavailable(Unavailable):
    code = "decoder_unavailable"
    detail = "Pictures cannot be decoded at the moment"


class AvatarsUnsupported(Problem):
    """Pillow, which comes with an extra, is not installed."""

    status = 501
    code = "avatars_unsupported"
    detail = "Avatars are not supported here"
