"""`make digests`: writes the digest of each image into the Compose files and the Dockerfile, as
`name:version@sha256:…`. A registry can replace the image of a version, but not that of a digest.

Requires access to the registries, and docker (buildx) or skopeo. Run it again after a version has
changed: it updates every image.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache

from .environment import ROOT, stop

FILES = ("compose.yaml", "deploy/compose/high-availability.yaml", "Dockerfile")
_DATE = r"# (\d{4}-\d\d-\d\d)"
# The image of a registry has a version; the image that compose builds has none. A line of a
# Dockerfile cannot end with a comment, so the date is on the line before.
_IMAGE = re.compile(
    rf"(?m)^(?P<before>\s*image: |(?:{_DATE}\n)?ARG PYTHON=)"
    rf"(?P<image>[\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{{64}})?(?P<after>(?: {_DATE})?)$"
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SECONDS = 60


def main() -> None:
    # An image gets the same digest in all files.
    once = cache(digest_of)
    texts = {name: rewritten((ROOT / name).read_text(), once) for name in FILES}
    for name, text in texts.items():
        (ROOT / name).write_text(text)


def images(text: str) -> list[str]:
    """Return the images of registries that a file names, with their versions."""
    return [found["image"] for found in _IMAGE.finditer(text)]


def dates(text: str) -> dict[str, str | None]:
    """Return the date of each image of a registry, which its comment has."""
    return {found["image"]: found[2] or found[5] for found in _IMAGE.finditer(text)}


def rewritten(text: str, digest_of: Callable[[str], str]) -> str:
    return _IMAGE.sub(
        lambda found: (
            f"{found['before']}{found['image']}@{digest_of(found['image'])}{found['after']}"
        ),
        text,
    )


def digest_of(image: str) -> str:
    """Return the digest from the registry, which covers all platforms of the image."""
    if shutil.which("docker"):
        return ask(
            ["docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", image]
        )
    if shutil.which("skopeo") is None:
        stop("Neither docker nor skopeo is installed.")
    return ask(["skopeo", "inspect", "--format", "{{.Digest}}", f"docker://{qualified(image)}"])


def qualified(image: str) -> str:
    """Return the image's path at Docker Hub, where official images are below `library`."""
    return f"docker.io/{image}" if "/" in image else f"docker.io/library/{image}"


def ask(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    answer = done.stdout.strip()
    if done.returncode or not _DIGEST.fullmatch(answer):
        stop(f"{' '.join(command)}: {done.stderr.strip() or answer}")
    return answer


if __name__ == "__main__":
    main()
