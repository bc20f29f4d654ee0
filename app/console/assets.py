"""The pages' own files. Their address changes with their content, so that a browser keeps them for
good and asks for none twice."""

import gzip
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from flask import Response, request

from ..core.context import service
from ..core.errors import NotFound
from ..core.web.operation import anyone, hidden
from ..delivery.mail.templates import Templates

FOLDER = Path(__file__).parent / "static"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_KEPT = "public, max-age=31536000, immutable"


class Asset(NamedTuple):
    body: bytes
    zipped: bytes
    kind: str


@anyone
@hidden
def static_asset(digest: str, name: str) -> Response:
    found = assets().get(name)
    if found is None:
        raise NotFound
    # Of an older page, or a newer one while a new version goes out: never kept for what it is not.
    kept = _KEPT if digest == version() else "no-cache"
    return _sent(found, kept)


@anyone
@hidden
def brand_css() -> Response:
    """The brand's own colour, which mails have too."""
    brand = service(Templates).brand
    text = f":root{{--fd-accent:{brand.COLOR};--fd-on-accent:{brand.TEXT_COLOR}}}\n"
    return Response(text, mimetype="text/css", headers={"Cache-Control": "public, max-age=300"})


@cache
def assets() -> dict[str, Asset]:
    return {path.name: _read(path) for path in sorted(FOLDER.iterdir()) if path.suffix in _TYPES}


@cache
def version() -> str:
    parts = (f"{name}\0".encode() + asset.body for name, asset in assets().items())
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    kind = _TYPES[path.suffix]
    return Asset(body, gzip.compress(body, 9, mtime=0), kind)


def _sent(asset: Asset, kept: str) -> Response:
    takes_zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    response = Response(asset.zipped if takes_zipped else asset.body, mimetype=asset.kind)
    response.headers["Cache-Control"] = kept
    response.vary.add("Accept-Encoding")
    if takes_zipped:
        response.headers["Content-Encoding"] = "gzip"
    return response
