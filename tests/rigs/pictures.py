"""Images for the tests: valid, unusual and malicious ones."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
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
    """Return an image with four colors, which shows each rotation and reflection."""
    image = Image.new("RGB", size, RED)
    half = (size[0] // 2, size[1] // 2)
    image.paste(GREEN, (half[0], 0, *size))
    image.paste(BLUE, (0, half[1], half[0], size[1]))
    image.paste(WHITE, (*half, *size))
    return image


def photograph(orientation: int, kind: str = "JPEG") -> bytes:
    """Return a photo as a phone takes it, with EXIF orientation, location and camera model."""
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
    """Return a black-and-white image with a valid header and any data."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def hollow_webp(width: int, height: int) -> bytes:
    """Return a WebP with a size in the header that differs from its data."""
    whole = bytearray(saved(Image.new("RGB", (64, 64)), "WEBP", lossless=True))
    flags = int.from_bytes(whole[21:25], "little") & ~(2**28 - 1)
    whole[21:25] = (flags | (width - 1) | ((height - 1) << 14)).to_bytes(4, "little")
    return bytes(whole)


def hollow_gif(width: int, height: int) -> bytes:
    whole = bytearray(plain("GIF"))
    whole[6:10] = struct.pack("<HH", width, height)
    return bytes(whole)


