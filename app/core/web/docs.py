"""`/openapi.json`, and Swagger UI at `/docs`, with assets from a Python package."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import orjson
from flask import Response, current_app, send_from_directory, url_for

from ..context import current_frontdesk
from ..errors import NotFound, Problem
from ..extras import missing_extra
from .blueprint import Blueprint
from .operation import anyone, hidden
from .pages import protect_page
from .responses import polled

blueprint = Blueprint("docs", __name__)

ASSETS = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="stylesheet" href="{base}/swagger-ui.css">
<link rel="icon" href="{base}/favicon-32x32.png">
</head>
<body>
<div id="reference"></div>
<script src="{base}/swagger-ui-bundle.js"></script>
<script src="{base}/start.js"></script>
</body>
</html>
"""
_START = """SwaggerUIBundle({
  url: new URL("../openapi.json", document.currentScript.src).href,
  dom_id: "#reference",
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});
"""
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
    return Response(_document(), mimetype="application/json")


@blueprint.get("/docs")
@anyone
@hidden
def page() -> Response:
    """A page to read the document and try the routes"""
    _assets()
    html = _PAGE.replace("{base}", url_for(".page").rstrip("/"))
    response = Response(html, mimetype="text/html", headers={"Content-Security-Policy": _POLICY})
    protect_page(response)
    return response


@blueprint.get("/docs/<name>")
@anyone
@hidden
def asset(name: str) -> Response:
    """A file of the page"""
    if name == "start.js":
        return Response(_START, mimetype="text/javascript")
    if name not in ASSETS:
        raise NotFound
    response = send_from_directory(_assets(), name, max_age=86400)
    response.direct_passthrough = False
    return response


def _document() -> bytes:
    with _document_lock:
        cached: bytes | None = current_app.extensions.get("frontdesk.openapi")
        if cached is None:
            # Imported here, because apispec is heavy and most processes never build the document.
            from .openapi.document import make_document

            app: Any = current_app
            core = current_frontdesk.settings.core
            root = current_app.config["APPLICATION_ROOT"].rstrip("/")
            server = f"{core.PUBLIC_URL or ''}{root}" or "/"
            document = make_document(
                app._get_current_object(), core.PROJECT_NAME, _version(), server
            )
            cached = current_app.extensions["frontdesk.openapi"] = orjson.dumps(document)
        return cached


def _version() -> str:
    try:
        return version("flask-frontdesk")
    except PackageNotFoundError:
        return "0.1.0"


@cache
def _assets() -> Path:
    """Return the folder without an import of the package, which would add an extension."""
    if line := missing_extra("docs"):
        raise PageUnsupported(f"{PageUnsupported.detail}: {line}")
    found = find_spec("flask_swagger_ui")
    if found is None or not found.submodule_search_locations:
        raise NotFound
    return Path(found.submodule_search_locations[0]) / "dist"
