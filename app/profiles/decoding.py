"""Decodes each picture in a separate process with limits that the kernel enforces.

What a decoder takes cannot be told from a picture's header, and a fault in one is a fault in the
process that it runs in (docs/decisions/pictures.md). `decode` is the server's side, `main` the
other one.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from mmap import mmap
from pathlib import Path
from typing import IO

from ..core.extras import missing_extra
from .errors import (
    AvatarsUnsupported,
    DecoderUnavailable,
    PictureRefused,
    PictureTooLarge,
    TooManyPictures,
)
from .picture import MOST_BYTES, MOST_MEMORY, Picture, avatar_picture

log = logging.getLogger(__name__)

# Of processor time; then, on a machine that has none to give, of waiting.
MOST_SECONDS = 5
PATIENCE_SECONDS = 20
REFUSED = 3
BLOCK = 64 * 1024

# Of the environment only what finds Python and its libraries: no setting, and so no secret.
_KEPT = ("LD_LIBRARY_PATH", "PYTHONHOME", "SYSTEMROOT")


def check_decoder() -> None:
    """Pillow comes with an extra; without it avatars are refused, and nothing else is."""
    if line := missing_extra("avatars"):
        log.error("Avatars need Pillow: %s", line)
        raise AvatarsUnsupported


def decode(sent: IO[bytes]) -> Picture:
    """The avatar that is made of a sent file."""
    child = _run(_content(sent))
    if child.returncode == 0:
        extension, _, data = child.stdout.partition(b"\n")
        return Picture(data, extension.decode())
    if child.returncode == REFUSED:
        raise PictureRefused(child.stdout.decode())
    if child.returncode < 0:
        log.warning("Decoding a picture was ended by signal %d", -child.returncode)
        raise PictureRefused("The picture cannot be decoded.")
    log.error("The decoding process failed: %s", child.stderr.decode(errors="replace")[-500:])
    raise DecoderUnavailable


def _run(whole: mmap) -> subprocess.CompletedProcess[bytes]:
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        return subprocess.run(  # noqa: S603
            [_python(), "-W", "ignore", "-c", f"from {__name__} import main; main()"],
            input=whole,
            capture_output=True,
            env=environment,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TooManyPictures from None
    except OSError as error:
        log.error("No process for decoding a picture: %s", error)
        raise DecoderUnavailable from None


def _content(sent: IO[bytes]) -> mmap:
    """Return the file in separate memory: memory on a thread's heap would stay with the thread."""
    sent.seek(0, os.SEEK_END)
    size = sent.tell()
    if size > MOST_BYTES:
        raise PictureTooLarge
    if size == 0:
        raise PictureRefused("The file is empty.")
    whole = mmap(-1, size)
    sent.seek(0)
    while block := sent.read(BLOCK):
        whole.write(block)
    return whole


def main() -> None:
    """Read a picture from standard input; write the avatar or the error to standard output."""
    sent = sys.stdin.buffer.read()
    _load_decoders()
    _bound()
    try:
        picture = avatar_picture(sent)
    except PictureRefused as refusal:
        sys.stdout.buffer.write(refusal.faults[0].message.encode())
        raise SystemExit(REFUSED) from None
    sys.stdout.buffer.write(picture.extension.encode() + b"\n" + picture.data)


def _load_decoders() -> None:
    """Load the used decoders before the limits apply, which are for pictures."""
    from PIL import GifImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

    _ = GifImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin


def _bound() -> None:
    """From here on so much memory and time; a decoder that wants more is refused, or ended."""
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    for what, most in (
        (resource.RLIMIT_AS, pages * resource.getpagesize() + MOST_MEMORY),
        (resource.RLIMIT_CPU, MOST_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def _python() -> str:
    """A server that has Python inside (uWSGI) may be what `sys.executable` names."""
    own = Path(sys.executable or "")
    is_python = own.name.startswith(("python", "pypy"))
    return str(own) if is_python else str(Path(sys.prefix) / "bin" / "python3")
