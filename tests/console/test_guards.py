"""Every form of the console does what a route of the API does, for those who may and no others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from app.testing.rollback import rolled_back

from ..rigs.console.asking import (
    Performed,
    api_rule,
    ask,
    example_form,
    noted_performances,
    path_of,
)
from ..rigs.console.faults import listed
from ..rigs.console.routes import Route, form_routes
from ..rigs.console.world import World, values_of

# Forms that no route of the API stands behind, and why.
OWN_FORMS: dict[str, str] = {
    "restore_item": "the API has no way back for what it deletes",
    "set_appearance": "a cookie of the browser's own",
}

FORMS = [route for route in form_routes() if route.name not in OWN_FORMS]


def test_every_form_says_which_route_it_is_for() -> None:
    silent = {route.name for route in form_routes() if not route.performs}
    assert silent == OWN_FORMS.keys()


def inactive(world: World) -> str:
    """Who was signed in before."""
    somebody = world.site.person("eve")
    cookie = world.site.cookie_of(somebody)
    somebody.change(status="suspended")
    return cookie


def signed_in_as(who: str) -> Callable[[World], str]:
    return lambda world: world.site.cookie_of(world.people[who])


CALLERS: dict[str, Callable[[World], str | None]] = {
    "nobody": lambda _: None,
    "an old cookie": lambda _: "A" * 64,
    "somebody inactive": inactive,
    "the owner": signed_in_as("owner"),
    "somebody else": signed_in_as("newcomer"),
    "an admin": signed_in_as("admin"),
    "root": signed_in_as("root"),
}


@pytest.mark.parametrize("caller", CALLERS)
def test_forms_answer_as_their_routes_do(world: World, caller: str) -> None:
    cookie, app = CALLERS[caller](world), world.site.app
    wrong = []
    for form in FORMS:
        for fields in ({}, example_form(app, form.performs)):
            with rolled_back(app), noted_performances() as noted:
                by_form = ask(app, "POST", path_of(world, form), cookie, data=fields)
            did = [each for each in noted if each.reference == form.performs]
            if not did:
                wrong.append(f"{form.name} does nothing, and answers {by_form.status_code}")
                continue
            with rolled_back(app):
                by_api = ask_api(world, form, did[0], cookie)
            if not is_alike(by_form, by_api):
                wrong.append(
                    f"{form.name} with {fields}: {by_form.status_code}"
                    f" to {by_form.headers.get('Location')}, but the API {by_api.status_code}"
                )
    assert not wrong, listed(wrong)


def ask_api(world: World, form: Route, did: Performed, cookie: str | None) -> TestResponse:
    """With what the form had the route read, as whoever sent it."""
    app = world.site.app
    rule = api_rule(app, form.performs)
    method = min((rule.methods or set()) - {"HEAD", "OPTIONS"})
    values = {**values_of(world, rule.arguments), **did.path}
    path = app.url_map.bind("localhost").build(rule.endpoint, values, method=method)
    sent = {name: did.read[place] for place, name in _SENT_AS.items() if place in did.read}
    if "files" in did.read:
        sent.pop("json", None)
    return ask(app, method, path, cookie, **sent)


_SENT_AS = {"json": "json", "form": "data", "query": "query_string"}


def is_alike(by_form: TestResponse, by_api: TestResponse) -> bool:
    """Who is not known is led away to sign in, and who has done something to the next page."""
    if by_api.status_code == 401 and by_form.status_code == 303:
        # As whoever is not known, or who has to show once more who they are.
        return "next=" in by_form.headers["Location"] or "sign-in" in by_form.headers["Location"]
    if by_api.status_code < 400:
        return by_form.status_code < 400
    return by_form.status_code == by_api.status_code
