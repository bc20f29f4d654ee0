"""Converting uploaded bytes to a safe avatar."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from app.profiles.errors import PictureRefused
from app.profiles.picture import MAX_SCANS, avatar_picture

from ..rigs.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    animated,
    animated_webp,
    bomb_png,
    flat_webp,
    hollow_gif,
    hollow_jpeg,
    hollow_png,
    hollow_webp,
    opened,
    photograph,
    plain,
    quarters,
    saved,
    scan_bomb_jpeg,
)
from ..rigs.servers import checkout_environment

KINDS = ["PNG", "JPEG", "WEBP", "GIF"]


def is_near(image: Image.Image, point: tuple[int, int], colour: tuple[int, ...]) -> bool:
    found = image.convert("RGB").getpixel(point)
    assert isinstance(found, tuple)
    return all(abs(one - other) < 24 for one, other in zip(found, colour, strict=True))


def rejection(sent: bytes) -> str:
    with pytest.raises(PictureRefused) as caught:
        avatar_picture(sent)
    [fault] = caught.value.faults
    assert fault.field == "avatar"
    return fault.message


@pytest.mark.parametrize("kind", KINDS)
def test_every_allowed_format_is_accepted(kind: str) -> None:
    picture = avatar_picture(plain(kind))
    assert picture.content_type == "image/jpeg"
    assert opened(picture.data).format == "JPEG"
    assert is_near(opened(picture.data), (20, 20), RED)


@pytest.mark.parametrize("size", [(512, 512), (513, 600), (2000, 900), (900, 5000), (4000, 3999)])
def test_large_picture_becomes_a_square_of_512(size: tuple[int, int]) -> None:
    assert opened(avatar_picture(plain("PNG", size)).data).size == (512, 512)


@pytest.mark.parametrize(
    ("size", "side"), [((1, 1), 1), ((1, 3000), 1), ((100, 60), 60), ((511, 511), 511)]
)
def test_small_picture_is_cropped_and_not_enlarged(size: tuple[int, int], side: int) -> None:
    assert opened(avatar_picture(plain("PNG", size)).data).size == (side, side)


def test_picture_is_cropped_to_its_centre() -> None:
    image = Image.new("RGB", (300, 100), RED)
    image.paste(GREEN, (100, 0, 200, 100))
    cut = opened(avatar_picture(saved(image, "PNG")).data)
    assert all(is_near(cut, point, GREEN) for point in [(8, 8), (91, 8), (8, 91), (91, 91)])


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_photograph_is_rotated_upright(orientation: int, kind: str) -> None:
    upright = opened(avatar_picture(photograph(orientation, kind)).data)
    assert is_near(upright, (15, 15), RED)
    assert is_near(upright, (45, 15), GREEN)
    assert is_near(upright, (15, 45), BLUE)
    assert is_near(upright, (45, 45), WHITE)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_metadata_of_photographs_is_removed(kind: str) -> None:
    sent = photograph(6, kind)
    assert b"SecretCameraMaker" in sent
    picture = avatar_picture(sent)
    assert b"Secret" not in picture.data
    assert not opened(picture.data).getexif()


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_comment_profile_and_text_are_removed(mode: str) -> None:
    from PIL.PngImagePlugin import PngInfo

    text = PngInfo()
    text.add_text("Author", "Secret name")
    text.add_itxt("XML:com.adobe.xmp", "<x:xmpmeta>Secret place</x:xmpmeta>")
    sent = saved(Image.new(mode, (20, 20)), "PNG", pnginfo=text, icc_profile=b"Secret profile")
    picture = avatar_picture(sent)
    assert b"Secret" not in picture.data
    assert "icc_profile" not in opened(picture.data).info


def test_invalid_exif_block_is_ignored() -> None:
    sent = saved(Image.new("RGB", (20, 20), RED), "JPEG", exif=b"Exif\x00\x00garbage")
    assert is_near(opened(avatar_picture(sent).data), (10, 10), RED)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_transparency_is_kept_as_png(kind: str) -> None:
    image = Image.new("RGBA", (700, 700), (*RED, 255))
    image.paste((*GREEN, 0), (0, 0, 350, 700))
    picture = avatar_picture(saved(image, kind))
    assert (picture.content_type, picture.extension) == ("image/png", "png")
    result = opened(picture.data)
    assert result.getpixel((50, 50))[3] == 0  # type: ignore[index]
    assert result.getpixel((460, 50)) == pytest.approx((*RED, 255), abs=6)


def test_opaque_alpha_channel_is_dropped() -> None:
    sent = saved(Image.new("RGBA", (20, 20), (*RED, 255)), "PNG")
    assert avatar_picture(sent).content_type == "image/jpeg"


def test_transparent_palette_keeps_transparency() -> None:
    image = Image.new("P", (40, 40), 0)
    image.putpalette([*GREEN, *RED])
    image.paste(1, (20, 0, 40, 40))
    picture = avatar_picture(saved(image, "PNG", transparency=b"\x00\xff"))
    result = opened(picture.data)
    assert result.getpixel((5, 5))[3] == 0  # type: ignore[index]
    assert result.getpixel((35, 5)) == (*RED, 255)


@pytest.mark.parametrize(("mode", "key"), [("RGB", RED), ("L", 90)])
def test_transparent_colour_keeps_transparency(mode: str, key: object) -> None:
    sent = saved(Image.new(mode, (20, 20), key), "PNG", transparency=key)  # type: ignore[arg-type]
    result = opened(avatar_picture(sent).data)
    assert result.getpixel((5, 5))[3] == 0  # type: ignore[index]


def test_transparent_gif_keeps_transparency() -> None:
    image = Image.new("P", (20, 20), 1)
    image.putpalette([*GREEN, *RED])
    result = opened(avatar_picture(saved(image, "GIF", transparency=1)).data)
    assert result.getpixel((5, 5))[3] == 0  # type: ignore[index]


def test_cmyk_jpeg_is_accepted() -> None:
    sent = saved(Image.new("RGB", (40, 40), RED).convert("CMYK"), "JPEG", quality=95)
    assert opened(sent).mode == "CMYK"
    assert is_near(opened(avatar_picture(sent).data), (20, 20), RED)


@pytest.mark.parametrize("value", [0, 20_000, 40_000, 65_535])
def test_sixteen_bit_pictures_keep_their_brightness(value: int) -> None:
    sent = saved(Image.new("I;16", (40, 40), value), "PNG")
    grey = value // 256
    assert is_near(opened(avatar_picture(sent).data), (20, 20), (grey, grey, grey))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_every_png_mode_is_accepted(mode: str) -> None:
    sent = saved(quarters((600, 600)).convert(mode), "PNG")
    assert opened(avatar_picture(sent).data).size == (512, 512)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_animation_is_reduced_to_its_first_frame(kind: str) -> None:
    picture = avatar_picture(animated(kind))
    result = opened(picture.data)
    assert getattr(result, "n_frames", 1) == 1
    assert is_near(result, (20, 20), RED)


def test_multi_picture_jpeg_is_accepted() -> None:
    frames = [Image.new("RGB", (40, 40), colour) for colour in (RED, GREEN)]
    sent = saved(frames[0], "MPO", save_all=True, append_images=frames[1:])
    assert is_near(opened(avatar_picture(sent).data), (20, 20), RED)


@pytest.mark.parametrize("kind", KINDS)
def test_appended_data_is_removed(kind: str) -> None:
    sent = plain(kind) + b"<html><script>alert(1)</script></html>"
    picture = avatar_picture(sent)
    assert b"script" not in picture.data
    assert is_near(opened(picture.data), (20, 20), RED)


def test_script_in_a_comment_is_removed() -> None:
    for kind in ("GIF", "JPEG"):
        sent = saved(Image.new("RGB", (20, 20)), kind, comment=b"<script>alert(1)</script>")
        assert b"script" in sent
        assert b"script" not in avatar_picture(sent).data


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<?xml version='1.0'?><svg/>",
        b"<html></html>",
        b"%PDF-1.7",
        b"\x00" * 100,
        b"GIF89a",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"RIFF\x00\x00\x00\x00WEBP",
        "<svg/>".encode("utf-16"),
    ],
)
def test_invalid_picture_is_rejected(sent: bytes) -> None:
    assert rejection(sent) in {"Not a PNG, JPEG, WebP or GIF picture.", "The picture is damaged."}


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "ICO", "TGA", "PPM", "JPEG2000", "PDF", "EPS"])
def test_other_formats_are_rejected(kind: str) -> None:
    assert rejection(plain(kind)) == "Not a PNG, JPEG, WebP or GIF picture."


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_picture_is_rejected(kind: str) -> None:
    picture_bytes = saved(Image.effect_noise((200, 200), 80), kind)
    assert rejection(picture_bytes[: len(picture_bytes) // 2]) in {
        "The picture is damaged.",
        "Not a PNG, JPEG, WebP or GIF picture.",
    }


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    "sent",
    [
        bomb_png(),
        hollow_png(4000, 4001),
        hollow_png(1, 2**31 - 1),
        hollow_png(65_535, 65_535),
        flat_webp(4000, 4001),
        animated_webp(4001),
        hollow_webp(16_383, 16_383),
        hollow_gif(65_535, 65_535),
        hollow_jpeg(40_000, 1000),
    ],
)
def test_too_many_pixels_are_rejected_by_the_header(sent: bytes) -> None:
    assert rejection(sent) == "The picture has more than 16 megapixels."


def test_jpeg_limit_is_higher_because_it_is_decoded_at_a_reduced_size() -> None:
    picture = avatar_picture(hollow_jpeg(8000, 5000))
    assert opened(picture.data).size == (512, 512)
    assert rejection(hollow_jpeg(8000, 5001)) == "The picture has more than 40 megapixels."


def test_sixteen_megapixels_are_accepted() -> None:
    picture = avatar_picture(bomb_png(4000, 4000))
    assert opened(picture.data).size == (512, 512)


@pytest.mark.parametrize(
    "sent",
    [
        hollow_jpeg(8000, 5000, progressive=True, subsampling=0),
        hollow_jpeg(5000, 5000, mode="CMYK", progressive=True),
    ],
    ids=["progressive", "progressive for print"],
)
def test_too_much_memory_is_rejected_by_the_header(sent: bytes) -> None:
    assert rejection(sent) == "The picture takes too much memory to decode."


@pytest.mark.parametrize(
    "sent",
    [flat_webp(4000, 4000), animated_webp(3000), plain("WEBP", (3300, 3300))],
    ids=["webp", "moving webp", "lossy webp"],
)
def test_webp_over_eight_megapixels_is_rejected_with_advice(sent: bytes) -> None:
    expected = "The picture takes too much memory to decode. JPEG pictures may be larger."
    assert rejection(sent) == expected


def test_jpeg_with_too_many_scans_is_rejected() -> None:
    assert rejection(scan_bomb_jpeg(MAX_SCANS)) == "The picture has too many scans."
    assert avatar_picture(scan_bomb_jpeg(10)).content_type == "image/jpeg"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@settings(max_examples=150, deadline=None)
@given(position=st.integers(0, 10**6), junk=st.binary(min_size=1, max_size=12))
def test_damaged_bytes_are_decoded_or_rejected(kind: str, position: int, junk: bytes) -> None:
    picture_bytes = saved(quarters(), kind)
    offset = position % len(picture_bytes)
    broken = picture_bytes[:offset] + junk + picture_bytes[offset + len(junk) :]
    try:
        picture = avatar_picture(broken)
    except PictureRefused:
        return
    assert max(opened(picture.data).size) <= 512


def test_pillow_is_imported_lazily() -> None:
    check = "import sys, app.profiles.picture; sys.exit('PIL' in sys.modules)"
    command = [sys.executable, "-c", check]
    assert subprocess.run(command, env=checkout_environment(), check=False).returncode == 0
