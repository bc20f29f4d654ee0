"""The application's own pages, with the console's layout, navigation, errors and headers."""

from flask.sansio.app import App

from ..core.errors import SetupError
from ..core.types import SignalOptions
from ..extension.console_pages import HostConsole


def add_host_pages(app: App, console: HostConsole, blueprint: str, options: SignalOptions) -> None:
    """Add the pages to the console's blueprint, with its error pages, headers and checks."""
    prefix = str(options.get("url_prefix") or "").rstrip("/")
    for page in console.pages:
        endpoint = f"{options.get('name', blueprint)}.{page.name}"
        if endpoint in app.view_functions:
            raise SetupError(f"The console already has a page '{page.name}': choose another name.")
        app.add_url_rule(
            f"{prefix}{page.path}",
            endpoint,
            page.view,
            methods=list(page.methods),
            strict_slashes=False,
        )
