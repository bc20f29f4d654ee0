"""Static files of the console.

Their URL contains a digest of their content, so browsers can cache them forever.
"""

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
_CACHE_FOREVER = "public, max-age=31536000, immutable"


class Asset(NamedTuple):
    body: bytes
    compressed: bytes
    mimetype: str


@anyone
@hidden
def static_asset(digest: str, name: str) -> Response:
    found = assets().get(name)
    if found is None:
        raise NotFound
    # The digest of another version, during a deployment: not cached under the wrong URL.
    cache_control = _CACHE_FOREVER if digest == version() else "no-cache"
    return _asset_response(found, cache_control)


@anyone
@hidden
def brand_css() -> Response:
    """Return the brand's colors as CSS; emails have the same colors."""
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
    return Asset(body, gzip.compress(body, 9, mtime=0), _TYPES[path.suffix])


def _asset_response(asset: Asset, cache_control: str) -> Response:
    accepts_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    response = Response(asset.compressed if accepts_gzip else asset.body, mimetype=asset.mimetype)
    response.headers["Cache-Control"] = cache_control
    response.vary.add("Accept-Encoding")
    if accepts_gzip:
        response.headers["Content-Encoding"] = "gzip"
    return response
