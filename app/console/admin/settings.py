"""The settings and their sources, for root only and without secrets."""

from flask import Response, request

from ...auth.decorators import superuser_required
from ...core.config.settings import DEFAULT
from ...core.context import find_context
from ...extension.origins import Setting, SettingsSpace, settings_of
from ..pages import render_page
from ..texts import _

# The settings without a namespace, in the URL.
TOP_LEVEL = "-"


@superuser_required
def settings_page() -> Response:
    """Show one namespace, or what a search finds; at first, the changed settings: all settings
    together are a long page."""
    search = request.args.get("search", "").strip()
    namespace = request.args.get("namespace", "")
    spaces = settings_of(find_context())
    found = [
        SettingsSpace(space.name, kept)
        for space in spaces
        if namespace in ("", space.name or TOP_LEVEL)
        and (kept := tuple(each for each in space.settings if _fits(each, search, namespace)))
    ]
    names = [(space.name or TOP_LEVEL, space.name or _("Top level")) for space in spaces]
    return render_page(
        "admin/settings.html", spaces=found, names=names, search=search, namespace=namespace
    )


def _fits(setting: Setting, search: str, namespace: str) -> bool:
    if not search and not namespace:
        return setting.origin != DEFAULT.source
    text = f"{setting.name} {setting.about} {setting.value}".lower()
    return all(word in text for word in search.lower().split())
