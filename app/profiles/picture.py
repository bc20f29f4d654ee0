"""From the bytes that somebody sent to a picture that is safe to show.

Nothing of the sent file is passed on: the first frame is decoded, cut to a square, turned upright
and encoded anew. So scripts hidden in it, files appended to it and where it was taken are gone.
"""

from __future__ import annotations

import re
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from .errors import PictureRefused, PictureTooLarge

if TYPE_CHECKING:  # Pillow is heavy, and most requests have no picture
    from PIL.Image import Image

MOST_BYTES = 5 * 1024 * 1024
MOST_PIXELS = 40_000_000
MOST_SCANS = 50
SIDE = 512

_OPAQUE = 255
_TOO_MANY_PIXELS = "The picture has more than 40 megapixels."
# How a scan of a JPEG begins: marker, length, number of components.
_SCAN = re.compile(rb"\xff\xda\x00[\x08\x0a\x0c\x0e][\x01-\x04]")
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
# Before the fine resampling a large picture is thinned out to this side, so that no conversion of
# colours ever works on all of 40 megapixels.
_WORKING_SIDE = 4 * SIDE


class Picture(NamedTuple):
    """An encoded picture that we have made ourselves."""

    data: bytes
    content_type: str
    extension: str


def avatar_picture(sent: bytes) -> Picture:
    """Make the avatar from the sent file, whatever its name or declared type says it is."""
    if not sent:
        raise PictureRefused("The file is empty.")
    if len(sent) > MOST_BYTES:
        raise PictureTooLarge
    image = _decoded_square(sent)
    return _encoded(image)


def _decoded_square(sent: bytes) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(sent), formats=_FORMATS) as image:
            _refuse_bombs(image, sent)
            return _square(image)
    except PictureRefused:
        raise
    except UnidentifiedImageError:
        raise PictureRefused("Not a PNG, JPEG, WebP or GIF picture.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureRefused(_TOO_MANY_PIXELS) from None
    except Exception as error:  # on hostile bytes a decoder raises nearly anything
        raise PictureRefused("The picture is damaged.") from error


def _refuse_bombs(image: Image, sent: bytes) -> None:
    """Refuse what is small to send and dear to decode; only the header has been read so far."""
    if image.width * image.height > MOST_PIXELS:
        raise PictureRefused(_TOO_MANY_PIXELS)
    # Each scan of a progressive JPEG goes over all of its pixels; real ones have about ten.
    if sent.startswith(b"\xff\xd8") and len(_SCAN.findall(sent)) > MOST_SCANS:
        raise PictureRefused("The picture has too many scans.")


def _square(image: Image) -> Image:
    """The middle of the picture, upright, in plain colours and without metadata."""
    from PIL.Image import Resampling

    image.draft(None, (_WORKING_SIDE, _WORKING_SIDE))  # lets a JPEG be decoded at a smaller size
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    working = min(side, _WORKING_SIDE)
    middle = image.resize(
        (working, working), Resampling.NEAREST, box=(left, top, left + side, top + side)
    )
    final = min(side, SIDE)
    small = _plain_colours(middle).resize((final, final), Resampling.LANCZOS)
    upright = _upright(small)
    upright.info.clear()  # the encoders would write comment and colour profile from here
    return upright


def _plain_colours(image: Image) -> Image:
    """The picture as RGB, or as RGBA where something shows through."""
    if image.mode.startswith(("I", "F")):
        # Deeper than 8 bits: a plain conversion would cut off everything bright.
        image = image.point(lambda value: value * (1 / 256)).convert("L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    coloured = image.convert("RGBA")
    lowest_alpha = coloured.getchannel("A").getextrema()[0]
    return coloured.convert("RGB") if lowest_alpha == _OPAQUE else coloured


def _upright(image: Image) -> Image:
    from PIL import ImageOps

    # A camera that writes its EXIF block badly still took a good picture.
    with suppress(Exception):
        return ImageOps.exif_transpose(image)
    return image


def _encoded(image: Image) -> Picture:
    """PNG where something shows through, else JPEG: both are shown by everything."""
    file = BytesIO()
    if image.mode == "RGBA":
        image.save(file, "PNG", optimize=True)
        return Picture(file.getvalue(), "image/png", "png")
    image.save(file, "JPEG", quality=85, optimize=True)
    return Picture(file.getvalue(), "image/jpeg", "jpg")
