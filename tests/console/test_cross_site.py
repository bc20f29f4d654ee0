"""The console rejects forms from other sites, also public ones."""

from __future__ import annotations

import pytest

from ..core.test_access_matrix import rows
from ..rigs.console.faults import as_lines
from ..rigs.console.requests import ask, example_form, path_of
from ..rigs.console.routes import form_routes
from ..rigs.console.world import World
from ..rigs.cookie_browsers import SAME_ORIGIN

OTHER_ORIGINS: dict[str, dict[str, str]] = {
    "another site": {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    "another site, without its origin": {"Sec-Fetch-Site": "cross-site"},
    "a neighbour": {"Sec-Fetch-Site": "same-site", "Origin": "https://blog.localhost"},
    "another site, older browser": {"Origin": "https://evil.example"},
    "a page without origin": {"Origin": "null"},
    "no headers": {},
}


@pytest.mark.parametrize("origin", OTHER_ORIGINS)
def test_forms_of_other_sites_are_rejected(world: World, origin: str) -> None:
    app, wrong = world.site.app, []
    cookies = [None, world.site.cookie_of(world.ada), world.site.cookie_of(world.people["root"])]
    paths = {form.name: path_of(world, form) for form in form_routes()}
    before = rows(app)
    for form in form_routes():
        fields = example_form(form.calls) if form.calls else {}
        for cookie in cookies:
            answer = ask(app, "POST", paths[form.name], cookie, OTHER_ORIGINS[origin], data=fields)
            refused = answer.status_code == 403 and "another site" in answer.text
            if not refused or answer.headers.getlist("Set-Cookie"):
                wrong.append(f"{form.name}: {answer.status_code}")
    assert not wrong, as_lines(wrong)
    assert rows(app) == before


def test_forms_of_the_console_are_not_rejected_as_cross_site(world: World) -> None:
    """The origin is the reason for the rejection in the other test."""
    for form in form_routes():
        answer = ask(world.site.app, "POST", path_of(world, form), None, SAME_ORIGIN)
        # A disabled feature also rejects the form, with another text.
        assert "another site" not in answer.text, form.name
