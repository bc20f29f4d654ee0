"""Sign-in through Google, Microsoft, GitHub and Apple, with fakes that have their traits."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.auth.idp.oidc import VALID_SECONDS
from app.testing.client import Api

from ..conftest import MakePerson
from ..rigs.cases import for_each, new_name
from ..rigs.oidc.browser import query_of
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of, client_of_apple
from ..rigs.oidc.fakes import OTHER_TENANT, SECRET, TENANT, Apple, GitHub, Google, Microsoft
from ..rigs.oidc.visitor import REDIRECT_URI

# The database does not matter here.
pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

NOREPLY = {"email": "ada@users.noreply.github.com", "primary": False, "verified": True}


def octocat(guest: Guest, **primary: object) -> dict[str, Any]:
    own = {"email": guest.user["email"], "primary": True, "verified": True, **primary}
    return {"id": 583231, "login": "octocat", "emails": [NOREPLY, own]}


@pytest.fixture
def make(make_providers_app: MakeProvidersApp, person: MakePerson) -> Any:
    """Create the service with one provider, named after its kind, and an account for a guest."""

    def make(members: dict[str, object], **environment: str) -> Guest:
        kind = str(members["kind"])
        app = make_providers_app(**{kind: members}, **environment)
        name = new_name("ada")
        person(name, into=app)
        return Guest(app, kind, {"sub": name, "email": f"{name}@example.com"})

    return make


def code_of(answer: Any) -> str:
    return str(answer.json["code"])


def test_google_is_one_issuer_with_and_without_its_scheme(make: Any, google: Google) -> None:
    guest = make(client_of("google"))
    answer = guest.sign_in(google, **guest.user, email_verified=True)
    assert answer.json["account"]["email"] == guest.user["email"]
    # A known identity: without the scheme, and with an address that is not verified any more.
    google.issuer = "accounts.google.com"
    guest.sign_in(google, **guest.user, email_verified=False)
    found = google.authorize(guest.begin(), **guest.user)
    assert (
        code_of(guest.finish(found, 400, iss="https://accounts.example.com")) == "sign_in_refused"
    )
    google.issuer = "accounts.google.com.example"
    assert code_of(guest.sign_in(google, 400, **guest.user)) == "sign_in_refused"


@for_each(
    ("members", "claims", "outcome"),
    [
        ({}, {}, "email_code_required"),
        ({}, {"email_verified": True}, "email_code_required"),
        ({}, {"xms_edov": False}, "email_code_required"),
        ({}, {"xms_edov": True}, None),
        ({}, {"xms_edov": "1"}, None),
        ({"verified_tenants": [TENANT]}, {}, None),
        ({"verified_tenants": [OTHER_TENANT]}, {}, "email_code_required"),
        ({"tenant": [TENANT, OTHER_TENANT]}, {"xms_edov": True}, None),
        ({"tenant": [OTHER_TENANT, OTHER_TENANT]}, {"xms_edov": True}, "sign_in_refused"),
        ({"tenant": OTHER_TENANT}, {"xms_edov": True}, "sign_in_refused"),
        ({"tenant": "organizations"}, {"xms_edov": True}, None),
        ({"tenant": "common"}, {"xms_edov": True, "tid": OTHER_TENANT}, None),
    ],
)
def test_microsoft_users_need_a_verified_domain_and_a_listed_tenant(
    make: Any,
    microsoft: Microsoft,
    members: dict[str, object],
    claims: dict[str, object],
    outcome: str | None,
) -> None:
    guest = make(client_of("microsoft", **{"tenant": TENANT, **members}))
    statuses = {None: 200, "email_code_required": 403}
    answer = guest.sign_in(microsoft, statuses.get(outcome, 400), **guest.user, **claims)
    assert outcome is None or code_of(answer) == outcome


def test_user_of_another_tenant_cannot_link_the_same_account(
    make: Any, microsoft: Microsoft
) -> None:
    guest = make(client_of("microsoft", tenant="common"))
    guest.sign_in(microsoft, **guest.user, xms_edov=True)
    answer = guest.sign_in(microsoft, 400, **guest.user, xms_edov=True, tid=OTHER_TENANT)
    assert code_of(answer) == "linked_to_another"


def test_issuer_of_microsoft_must_be_that_of_the_tenant(make: Any, microsoft: Microsoft) -> None:
    guest = make(client_of("microsoft", tenant="common"))
    microsoft.issuer = f"https://login.microsoftonline.com/{OTHER_TENANT}/v2.0"
    answer = guest.api.get("/idp/microsoft/login", 502)
    assert code_of(answer) == "provider_unavailable"


def test_github_signs_in_by_the_primary_verified_address(make: Any, github: GitHub) -> None:
    guest = make(client_of("github"))
    url = guest.begin()
    asked = query_of(url)
    assert (asked["scope"], asked["redirect_uri"]) == ("user:email", REDIRECT_URI)
    answer = guest.finish(github.authorize(url, **octocat(guest)))
    assert answer.json["account"]["email"] == guest.user["email"]
    # The numeric id identifies the user: login name and addresses can change.
    guest.sign_in(github, **{**octocat(guest), "login": "renamed", "emails": []})


@for_each("primary", [{"verified": False}, {"primary": False}, {"email": None}])
def test_github_user_without_a_verified_primary_address_is_rejected(
    make: Any, github: GitHub, primary: dict[str, object]
) -> None:
    guest = make(client_of("github"))
    answer = guest.sign_in(github, 400, **octocat(guest, **primary))
    assert code_of(answer) == "email_not_verified"


def test_errors_of_github_have_the_status_200(make: Any, github: GitHub) -> None:
    guest = make(client_of("github"))
    found = github.authorize(guest.begin(), **octocat(guest))
    assert code_of(guest.finish({**found, "code": "used before"}, 400)) == "sign_in_refused"
    other = make(client_of("github", client_secret="another secret"))
    assert code_of(other.sign_in(github, 502, **octocat(other))) == "provider_unavailable"


def test_github_user_without_a_numeric_id_is_rejected(make: Any, github: GitHub) -> None:
    guest = make(client_of("github"))
    guest.sign_in(github, 502, **{**octocat(guest), "id": "583231"})


def post_return(guest: Guest, form: dict[str, str], status: int = 303) -> Any:
    """Send the form as Apple's page does: another site, without the cookie."""
    headers = {"Origin": "https://appleid.apple.com", "Sec-Fetch-Site": "cross-site"}
    return Api(guest.api.app).post("/idp/apple/return", status, data=form, headers=headers)


