"""Decodes each picture in a separate process with limits that the kernel enforces.

The memory that a decoder needs cannot be read from a picture's header, and a fault in a decoder
crashes its process (docs/decisions/pictures.md). `decode` runs in the server, `main` in the other
process.
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
from .picture import MAX_BYTES, MAX_MEMORY, Picture, avatar_picture

log = logging.getLogger(__name__)

# The limit of processor time, and the limit of time on a busy machine.
CPU_SECONDS = 5
TIMEOUT_SECONDS = 20
# The exit status for a rejected picture.
REJECTED = 3
BLOCK_SIZE = 64 * 1024

# The environment variables that Python needs; others can contain secrets.
_ENVIRONMENT = ("LD_LIBRARY_PATH", "PYTHONHOME", "SYSTEMROOT")


def check_decoder() -> None:
    """Raise AvatarsUnsupported without Pillow, which an extra installs."""
    if line := missing_extra("avatars"):
        log.error("Avatars need Pillow: %s", line)
        raise AvatarsUnsupported


def decode(sent: IO[bytes]) -> Picture:
    """Return the avatar for an uploaded file. Raises PictureRefused."""
    child = _run(_content(sent))
    if child.returncode == 0:
        extension, _, data = child.stdout.partition(b"\n")
        return Picture(data, extension.decode())
    if child.returncode == REJECTED:
        raise PictureRefused(child.stdout.decode())
    if child.returncode < 0:
        log.warning("Decoding a picture was ended by signal %d", -child.returncode)
        raise PictureRefused("The picture cannot be decoded.")
    log.error("The decoding process failed: %s", child.stderr.decode(errors="replace")[-500:])
    raise DecoderUnavailable


def _run(whole: mmap) -> subprocess.CompletedProcess[bytes]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        return subprocess.run(  # noqa: S603
            [_python(), "-W", "ignore", "-c", f"from {__name__} import main; main()"],
            input=whole,
            capture_output=True,
            env=environment,
            timeout=TIMEOUT_SECONDS,
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
    if size > MAX_BYTES:
        raise PictureTooLarge
    if size == 0:
        raise PictureRefused("The file is empty.")
    whole = mmap(-1, size)
    sent.seek(0)
    while block := sent.read(BLOCK_SIZE):
        whole.write(block)
    return whole


def main() -> None:
    """Read a picture from standard input; write the avatar or the error to standard output."""
    sent = sys.stdin.buffer.read()
    _load_decoders()
    _set_limits()
    try:
        picture = avatar_picture(sent)
    except PictureRefused as refusal:
        sys.stdout.buffer.write(refusal.faults[0].message.encode())
        raise SystemExit(REJECTED) from None
    sys.stdout.buffer.write(picture.extension.encode() + b"\n" + picture.data)


def _load_decoders() -> None:
    """Load the used decoders before the limits apply, which are for pictures."""
    from PIL import GifImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

    _ = GifImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin


def _set_limits() -> None:
    """Limit the memory and processor time of this process from here on."""
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    for what, most in (
        (resource.RLIMIT_AS, pages * resource.getpagesize() + MAX_MEMORY),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def _python() -> str:
    """Return the Python executable. `sys.executable` can be a server with Python inside (uWSGI)."""
    executable = Path(sys.executable or "")
    is_python = executable.name.startswith(("python", "pypy"))
    return str(executable) if is_python else str(Path(sys.prefix) / "bin" / "python3")
