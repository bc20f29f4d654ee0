"""The settings and their sources, for root only and without secrets."""

from flask import Response, request

from ...auth.decorators import superuser_required
from ...core.config.settings import DEFAULT
from ...core.context import find_context
from ...core.web.operation import hidden
from ...extension.origins import Setting, SettingsSpace, settings_of
from ..pages import render_page


@superuser_required
@hidden
def settings_page() -> Response:
    search = request.args.get("search", "").strip()
    only_set = request.args.get("only") == "set"
    spaces = settings_of(find_context())
    found = [
        SettingsSpace(space.name, kept)
        for space in spaces
        if (kept := tuple(each for each in space.settings if _fits(each, search, only_set)))
    ]
    return render_page(
        "admin/settings.html",
        spaces=found,
        names=[space.name for space in spaces],
        search=search,
        only_set=only_set,
        count=sum(len(space.settings) for space in found),
    )


def _fits(setting: Setting, search: str, only_set: bool) -> bool:
    if only_set and setting.origin == DEFAULT.source:
        return False
    text = f"{setting.name} {setting.about} {setting.value}".lower()
    return all(word in text for word in search.lower().split())
