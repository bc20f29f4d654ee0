"""Pictures made for the tests: good ones, odd ones and hostile ones."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image

RED, GREEN, BLUE, WHITE = (200, 20, 20), (20, 200, 20), (20, 20, 200), (255, 255, 255)


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def opened(data: bytes) -> Image.Image:
    image = Image.open(BytesIO(data))
    image.load()
    return image


def plain(kind: str, size: tuple[int, int] = (64, 48)) -> bytes:
    return saved(Image.new("RGB", size, RED), kind)


def quarters(size: tuple[int, int] = (60, 60)) -> Image.Image:
    """Red and green above, blue and white below: every turn and every mirroring shows."""
    image = Image.new("RGB", size, RED)
    half = (size[0] // 2, size[1] // 2)
    image.paste(GREEN, (half[0], 0, *size))
    image.paste(BLUE, (0, half[1], half[0], size[1]))
    image.paste(WHITE, (*half, *size))
    return image


def photograph(orientation: int, kind: str = "JPEG") -> bytes:
    """A picture as a telephone takes it: turned by a tag, and telling where and with what."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "SecretCameraMaker"
    exif.get_ifd(0x8825)[29] = "2001:01:01"  # in the GPS part
    turn_back = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]
    image = quarters()
    image = image if turn_back is None else image.transpose(turn_back)
    options: dict[str, Any] = {"quality": 95, "comment": b"SecretComment"} if kind == "JPEG" else {}
    return saved(image, kind, exif=exif.tobytes(), **options)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def hollow_png(width: int, height: int, body: bytes = b"") -> bytes:
    """A black-and-white picture of which only the header need be true."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def hollow_webp(width: int, height: int) -> bytes:
    """A WebP whose header tells of other sizes than its data."""
    whole = bytearray(saved(Image.new("RGB", (64, 64)), "WEBP", lossless=True))
    flags = int.from_bytes(whole[21:25], "little") & ~(2**28 - 1)
    whole[21:25] = (flags | (width - 1) | ((height - 1) << 14)).to_bytes(4, "little")
    return bytes(whole)


def hollow_gif(width: int, height: int) -> bytes:
    whole = bytearray(plain("GIF"))
    whole[6:10] = struct.pack("<HH", width, height)
    return bytes(whole)


def bomb_png(width: int = 13_340, height: int = 13_340) -> bytes:
    """A black-and-white picture of 178 megapixels in about 21 kB."""
    row = b"\x00" * (1 + (width + 7) // 8)
    return hollow_png(width, height, zlib.compress(row * height, 9))


def scan_bomb_jpeg(scans: int) -> bytes:
    """A progressive JPEG whose last scan comes again and again."""
    whole = saved(Image.new("L", (64, 64)), "JPEG", progressive=True)
    last_scan = whole[whole.rindex(b"\xff\xda") : -2]
    return whole[:-2] + last_scan * scans + whole[-2:]


def animated(kind: str) -> bytes:
    frames = [Image.new("RGB", (40, 40), colour) for colour in (RED, GREEN, BLUE)]
    options: dict[str, Any] = {"lossless": True} if kind == "WEBP" else {}
    return saved(
        frames[0], kind, save_all=True, append_images=frames[1:], duration=100, loop=0, **options
    )
