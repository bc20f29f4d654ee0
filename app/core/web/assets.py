"""Static responses, compressed once for all requests."""

import gzip
from pathlib import Path
from typing import NamedTuple

from flask import Response, request

# For a URL that changes with its content.
CACHE_FOREVER = "public, max-age=31536000, immutable"

_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


class Asset(NamedTuple):
    body: bytes
    compressed: bytes
    mimetype: str

    @classmethod
    def of(cls, body: bytes, mimetype: str) -> "Asset":
        return cls(body, gzip.compress(body, 9, mtime=0), mimetype)


def is_asset(path: Path) -> bool:
    return path.suffix in _TYPES


def read_asset(path: Path) -> Asset:
    return Asset.of(path.read_bytes(), _TYPES[path.suffix])


def asset_response(asset: Asset, cache_control: str = "") -> Response:
    accepts_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    response = Response(asset.compressed if accepts_gzip else asset.body, mimetype=asset.mimetype)
    if cache_control:
        response.headers["Cache-Control"] = cache_control
    response.vary.add("Accept-Encoding")
    if accepts_gzip:
        response.headers["Content-Encoding"] = "gzip"
    return response
