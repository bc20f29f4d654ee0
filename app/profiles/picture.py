"""Turns uploaded bytes into a picture that is safe to show.

Nothing of the sent file is passed on: the first frame is decoded, cut to a square, turned upright
and encoded anew. So scripts hidden in it, files appended to it and where it was taken are gone.
"""

from __future__ import annotations

import re
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from .errors import PictureRefused

if TYPE_CHECKING:  # Pillow is heavy, and most requests have no picture
    from PIL.Image import Image

MOST_BYTES = 5 * 1024 * 1024
# The decoded size: a JPEG is decoded at a fraction of its size.
MOST_PIXELS = 16_000_000
MOST_PIXELS_OF_A_JPEG = 40_000_000
MOST_MEMORY = 160 * 1024 * 1024
MOST_SCANS = 50
SIDE = 512
CONTENT_TYPES = {"jpg": "image/jpeg", "png": "image/png"}

_OPAQUE = 255
_TOO_MUCH_MEMORY = "The picture takes too much memory to decode."
# What libwebp has in hand at once: two canvases, the frame, Pillow's copy and its picture.
_WEBP_BYTES_PER_PIXEL = 21
# How a scan of a JPEG begins: marker, length, number of components.
_SCAN = re.compile(rb"\xff\xda\x00[\x08\x0a\x0c\x0e][\x01-\x04]")
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
# Before the fine resampling a large picture is thinned out to this side, so that no conversion of
# colours ever works on all of its pixels.
_WORKING_SIDE = 4 * SIDE


class Picture(NamedTuple):
    """An encoded picture that we have made ourselves."""

    data: bytes
    extension: str

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES[self.extension]


def avatar_picture(sent: bytes) -> Picture:
    """Make the avatar from the sent file, whatever its name or declared type says it is."""
    from PIL import Image, UnidentifiedImageError

    try:
        _refuse_large_webp(sent)
        with Image.open(BytesIO(sent), formats=_FORMATS) as image:
            _refuse_bombs(image, sent)
            return _encoded(_square(image))
    except PictureRefused:
        raise
    except UnidentifiedImageError:
        raise PictureRefused("Not a PNG, JPEG, WebP or GIF picture.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_many_pixels(_most_pixels(sent)) from None
    except MemoryError:
        raise PictureRefused(_TOO_MUCH_MEMORY) from None
    except Exception as error:  # on hostile bytes a decoder raises nearly anything
        raise PictureRefused("The picture is damaged.") from error


def _refuse_large_webp(sent: bytes) -> None:
    """Looked at before the file is opened, for which Pillow has two canvases made already."""
    match sent[12:16] if sent[8:12] == b"WEBP" else None:
        case b"VP8X":
            width, height = _number(sent[24:27]) + 1, _number(sent[27:30]) + 1
        case b"VP8L":
            sides = _number(sent[21:25])
            width, height = (sides & 0x3FFF) + 1, (sides >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = _number(sent[26:28]) & 0x3FFF, _number(sent[28:30]) & 0x3FFF
        case _:
            return
    if width * height > MOST_PIXELS:
        raise _too_many_pixels(MOST_PIXELS)
    if width * height * _WEBP_BYTES_PER_PIXEL > MOST_MEMORY:
        raise PictureRefused(f"{_TOO_MUCH_MEMORY} As a JPEG it may be larger.")


def _refuse_bombs(image: Image, sent: bytes) -> None:
    """Reject small files that are expensive to decode; only the header has been read."""
    most = _most_pixels(sent)
    if image.width * image.height > most:
        raise _too_many_pixels(most)
    # Each scan of a progressive JPEG goes over all of its pixels; real ones have about ten.
    if _is_jpeg(sent) and len(_SCAN.findall(sent)) > MOST_SCANS:
        raise PictureRefused("The picture has too many scans.")
    coefficients = _coefficients(image)
    image.draft(None, (2 * SIDE, 2 * SIDE))  # lets a JPEG be decoded at a smaller size
    if image.width * image.height > MOST_PIXELS:
        raise _too_many_pixels(MOST_PIXELS)
    if 4 * image.width * image.height + coefficients > MOST_MEMORY:
        raise PictureRefused(_TOO_MUCH_MEMORY)


def _coefficients(image: Image) -> int:
    """The bytes in which a progressive JPEG is kept whole, however small it is then drawn."""
    from PIL.JpegImagePlugin import JpegImageFile

    if not isinstance(image, JpegImageFile) or not image.info.get("progressive"):
        return 0
    across, down = (max(layer[side] for layer in image.layer) for side in (1, 2))
    samples = sum(layer[1] * layer[2] for layer in image.layer) / (across * down)
    return int(2 * samples * image.width * image.height)


def _is_jpeg(sent: bytes) -> bool:
    return sent.startswith(b"\xff\xd8")


def _most_pixels(sent: bytes) -> int:
    return MOST_PIXELS_OF_A_JPEG if _is_jpeg(sent) else MOST_PIXELS


def _too_many_pixels(most: int) -> PictureRefused:
    return PictureRefused(f"The picture has more than {most // 1_000_000} megapixels.")


def _number(little_endian: bytes) -> int:
    return int.from_bytes(little_endian, "little")


def _square(image: Image) -> Image:
    """The middle of the picture, upright, in plain colours and without metadata."""
    from PIL.Image import Resampling

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
        return Picture(file.getvalue(), "png")
    image.save(file, "JPEG", quality=85, optimize=True)
    return Picture(file.getvalue(), "jpg")
