"""Several identity providers at once: each has its own sign-ins, and its own outages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.auth.idp import calls
from app.auth.idp.identities import Identities
from app.core.context import service
from app.testing.client import Api

from ..conftest import MakePerson
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import GitHub, Google
from ..rigs.oidc.glewlwyd import Glewlwyd, GlewlwydBrowser
from ..rigs.oidc.node import CLIENT_SECRET
from ..rigs.oidc.proxy import DISCOVERY, Proxy
from ..rigs.oidc.visitor import OTHER_REDIRECT_URI, REDIRECT_URI, Visitor

# The database does not matter here.
pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

USER: dict[str, Any] = {"sub": "1", "email": "ada@example.com", "email_verified": True}


@pytest.fixture
def acme(proxy: Proxy) -> dict[str, object]:
    """A real provider, by a name."""
    return {
        "kind": "oidc",
        "metadata_url": proxy.metadata_url,
        "issuer": proxy.issuer,
        "client_id": "frontdesk",
        "client_secret": CLIENT_SECRET,
    }


class NamedVisitor(Visitor):
    """A user of the real provider, for which the service has another name."""

    name = "acme"

    def begin(self, redirect_uri: str = REDIRECT_URI) -> str:
        answer = self.api.get(f"/idp/{self.name}/login", 302)
        return str(answer.headers["Location"])

    def finish(self, redirect: dict[str, str], status: int = 200, **changes: Any) -> Any:
        return self.api.post(f"/idp/{self.name}/callback", status, json={**redirect, **changes})


@pytest.fixture
def providers_app(
    make_providers_app: MakeProvidersApp,
    acme: dict[str, object],
    google: Google,
    person: MakePerson,
) -> Flask:
    made = make_providers_app(
        acme={**acme, "title": "Acme"},
        google=client_of("google"),
        IDP_ALLOWED_REDIRECT_URIS=f'["{OTHER_REDIRECT_URI}"]',
    )
    person("ada", into=made)
    return made


def code_of(answer: Any) -> str:
    return str(answer.json["code"])


def test_real_provider_by_a_name(providers_app: Flask) -> None:
    visitor = NamedVisitor(Api(providers_app))
    token = visitor.sign_in("ada").json["access_token"]
    assert Api(providers_app, token=token).get("/account").json["email"] == "ada@example.com"


def test_providers_are_listed_with_the_default_one(
    make_idp_app: Callable[..., Flask], providers_app: Flask
) -> None:
    assert Api(providers_app).get("/idp/providers").json == [
        {"name": "acme", "kind": "oidc", "title": "Acme"},
        {"name": "google", "kind": "google", "title": "Google"},
    ]
    assert Api(make_idp_app()).get("/idp/providers").json == [
        {"name": "default", "kind": "oidc", "title": "127.0.0.1"}
    ]


def test_without_providers_the_routes_are_off(make_app: Callable[..., Flask]) -> None:
    api = Api(make_app())
    assert code_of(api.get("/idp/providers", 404)) == "feature_off"
    assert code_of(api.get("/idp/google/login", 404)) == "feature_off"
    assert code_of(api.get("/idp/login", 403)) == "idp_disabled"


def test_unknown_provider_is_a_404(providers_app: Flask) -> None:
    api = Api(providers_app)
    for answer in (
        api.get("/idp/other/login", 404),
        api.post("/idp/other/callback", 404, json={}),
        api.post("/idp/other/return", 404, data={}),
        # The contract's settings are off, so no provider has this name.
        api.get("/idp/default/login", 404),
    ):
        assert code_of(answer) == "provider_not_found"
    assert code_of(api.get("/idp/login", 403)) == "idp_disabled"
    assert code_of(api.post("/idp/callback", 403, json={})) == "idp_disabled"


def test_default_has_both_paths(make_idp_app: Callable[..., Flask], person: MakePerson) -> None:
    app = make_idp_app()
    person("ada", into=app)
    visitor = NamedVisitor(Api(app))
    visitor.name = "default"
    visitor.sign_in("ada")
    # A sign-in that one path started can be finished by the other one, without a state.
    found = Visitor.go(visitor, "ada")
    visitor.api.post("/idp/callback", 200, json={"code": found["code"]})
    found = visitor.go("ada")
    visitor.finish({"code": found["code"]})


def test_code_of_one_provider_at_the_callback_of_another(
    providers_app: Flask, google: Google
) -> None:
    guest, acme = Guest(providers_app, "google"), NamedVisitor(Api(providers_app))
    acme.api = guest.api
    found = google.authorize(guest.begin(), **USER)
    other = acme.go("ada")
    assert code_of(acme.finish(found, 400)) == "unknown_sign_in"
    assert code_of(guest.finish(other, 400)) == "unknown_sign_in"
    # The state of the other provider, which this browser has, does not help.
    assert code_of(acme.finish({**found, "state": other["state"]}, 400)) == "sign_in_refused"
    guest.finish(found)


def test_state_is_required_and_belongs_to_a_browser(providers_app: Flask, google: Google) -> None:
    guest = Guest(providers_app, "google")
    found = google.authorize(guest.begin(), **USER)
    assert code_of(guest.finish({"code": found["code"]}, 400)) == "unknown_sign_in"
    assert code_of(Guest(providers_app, "google").finish(found, 400)) == "unknown_sign_in"
    answer = guest.finish(found, 400, redirect_uri=OTHER_REDIRECT_URI)
    assert code_of(answer) == "unknown_sign_in"
    guest.finish(found)
    assert code_of(guest.finish(found, 400)) == "unknown_sign_in"


def test_issuer_of_the_response_is_compared_if_sent(
    providers_app: Flask, google: Google, proxy: Proxy
) -> None:
    visitor = NamedVisitor(Api(providers_app))
    found = visitor.go("ada")
    # This provider sends it.
    assert found["iss"] == proxy.issuer
    visitor.finish(found)
    for issuer in ("https://accounts.google.com", "", "x"):
        answer = visitor.finish({**visitor.go("ada"), "iss": issuer}, 400)
        assert code_of(answer) == "sign_in_refused"
    guest = Guest(providers_app, "google")
    for issuer in ("https://accounts.google.com", "accounts.google.com"):
        guest.finish(google.authorize(guest.begin(), **USER), iss=issuer)


def test_each_identity_has_its_provider(providers_app: Flask, google: Google) -> None:
    Guest(providers_app, "google").sign_in(google, **USER)
    # The same subject of another issuer is another identity of the same account.
    token = NamedVisitor(Api(providers_app)).sign_in("ada").json["access_token"]
    assert Api(providers_app, token=token).get("/account").json["email"] == "ada@example.com"
    answer = Guest(providers_app, "google").sign_in(google, 400, **{**USER, "sub": "2"})
    assert code_of(answer) == "linked_to_another"


def test_provider_has_its_own_redirect_uri(
    make_providers_app: MakeProvidersApp, google: Google, github: GitHub
) -> None:
    app = make_providers_app(
        google=client_of("google", redirect_uri="https://app.example.org/google"),
        github=client_of("github"),
        IDP_REDIRECT_URI="",
    )
    assert "app.example.org%2Fgoogle" in Guest(app, "google").begin()
    assert Guest(app, "github").api.get("/idp/github/login", 422).faults == ["query:redirect_uri"]
    # It is allowed for this provider alone.
    Guest(app, "github").begin(422, redirect_uri="https://app.example.org/google")


def test_provider_that_hangs_is_rejected_at_once_and_found_again(
    providers_app: Flask, google: Google, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "STEP_SECONDS", 0.2)
    proxy.delay(DISCOVERY, 3)
    api = Api(providers_app)
    assert code_of(api.get("/idp/acme/login", 502)) == "provider_unavailable"
    calls_before = proxy.calls[DISCOVERY]
    for _ in range(20):
        api.get("/idp/acme/login", 502)
    # Only the checks reach it.
    assert proxy.calls[DISCOVERY] <= calls_before + 2
    Guest(providers_app, "google").sign_in(google, **USER)
    proxy.reset()
    deadline = time.monotonic() + 10
    while api.client.get("/api/v1/idp/acme/login").status_code != 302:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_two_real_providers_at_once(
    make_providers_app: MakeProvidersApp,
    acme: dict[str, object],
    glewlwyd: Glewlwyd,
    person: MakePerson,
) -> None:
    other = {"kind": "oidc", "metadata_url": glewlwyd.metadata_url}
    client = {"client_id": "by-post", "client_secret": CLIENT_SECRET}
    app = make_providers_app(acme=acme, campus={**other, **client})
    ada = person("ada", into=app)
    first, second = NamedVisitor(Api(app)), NamedVisitor(Api(app), GlewlwydBrowser(glewlwyd))
    second.name = "campus"
    # Both sign-ins are pending in one browser.
    second.api = first.api
    found = first.go("ada")
    for answer in (second.finish(second.go("ada")), first.finish(found)):
        assert answer.json["account"]["id"] == ada.id
    with app.app_context():
        linked = {each.provider: each.issuer for each in service(Identities).list(ada.id)}
    assert linked == {"acme": acme["issuer"], "campus": glewlwyd.issuer}
