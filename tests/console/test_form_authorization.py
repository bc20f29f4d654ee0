"""Every form of the console has the same access rules and results as its API route."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.core.web.operation import operation
from app.testing.database import rolled_back

from ..rigs.console.faults import as_lines
from ..rigs.console.requests import ApiCall, api_rule, ask, example_form, path_of, record_api_calls
from ..rigs.console.routes import Route, form_routes
from ..rigs.console.world import World, values_of
from .test_broadcasts import field_of

# Forms that call no view of the API, with the reason.
OWN_FORMS: dict[str, str] = {
    "compose": "searches recipients and opens the next page; stores nothing",
    "count_reach": "counts recipients that the API cannot select",
    "show_mail": "previews the draft",
    "send_test": "sends the draft to its author",
    "save_draft": "belongs to the page of the console",
    "delete_draft": "belongs to the page of the console",
    "duplicate_broadcast": "belongs to the page of the console",
    "save_segment": "belongs to the page of the console",
    "delete_segment": "belongs to the page of the console",
    "hide_first_steps": "sets a cookie only",
    "dismiss_banner": "works for visitors too: their browser keeps the dismissed banners",
    "send_sample": "sends a sample email to the caller",
    "restore_item": "the API cannot undo a deletion",
    "mark_selected_items": "changes several messages, which the API does one at a time",
    "delete_selected_items": "changes several messages, which the API does one at a time",
    "make_first_root": "no account exists yet; the link of the server authorizes the form",
    "make_profile": "requires other properties than the API",
    "change_profile": "requires other properties than the API",
    "add_account_note": "belongs to the page of the console",
    "delete_account_note": "belongs to the page of the console",
    "change_managed_email": "belongs to the page of the console",
    "appoint_workspace_owner": "belongs to the page of the console",
    "delete_managed_workspace": "belongs to the page of the console",
    "unlink_managed_identity": "belongs to the page of the console",
    "suspend_selected": "changes many accounts, which the API does one at a time",
    "reactivate_selected": "changes many accounts, which the API does one at a time",
    "sign_out_selected": "changes many accounts, which the API does one at a time",
    "add_selected": "changes many accounts, which the API does one at a time",
    "carry_email": "opens another page for visitors with the email address filled in",
    "set_up_own_app": "one form instead of two requests; its service is that of the API",
    "recovery_codes_file": "returns the codes that the form has; the API returns them only once",
    "set_appearance": "sets a cookie only",
    "set_workspace_logo": "the API has no logos",
    "remove_workspace_logo": "the API has no logos",
}

# Forms of features that are disabled in these tests.
DISABLED = {
    "begin_link",
    "confirm_link",
    "finish_link",
    "finish_provider_sign_in",
    "remove_identity",
    "verify_provider_email",
}

FORMS = [route for route in form_routes() if route.name not in OWN_FORMS]


def test_every_form_calls_a_view_of_the_api_or_declares_its_own_rules() -> None:
    """No form calls a view that was written only for it."""
    forms = form_routes()
    assert [route.name for route in forms if route.calls is None] == []
    own = {route.name for route in forms if not calls_the_api(route)}
    assert own == OWN_FORMS.keys()
    assert [
        route.name for route in forms if route.name in own and route.calls is not route.undecorated
    ] == []


def calls_the_api(route: Route) -> bool:
    view = route.calls
    return view is not None and not view.__module__.startswith("app.console.")


def test_admin_forms_reject_other_callers(world: World) -> None:
    """Also forms without an API view, and no response contains data for admins only."""
    app, wrong = world.site.app, []
    other_cookie = world.site.cookie_of(world.people["new_user"])
    forms = [form for form in form_routes() if "/admin/" in form.path]
    for form, audience in product(forms, ("chosen", "everyone")):
        sent = {"account_receiver_ids": [str(world.ada.id)], "audience": audience}
        for cookie in (None, other_cookie):
            answer = ask(app, "POST", path_of(world, form), cookie, data=sent)
            if not is_rejected(answer) or world.ada.email in answer.text:
                wrong.append(f"{form.name} for {audience}: {answer.status_code}")
    assert not wrong, as_lines(wrong)


def inactive(world: World) -> str:
    """Return the cookie of an account that was suspended after sign-in."""
    person = world.site.person("eve")
    cookie = world.site.cookie_of(person)
    person.change(status="suspended")
    return cookie


def signed_in_as(who: str) -> Callable[[World], str]:
    return lambda world: world.site.cookie_of(world.people[who])


CALLERS: dict[str, Callable[[World], str | None]] = {
    "anonymous": lambda _: None,
    "an old cookie": lambda _: "A" * 64,
    "inactive account": inactive,
    "the owner": signed_in_as("owner"),
    "another account": signed_in_as("new_user"),
    "an admin": signed_in_as("admin"),
    "root": signed_in_as("root"),
}


@pytest.mark.parametrize("caller", CALLERS)
def test_forms_respond_like_their_api_routes(world: World, caller: str) -> None:
    cookie, app = CALLERS[caller](world), world.site.app
    wrong = []
    for form in FORMS:
        takes_files = "files" in operation(form.api_view).reads
        kind = "multipart/form-data" if takes_files else None
        for fields in ({}, fields_of(world, form)):
            # The path stays the same for the form and the API.
            path = path_of(world, form)
            with rolled_back(app), record_api_calls() as noted:
                by_form = ask(app, "POST", path, cookie, data=fields, content_type=kind)
            did = [each for each in noted if each.view is form.api_view]
            if not did:
                if not is_rejected(by_form):
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


def test_every_form_succeeds_for_some_caller(world: World) -> None:
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
    assert set(idle) <= DISABLED, as_lines(idle)


def fields_of(world: World, form: Route) -> dict[str, str]:
    """Return example values and the hidden fields of the form."""
    fields = example_form(form.api_view)
    if form.name != "send_broadcast":
        return fields
    # The page before has counted the recipients, once for each broadcast.
    fields["audience"] = "everyone"
    reach = next(each for each in form_routes() if each.name == "count_reach")
    admin = signed_in_as("admin")(world)
    counted = ask(world.site.app, "POST", path_of(world, reach), admin, data=fields)
    return {**fields, "counted": field_of(counted.text, "counted")}


def ask_api(
    world: World, form: Route, did: ApiCall, cookie: str | None, fields: dict[str, str]
) -> TestResponse:
    """Send the same values to the API as the same caller."""
    app = world.site.app
    rule = api_rule(app, form.api_view)
    method = min((rule.methods or set()) - {"HEAD", "OPTIONS"})
    # Without the arguments that only a page can pass.
    passed = {name: value for name, value in did.path.items() if name in rule.arguments}
    values = {**values_of(world, rule.arguments), **passed}
    path = app.url_map.bind("localhost").build(rule.endpoint, values, method=method)
    sent: dict[str, Any] = {
        name: did.read[place] for place, name in _SENT_AS.items() if place in did.read
    }
    if not sent and method != "GET":
        # The view reads files from the form itself.
        sent = {"data": fields, "content_type": "multipart/form-data"}
    return ask(app, method, path, cookie, **sent)


_SENT_AS = {"json": "json", "form": "data", "query": "query_string"}


def is_rejected(by_form: TestResponse) -> bool:
    """Return whether the form was rejected or redirected to sign-in or re-authentication."""
    to = by_form.headers.get("Location", "")
    led_away = by_form.status_code == 303 and ("/sign-in" in to or "/confirm" in to)
    return led_away or 400 <= by_form.status_code < 500


def is_alike(by_form: TestResponse, by_api: TestResponse) -> bool:
    """Return whether the results match: redirects replace 401 and success."""
    if by_api.status_code == 401 and by_form.status_code == 303:
        return is_rejected(by_form)
    if by_api.status_code < 400:
        return by_form.status_code < 400
    return by_form.status_code == by_api.status_code
