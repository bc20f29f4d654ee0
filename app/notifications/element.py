"""`<frontdesk-inbox>`, an inbox for the pages of an application: its script, and where it leads."""

from functools import cache
from pathlib import Path

from flask import Response, redirect, url_for
from flask.blueprints import BlueprintSetupState
from werkzeug.wrappers import Response as AnyResponse

from .. import __version__
from ..core.context import current_frontdesk
from ..core.errors import NotFound
from ..core.web.assets import CACHE_FOREVER, Asset, asset_response, read_asset
from ..core.web.operation import anyone, hidden
from .settings import NotificationsSettings

SCRIPT = Path(__file__).parent / "static" / "inbox.js"
TEMPLATE_GLOBAL = "frontdesk_inbox_url"


@anyone
@hidden
def serve_script(version: str) -> Response:
    """Return the script, which browsers cache forever: another version has another URL."""
    if version != __version__:
        raise NotFound
    response = asset_response(_script(), CACHE_FOREVER)
    # Every page may load the script. The API decides which origins may read an inbox.
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


@cache
def _script() -> Asset:
    return read_asset(SCRIPT)


@anyone
@hidden
def open_preferences() -> AnyResponse:
    """Redirect to the page with the preferences: the script does not know its URL."""
    settings = current_frontdesk.settings
    path = settings.of(NotificationsSettings).PREFERENCES_PATH
    return redirect(settings.core.page_url(path), 303)


def add_template_global(state: BlueprintSetupState) -> None:
    """Add `frontdesk_inbox_url()`, the URL of the script where the blueprint is mounted."""
    endpoint = f"{state.name_prefix}.{state.name}.{serve_script.__name__}".lstrip(".")

    def frontdesk_inbox_url() -> str:
        return url_for(endpoint, version=__version__)

    state.app.jinja_env.globals.setdefault(TEMPLATE_GLOBAL, frontdesk_inbox_url)