def test_apple_returns_by_a_form_without_the_cookie(
    make: Any, apple: Apple, tmp_path: Path
) -> None:
    guest = make(client_of_apple(apple, tmp_path), CORE__PUBLIC_URL="https://api.example.com")
    url = guest.begin()
    assert query_of(url)["redirect_uri"] == "https://api.example.com/api/v1/idp/apple/return"
    found = apple.authorize(url, **guest.user, email_verified="true")
    answer = post_return(guest, found)
    assert "Set-Cookie" not in answer.headers
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    location = answer.headers["Location"]
    assert location.startswith(f"{REDIRECT_URI}?")
    # The name and the address of the form are not signed: they are left out.
    assert query_of(location) == {name: found[name] for name in ("code", "state")}
    # Only the browser with the cookie can finish.
    assert code_of(Guest(guest.api.app, "apple").finish(query_of(location), 400)) == (
        "unknown_sign_in"
    )
    guest.finish(query_of(location))
    [secret] = apple.client_secrets
    assert secret["exp"] - secret["iat"] == VALID_SECONDS == 300
    canceled = post_return(guest, {"error": "user_cancelled_authorize", "state": "x"})
    assert query_of(canceled.headers["Location"])["error"] == "user_cancelled_authorize"


def test_return_is_small_and_only_for_apple(
    make: Any, make_providers_app: MakeProvidersApp, apple: Apple, tmp_path: Path
) -> None:
    guest = make(client_of_apple(apple, tmp_path))
    post_return(guest, {"code": "x", "user": "x" * 8192}, 413)
    app = make_providers_app(google=client_of("google"))
    assert code_of(Api(app).post("/idp/google/return", 404, data={})) == "provider_not_found"


def test_form_of_apple_goes_to_its_redirect_uri_alone(
    make: Any, apple: Apple, tmp_path: Path
) -> None:
    own = "https://app.example.com/apple?from=apple"
    guest = make(client_of_apple(apple, tmp_path, redirect_uri=own))
    answer = guest.api.get(
        "/idp/apple/login", 422, query_string={"redirect_uri": "http://localhost:3000/other"}
    )
    assert answer.faults == ["query:redirect_uri"]
    found = apple.authorize(guest.begin(), **guest.user, email_verified=True)
    location = post_return(guest, found).headers["Location"]
    assert (urlsplit(location).netloc, query_of(location)["from"]) == ("app.example.com", "apple")
    guest.finish(query_of(location))


@for_each("verified", ["true", "True", 1, "1", None])
def test_text_is_no_verification_except_for_apple(
    make: Any, google: Google, verified: object
) -> None:
    guest = make(client_of("google"))
    answer = guest.sign_in(google, 400, **guest.user, email_verified=verified)
    assert code_of(answer) == "email_not_verified"


@for_each("verified", ["false", False, "True", 1, None])
def test_apple_accepts_only_true_and_its_text(
    make: Any, apple: Apple, tmp_path: Path, verified: object
) -> None:
    guest = make(client_of_apple(apple, tmp_path))
    answer = guest.sign_in(apple, 400, **guest.user, email_verified=verified)
    assert code_of(answer) == "email_not_verified"


def test_secrets_of_a_provider_are_not_logged(
    make: Any, github: GitHub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    guest = make(client_of("github"))
    found = github.authorize(guest.begin(), **octocat(guest))
    guest.finish(found)
    guest.finish({**github.authorize(guest.begin(), **octocat(guest)), "code": "other"}, 400)
    messages = [each.getMessage() for each in caplog.records]
    secrets = (SECRET, found["code"], *github.access_tokens, "code_verifier")
    assert github.access_tokens
    assert not [line for line in messages for secret in secrets if secret in line]
