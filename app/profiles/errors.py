"""Errors of profiles and avatars."""

from ..core.errors import Busy, Conflict, Fault, Invalid, NotFound, Problem, TooLarge, Unavailable


class ProfileNotFound(NotFound):
    code = "profile_not_found"
    detail = "Profile not found"
    title = "The profile does not exist"
    cause = "The account has no profile, or the caller may not see the profile."
    fix = "Create your own profile with `POST /profiles`, or check the account id."


class ProfileExists(Conflict):
    code = "profile_exists"
    detail = "Profile already exists"
    title = "The profile already exists"
    cause = "The account has a profile already."
    fix = "Change the existing profile with `PUT /profiles`."


class PictureNotFound(NotFound):
    code = "picture_not_found"
    detail = "Picture not found"
    title = "The picture does not exist"
    cause = "No picture has this name, or it was replaced."
    fix = "Read the profile again for the current URL of the avatar."


class PictureRefused(Invalid):
    """The avatar file is rejected; the message has the reason."""

    cause = "The file is not a PNG, JPEG, WebP or GIF picture, or the picture has too many pixels."
    fix = "Send another file. `errors` has the reason."

    def __init__(self, message: str) -> None:
        super().__init__(
            faults=[Fault("", "avatar", message, "invalid_format", {"expected": "picture"})]
        )


class PictureTooLarge(TooLarge):
    detail = "The picture is larger than 5 MiB"
    cause = "The avatar file is larger than 5 MiB."
    fix = "Send a smaller file."


class TooManyPictures(Busy):
    detail = "Too many pictures at once"
    cause = "More avatars arrive at once than the server can decode."
    fix = "Wait for the number of seconds in `Retry-After`, then send the avatar again."


class DecoderUnavailable(Unavailable):
    code = "decoder_unavailable"
    detail = "Pictures cannot be decoded at the moment"
    title = "The picture decoder is unavailable"
    cause = "The process that decodes pictures does not run."
    fix = (
        "Wait for the number of seconds in `Retry-After`, then send the avatar again. Operators"
        " find the cause in the log."
    )


class AvatarsUnsupported(Problem):
    """Pillow is not installed; an extra installs it."""

    status = 501
    code = "avatars_unsupported"
    detail = "Avatars are not supported here"
    title = "Avatars are not supported"
    cause = "The extra `[avatars]` is not installed."
    fix = "Operators install `flask-frontdesk[avatars]`."
