"""`/openapi.json`, and Swagger UI at `/docs`, with assets from a Python package."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import orjson
from flask import Response, current_app, url_for
from markupsafe import escape

from ... import __version__
from ..context import current_frontdesk
from ..errors import NotFound, Problem
from ..extras import missing_extra
from .assets import Asset, asset_response, read_asset
from .blueprint import Blueprint
from .operation import anyone, hidden
from .pages import StartPage, protect_page
from .responses import polled

blueprint = Blueprint("docs", __name__)

ASSETS = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png")
OWN_ASSETS = ("docs.css", "docs.js")
_OWN_FOLDER = Path(__file__).parent / "static"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# The header and the text are painted before Swagger UI is loaded.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · {name}</title>
<link rel="stylesheet" href="{base}/swagger-ui.css">
<link rel="stylesheet" href="{base}/docs.css">
<link rel="icon" href="{base}/favicon-32x32.png">
<link rel="preload" href="{document}" as="fetch" crossorigin="anonymous">
<script src="{base}/swagger-ui-bundle.js" defer></script>
<script src="{base}/docs.js" defer></script>
</head>
<body>
<header class="top"><b dir="auto">{name}</b>{link}<a href="{document}">openapi.json</a></header>
<noscript><p class="wait">This page needs JavaScript. Without it, read openapi.json.</p></noscript>
<main id="reference"><p class="wait" role="status">Loading the API reference</p></main>
</body>
</html>
"""
_LINK = '<a href="{}">{}</a>'
_document_lock = Lock()


class PageUnsupported(Problem):
    """The page's assets, which come with an extra, are not installed."""

    status = 501
    code = "docs_unsupported"
    detail = "The documentation page is not installed here"
    title = "The API documentation page is not installed"
    cause = "The extra `[docs]` is not installed."
    fix = "Install `flask-frontdesk[docs]`, or read `openapi.json` instead."


@blueprint.get("/openapi.json")
@anyone
@hidden
@polled
def openapi() -> Response:
    """The OpenAPI document"""
    return asset_response(_document())


@blueprint.get("/docs")
@anyone
@hidden
def page() -> Response:
    """A page to read the document and try the routes"""
    _vendored_folder()
    starts = current_frontdesk.contributions(StartPage)
    name, link = current_frontdesk.settings.core.PROJECT_NAME, ""
    if starts:
        start = starts[-1]
        name, link = start.name(), _LINK.format(escape(start.path()), escape(start.link_text))
    html = _PAGE.format(
        base=url_for(".page").rstrip("/"),
        document=url_for(".openapi"),
        name=escape(name),
        link=link,
    )
    response = Response(html, mimetype="text/html", headers={"Content-Security-Policy": _POLICY})
    protect_page(response)
    return response


@blueprint.get("/docs/<name>")
@anyone
@hidden
def asset(name: str) -> Response:
    """A file of the page"""
    if name in OWN_ASSETS:
        return _own_asset(name)
    if name not in ASSETS:
        raise NotFound
    return asset_response(_read(_vendored_folder() / name), "public, max-age=86400")


@polled
def _own_asset(name: str) -> Response:
    return asset_response(_read(_OWN_FOLDER / name))


_read = cache(read_asset)


def _document() -> Asset:
    with _document_lock:
        cached: Asset | None = current_app.extensions.get("frontdesk.openapi")
        if cached is None:
            # Imported here, because apispec is heavy and most processes never build the document.
            from .openapi.document import make_document

            app: Any = current_app
            core = current_frontdesk.settings.core
            root = current_app.config["APPLICATION_ROOT"].rstrip("/")
            server = f"{core.PUBLIC_URL or ''}{root}" or "/"
            document = make_document(
                app._get_current_object(), core.PROJECT_NAME, __version__, server
            )
            cached = Asset.of(orjson.dumps(document), "application/json")
            current_app.extensions["frontdesk.openapi"] = cached
        return cached


@cache
def _vendored_folder() -> Path:
    """Return the folder without an import of the package, which would add an extension."""
    if line := missing_extra("docs"):
        raise PageUnsupported(f"{PageUnsupported.detail}: {line}")
    found = find_spec("flask_swagger_ui")
    if found is None or not found.submodule_search_locations:
        raise NotFound
    return Path(found.submodule_search_locations[0]) / "dist"
