"""Static files of the console.

Their URL contains a digest of their content, so browsers can cache them forever.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

from flask import Response

from ..core.context import service
from ..core.errors import NotFound
from ..core.web.assets import CACHE_FOREVER, Asset, asset_response, is_asset, read_asset
from ..core.web.operation import anyone
from ..delivery.mail.templates import Templates

FOLDER = Path(__file__).parent / "static"
# A file loads nothing. Shorter than the policy of pages: a first visit has a dozen files.
_POLICY = {"Content-Security-Policy": "default-src 'none'"}


@anyone
def static_asset(digest: str, name: str) -> Response:
    found = assets().get(name)
    if found is None:
        raise NotFound
    # The digest of another version, during a deployment: not cached under the wrong URL.
    cache_control = CACHE_FOREVER if digest == version() else "no-cache"
    response = asset_response(found, cache_control)
    response.headers.update(_POLICY)
    return response


@anyone
def brand_css() -> Response:
    """Return the brand's colors, which emails have too, and its dark logo as CSS."""
    brand = service(Templates).brand
    text = f":root{{--fd-accent:{brand.COLOR};--fd-on-accent:{brand.TEXT_COLOR}}}\n"
    if brand.LOGO_DARK_URL:
        logo = f'.brand .logo{{content:url("{brand.LOGO_DARK_URL}")}}'
        text += f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]) {logo}}}\n"
        text += f":root[data-theme=dark] {logo}\n"
    return Response(
        text, mimetype="text/css", headers={"Cache-Control": "public, max-age=300", **_POLICY}
    )


@cache
def assets() -> dict[str, Asset]:
    return {path.name: read_asset(path) for path in sorted(FOLDER.iterdir()) if is_asset(path)}


@cache
def version() -> str:
    parts = (f"{name}\0".encode() + asset.body for name, asset in assets().items())
    return sha256(b"\0".join(parts)).hexdigest()[:12]