def bomb_png(width: int = 13_340, height: int = 13_340) -> bytes:
    """Return a black-and-white image of 178 megapixels in about 21 kB."""
    row = b"\x00" * (1 + (width + 7) // 8)
    return hollow_png(width, height, zlib.compress(row * height, 9))


def scan_bomb_jpeg(scans: int) -> bytes:
    """Return a progressive JPEG that repeats its last scan."""
    whole = saved(Image.new("L", (64, 64)), "JPEG", progressive=True)
    last_scan = whole[whole.rindex(b"\xff\xda") : -2]
    return whole[:-2] + last_scan * scans + whole[-2:]


def animated(kind: str) -> bytes:
    frames = [Image.new("RGB", (40, 40), colour) for colour in (RED, GREEN, BLUE)]
    options: dict[str, Any] = {"lossless": True} if kind == "WEBP" else {}
    return saved(
        frames[0], kind, save_all=True, append_images=frames[1:], duration=100, loop=0, **options
    )


# Malicious images: small files that are expensive to decode.


def flat_png(
    width: int,
    height: int,
    *,
    depth: int = 8,
    kind: int = 6,
    interlaced: bool = False,
    more: bytes = b"",
) -> bytes:
    """Return an image of one color; `kind` is PNG's: 0 gray, 2 RGB, 3 palette, 6 RGBA."""
    bits = depth * {0: 1, 2: 3, 3: 1, 6: 4}[kind]
    passes = _ADAM7 if interlaced else [(0, 0, 1, 1)]
    size = 0
    for left, top, across, down in passes:
        columns, rows = -(-(width - left) // across), -(-(height - top) // down)
        size += rows * (1 + (columns * bits + 7) // 8)
    packer = zlib.compressobj(9)
    body = b"".join(packer.compress(bytes(min(2**20, size - at))) for at in range(0, size, 2**20))
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    palette = _chunk(b"PLTE", bytes(3)) if kind == 3 else b""
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + palette
        + more
        + _chunk(b"IDAT", body + packer.flush())
        + _chunk(b"IEND", b"")
    )


_ADAM7 = [
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
]


def text_bomb_png(texts: int = 60) -> bytes:
    """Return a PNG with compressed texts that expand a thousandfold, and more as Python strings."""
    text = zlib.compress("\N{GRINNING FACE}".encode() + b"x" * (2**20 - 8), 9)
    chunks = (
        _chunk(b"iTXt", b"Comment%d\x00\x01\x00\x00\x00" % number + text) for number in range(texts)
    )
    return flat_png(64, 64, more=b"".join(chunks))


def animated_png(side: int) -> bytes:
    """Return an animated PNG that makes decoders keep the background of its first frame."""
    control = struct.pack(">IIIIIHHBB", 0, side, side, 0, 0, 1, 10, 1, 0)
    more = _chunk(b"acTL", struct.pack(">II", 1000, 0)) + _chunk(b"fcTL", control)
    return flat_png(side, side, more=more)


class _Bits:
    """Writes bits in WebP's order."""

    def __init__(self) -> None:
        self.value = self.count = 0
        self.whole = bytearray()

    def put(self, *pairs: tuple[int, int]) -> None:
        for value, bits in pairs:
            self.value |= value << self.count
            self.count += bits
            while self.count >= 8:
                self.whole.append(self.value & 0xFF)
                self.value >>= 8
                self.count -= 8

    def done(self) -> bytes:
        self.put((0, 7))
        return bytes(self.whole)


# A Huffman code with one symbol, which takes no bits.
_ONE_SYMBOL = ((1, 1), (0, 1), (0, 1), (0, 1))


def _webp(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(
        name + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) % 2)
        for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def _lossless(width: int, height: int) -> _Bits:
    bits = _Bits()
    bits.put((0x2F, 8), (width - 1, 14), (height - 1, 14), (1, 1), (0, 3))
    return bits


def _flat_frame(width: int, height: int) -> bytes:
    bits = _lossless(width, height)
    bits.put((0, 1), (0, 1), (0, 1), *_ONE_SYMBOL * 5)
    return bits.done()


def flat_webp(width: int, height: int) -> bytes:
    """Return an image of one color, in about thirty bytes at any size."""
    return _webp((b"VP8L", _flat_frame(width, height)))


def animated_webp(side: int, frames: int = 1000) -> bytes:
    sides = (side - 1).to_bytes(3, "little") * 2
    frame = bytes(6) + sides + bytes(4)
    frame += b"VP8L" + struct.pack("<I", len(_flat_frame(side, side))) + _flat_frame(side, side)
    head = [(b"VP8X", b"\x12\x00\x00\x00" + sides), (b"ANIM", bytes(6))]
    return _webp(*head, *[(b"ANMF", frame)] * frames)


def many_codes_webp(side: int = 1024) -> bytes:
    """Return one megapixel with five code tables for each tile of sixteen pixels."""
    bits = _lossless(side, side)
    bits.put((0, 1), (0, 1), (1, 1), (0, 3), (0, 1))
    # Two codes with eight bits for each of 256 symbols, then three codes with one symbol.
    eight_bits = [(0, 1), (8, 4), *[(0, 3)] * 11, (1, 3), (1, 1), (3, 3), (254, 8)]
    bits.put(*eight_bits * 2, *_ONE_SYMBOL * 3)
    tiles = (side // 4) ** 2
    for tile in range(tiles):
        bits.put((_TURNED[tile & 0xFF], 8), (_TURNED[tile >> 8], 8))
    bits.put(*_ONE_SYMBOL * 5 * tiles)
    return _webp((b"VP8L", bits.done()))


_TURNED = [int(f"{byte:08b}"[::-1], 2) for byte in range(256)]


def hollow_jpeg(width: int, height: int, *, mode: str = "RGB", **options: Any) -> bytes:
    """Return a JPEG with a size in the header that differs from its data."""
    whole = bytearray(saved(Image.new(mode, (64, 64)), "JPEG", **options))
    start = max(whole.find(b"\xff\xc0"), whole.find(b"\xff\xc2"))
    whole[start + 5 : start + 9] = struct.pack(">HH", height, width)
    return bytes(whole)


def _tags(count: int, size: int) -> bytes:
    """Return a block of tags with overlapping values, each almost as large as the block."""
    head = b"II*\x00" + struct.pack("<IH", 8, count)
    tags = [struct.pack("<HHII", 0x8000 + tag, 7, size - 16, 8) for tag in range(count)]
    return (head + b"".join(tags)).ljust(size, b"\x00")


def many_tags_jpeg(blocks: int = 60) -> bytes:
    """Return a JPEG with the largest possible EXIF block, in many segments."""
    block = _tags(2000, blocks * 65_000)
    segments = b"".join(
        b"\xff\xe1" + struct.pack(">H", len(part) + 8) + b"Exif\x00\x00" + part
        for part in (block[at : at + 65_000] for at in range(0, len(block), 65_000))
    )
    whole = plain("JPEG")
    return whole[:2] + segments + whole[2:]


def many_tags_png() -> bytes:
    return flat_png(64, 64, more=_chunk(b"eXIf", _tags(2000, 4_000_000)))


def comment_bomb_gif(size: int = 5_000_000) -> bytes:
    """Return a GIF with one comment of many blocks, which decoders concatenate one by one."""
    blocks = (b"\xff" + b"x" * 255) * (size // 256)
    whole = plain("GIF")
    start = whole.rindex(b"\x2c")
    return whole[:start] + b"\x21\xfe" + blocks + b"\x00" + whole[start:]


HOSTILE: dict[str, Callable[[], bytes]] = {
    "png of 178 megapixels": bomb_png,
    "png of 16 bits, interlaced": lambda: flat_png(4000, 4000, depth=16, interlaced=True),
    "png with a palette": lambda: flat_png(4000, 4000, kind=3, more=_chunk(b"tRNS", b"\x80")),
    "png of many texts": text_bomb_png,
    "png of many tags": many_tags_png,
    "png that moves": lambda: animated_png(4000),
    "webp of 39.7 megapixels": lambda: flat_webp(6300, 6300),
    "webp of 16 megapixels": lambda: flat_webp(4000, 4000),
    "webp of 7.8 megapixels": lambda: flat_webp(2800, 2800),
    "webp that moves": lambda: animated_webp(2800),
    "webp of many codes": many_codes_webp,
    "webp with a false size": lambda: hollow_webp(2800, 2800),
    "jpeg of 40 megapixels": lambda: hollow_jpeg(8000, 5000),
    "jpeg of 40 megapixels, progressive": lambda: hollow_jpeg(8000, 5000, progressive=True),
    "jpeg of 40 megapixels, progressive and sharp": lambda: hollow_jpeg(
        8000, 5000, progressive=True, subsampling=0
    ),
    "jpeg of 16 megapixels, progressive, for print": lambda: hollow_jpeg(
        4000, 4000, mode="CMYK", progressive=True
    ),
    "jpeg of 40 megapixels in a line": lambda: hollow_jpeg(40_000, 1000),
    "jpeg of many scans": lambda: scan_bomb_jpeg(40),
    "jpeg of many tags": many_tags_jpeg,
    "gif of 16 megapixels": lambda: saved(Image.new("P", (4000, 4000)), "GIF"),
    "gif with a false size": lambda: hollow_gif(65_535, 65_535),
    "gif of a long comment": comment_bomb_gif,
    "five mebibytes": lambda: plain("PNG").ljust(5 * 2**20, b"\x00"),
}
