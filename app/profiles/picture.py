"""Turns uploaded bytes into a picture that is safe to show.

The first frame is decoded, cropped to a square, rotated upright and encoded again. So the result
has no hidden scripts, appended files or location of the photo.
"""

from __future__ import annotations

import re
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from .errors import PictureRefused

if TYPE_CHECKING:  # Pillow is heavy, and most requests have no picture
    from PIL.Image import Image

MAX_BYTES = 5 * 1024 * 1024
# The decoded size: a JPEG is decoded at a fraction of its size.
MAX_PIXELS = 16_000_000
MAX_JPEG_PIXELS = 40_000_000
MAX_MEMORY = 160 * 1024 * 1024
MAX_SCANS = 50
SIDE = 512
CONTENT_TYPES = {"jpg": "image/jpeg", "png": "image/png"}

_OPAQUE = 255
_TOO_MUCH_MEMORY = "The picture takes too much memory to decode."
# libwebp's memory: two canvases, the frame, Pillow's copy and its picture.
_WEBP_BYTES_PER_PIXEL = 21
# The beginning of a JPEG scan: marker, length, number of components.
_SCAN = re.compile(rb"\xff\xda\x00[\x08\x0a\x0c\x0e][\x01-\x04]")
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
# A large picture is reduced to this side before colors are converted and it is resampled.
_WORKING_SIDE = 4 * SIDE


class Picture(NamedTuple):
    data: bytes
    extension: str

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES[self.extension]


def avatar_picture(sent: bytes) -> Picture:
    """Return the avatar for an uploaded file. Its name and declared type are ignored."""
    from PIL import Image, UnidentifiedImageError

    try:
        _reject_large_webp(sent)
        with Image.open(BytesIO(sent), formats=_FORMATS) as image:
            _reject_bombs(image, sent)
            return _encoded(_square(image))
    except PictureRefused:
        raise
    except UnidentifiedImageError:
        raise PictureRefused("Not a PNG, JPEG, WebP or GIF picture.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_many_pixels(_max_pixels(sent)) from None
    except MemoryError:
        raise PictureRefused(_TOO_MUCH_MEMORY) from None
    except Exception as error:  # decoders raise all kinds of errors on malicious files
        raise PictureRefused("The picture is damaged.") from error


def _reject_large_webp(sent: bytes) -> None:
    """Reject large WebP files before Pillow opens them, which allocates two canvases."""
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
    if width * height > MAX_PIXELS:
        raise _too_many_pixels(MAX_PIXELS)
    if width * height * _WEBP_BYTES_PER_PIXEL > MAX_MEMORY:
        raise PictureRefused(f"{_TOO_MUCH_MEMORY} JPEG pictures may be larger.")


def _reject_bombs(image: Image, sent: bytes) -> None:
    """Reject small files that are expensive to decode; only the header has been read."""
    limit = _max_pixels(sent)
    if image.width * image.height > limit:
        raise _too_many_pixels(limit)
    # Each scan of a progressive JPEG covers all pixels. Real pictures have about ten scans.
    if _is_jpeg(sent) and len(_SCAN.findall(sent)) > MAX_SCANS:
        raise PictureRefused("The picture has too many scans.")
    coefficients = _coefficients(image)
    image.draft(None, (2 * SIDE, 2 * SIDE))  # a JPEG is decoded at a smaller size
    if image.width * image.height > MAX_PIXELS:
        raise _too_many_pixels(MAX_PIXELS)
    if 4 * image.width * image.height + coefficients > MAX_MEMORY:
        raise PictureRefused(_TOO_MUCH_MEMORY)


def _coefficients(image: Image) -> int:
    """Return the bytes for a progressive JPEG's coefficients, at any decoded size."""
    from PIL.JpegImagePlugin import JpegImageFile

    if not isinstance(image, JpegImageFile) or not image.info.get("progressive"):
        return 0
    across, down = (max(layer[side] for layer in image.layer) for side in (1, 2))
    samples = sum(layer[1] * layer[2] for layer in image.layer) / (across * down)
    return int(2 * samples * image.width * image.height)


def _is_jpeg(sent: bytes) -> bool:
    return sent.startswith(b"\xff\xd8")


def _max_pixels(sent: bytes) -> int:
    return MAX_JPEG_PIXELS if _is_jpeg(sent) else MAX_PIXELS


def _too_many_pixels(limit: int) -> PictureRefused:
    return PictureRefused(f"The picture has more than {limit // 1_000_000} megapixels.")


def _number(little_endian: bytes) -> int:
    return int.from_bytes(little_endian, "little")


def _square(image: Image) -> Image:
    """Return the middle of the picture, upright, in RGB or RGBA and without metadata."""
    from PIL.Image import Resampling

    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    working = min(side, _WORKING_SIDE)
    middle = image.resize(
        (working, working), Resampling.NEAREST, box=(left, top, left + side, top + side)
    )
    final = min(side, SIDE)
    small = _to_rgb(middle).resize((final, final), Resampling.LANCZOS)
    upright = _upright(small)
    upright.info.clear()  # encoders would write the comment and the color profile
    return upright


def _to_rgb(image: Image) -> Image:
    """Return the picture as RGB, or as RGBA if it is partly transparent."""
    if image.mode.startswith(("I", "F")):
        # More than 8 bits: a direct conversion would clip bright values.
        image = image.point(lambda value: value * (1 / 256)).convert("L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    converted = image.convert("RGBA")
    lowest_alpha = converted.getchannel("A").getextrema()[0]
    return converted.convert("RGB") if lowest_alpha == _OPAQUE else converted


def _upright(image: Image) -> Image:
    from PIL import ImageOps

    # A picture with invalid EXIF data is still accepted.
    with suppress(Exception):
        return ImageOps.exif_transpose(image)
    return image


def _encoded(image: Image) -> Picture:
    """Encode as PNG if the picture is partly transparent, else as JPEG."""
    file = BytesIO()
    if image.mode == "RGBA":
        image.save(file, "PNG", optimize=True)
        return Picture(file.getvalue(), "png")
    image.save(file, "JPEG", quality=85, optimize=True)
    return Picture(file.getvalue(), "jpg")
