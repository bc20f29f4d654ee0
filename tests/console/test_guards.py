"""Every form of the console does what a route of the API does, for those who may and no others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.console.admin.drafts import sign_count
from app.core.web.operation import operation
from app.testing.database import rolled_back

from ..rigs.console.faults import as_lines
from ..rigs.console.requests import ApiCall, api_rule, ask, example_form, path_of, record_api_calls
from ..rigs.console.routes import Route, form_routes
from ..rigs.console.world import World, values_of

# Forms that no route of the API stands behind, and why.
OWN_FORMS: dict[str, str] = {
    "compose": "it looks for receivers and goes on to the next page; nothing is stored",
    "show_mail": "it shows what the draft would look like",
    "send_test": "it sends the draft to who writes it",
    "send_sample": "it sends a mail of sample values to who looks at it",
    "restore_item": "the API has no way back for what it deletes",
    "make_first_root": "there is nobody yet who could ask for it: a link of the server's says who",
    "set_appearance": "a cookie of the browser's own",
}

# What is switched off where these tests look, and would do what it says if it were not.
SWITCHED_OFF = {"finish_provider_sign_in"}

FORMS = [route for route in form_routes() if route.name not in OWN_FORMS]


def test_every_form_says_which_route_it_is_for() -> None:
    silent = {route.name for route in form_routes() if not calls_the_api(route)}
    assert silent == OWN_FORMS.keys()


def calls_the_api(route: Route) -> bool:
    view = route.calls
    return view is not None and not view.__module__.startswith("app.console.")


def test_no_form_for_admins_is_done_for_others(world: World) -> None:
    """Those too that no route stands behind; nor does one show what only admins see."""
    app, wrong = world.site.app, []
    stranger = world.site.cookie_of(world.people["new_user"])
    forms = [form for form in form_routes() if "/admin/" in form.path]
    for form, audience in product(forms, ("chosen", "everyone")):
        sent = {"account_receiver_ids": [str(world.ada.id)], "audience": audience}
        for cookie in (None, stranger):
            answer = ask(app, "POST", path_of(world, form), cookie, data=sent)
            if not is_refused(answer) or world.ada.email in answer.text:
                wrong.append(f"{form.name} for {audience}: {answer.status_code}")
    assert not wrong, as_lines(wrong)


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
    "somebody else": signed_in_as("new_user"),
    "an admin": signed_in_as("admin"),
    "root": signed_in_as("root"),
}


@pytest.mark.parametrize("caller", CALLERS)
def test_forms_answer_as_their_routes_do(world: World, caller: str) -> None:
    cookie, app = CALLERS[caller](world), world.site.app
    wrong = []
    for form in FORMS:
        takes_files = "files" in operation(form.api_view).reads
        kind = "multipart/form-data" if takes_files else None
        for fields in ({}, fields_of(world, form)):
            # What it is about stays, so that both are asked about the same.
            path = path_of(world, form)
            with rolled_back(app), record_api_calls() as noted:
                by_form = ask(app, "POST", path, cookie, data=fields, content_type=kind)
            did = [each for each in noted if each.view is form.api_view]
            if not did:
                if not is_refused(by_form):
                    wrong.append(f"{form.name} does nothing, and answers {by_form.status_code}")
                continue
            with rolled_back(app):
                by_api = ask_api(world, form, did[0], cookie, fields)
            if not is_alike(by_form, by_api):
                wrong.append(
                    f"{form.name} with {fields}: {by_form.status_code}"
                    f" to {by_form.headers.get('Location')}, but the API {by_api.status_code}"
                )
    assert not wrong, as_lines(wrong)


def test_every_form_does_what_it_says_for_somebody(world: World) -> None:
    app = world.site.app
    cookies = [None, *(world.site.cookie_of(world.people[who]) for who in ("root", "owner"))]
    idle = []
    for form in FORMS:
        fields = fields_of(world, form)
        with record_api_calls() as noted:
            for cookie in cookies:
                with rolled_back(app):
                    ask(app, "POST", path_of(world, form), cookie, data=fields)
        if not any(each.view is form.api_view for each in noted):
            idle.append(form.name)
    assert set(idle) <= SWITCHED_OFF, as_lines(idle)


def fields_of(world: World, form: Route) -> dict[str, str]:
    """An example, and what the page that the form is on has put into it."""
    fields = example_form(form.api_view)
    if form.name == "send_broadcast":
        with world.site.app.app_context():
            fields["counted"] = sign_count(3)
    return fields


def ask_api(
    world: World, form: Route, did: ApiCall, cookie: str | None, fields: dict[str, str]
) -> TestResponse:
    """With what the form had the route read, as whoever sent it."""
    app = world.site.app
    rule = api_rule(app, form.api_view)
    method = min((rule.methods or set()) - {"HEAD", "OPTIONS"})
    values = {**values_of(world, rule.arguments), **did.path}
    path = app.url_map.bind("localhost").build(rule.endpoint, values, method=method)
    sent: dict[str, Any] = {
        name: did.read[place] for place, name in _SENT_AS.items() if place in did.read
    }
    if not sent and method != "GET":
        # Files are read as the form has sent them.
        sent = {"data": fields, "content_type": "multipart/form-data"}
    return ask(app, method, path, cookie, **sent)


_SENT_AS = {"json": "json", "form": "data", "query": "query_string"}


def is_refused(by_form: TestResponse) -> bool:
    """Or led away, to sign in or to show once more who one is."""
    to = by_form.headers.get("Location", "")
    led_away = by_form.status_code == 303 and ("/sign-in" in to or "/confirm" in to)
    return led_away or 400 <= by_form.status_code < 500


def is_alike(by_form: TestResponse, by_api: TestResponse) -> bool:
    """Who is not known is led away to sign in, and who has done something to the next page."""
    if by_api.status_code == 401 and by_form.status_code == 303:
        return is_refused(by_form)
    if by_api.status_code < 400:
        return by_form.status_code < 400
    return by_form.status_code == by_api.status_code
