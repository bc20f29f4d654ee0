"""AUTH.PROVIDERS: invalid values stop the start with a sentence, and secrets are never shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.testing.client import Api

from ..rigs.cases import for_each
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of, client_of_apple
from ..rigs.oidc.fakes import TENANT, Apple, GitHub, Google, Microsoft
from ..rigs.oidc.visitor import REDIRECT_URI

# The database does not matter here.
pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

SECRET = "hidden-client-secret"
GOOGLE = {"kind": "google", "client_id": "x", "client_secret": SECRET}
ACME = {"kind": "oidc", "client_id": "x", "metadata_url": "https://a.example/.well-known/x"}
APPLE = {"kind": "apple", "client_id": "x", "team_id": "T", "key_id": "K"}
MICROSOFT = {"kind": "microsoft", "client_id": "x", "client_secret": SECRET}
GITHUB = {**GOOGLE, "kind": "github"}
TEAM = {"a": {"slug": "garden", "type": "member"}}
GROUPS = {**ACME, "groups_claim": "groups"}
ROOT = {**GROUPS, "roles": {"a": "root"}}


@for_each(
    ("providers", "sentence"),
    [
        ({"Google": GOOGLE}, "'Google' needs another name: at most 31 small letters, digits"),
        ({"default": GOOGLE}, "'default' needs another name"),
        ({"login": GOOGLE}, "'login' needs another name"),
        ({"a" * 32: GOOGLE}, "needs another name"),
        ({"a": "google"}, "'a' must be a mapping"),
        ({"a": {}}, "'a' needs a kind: oidc, google, microsoft, github, apple"),
        ({"a": {"kind": "saml"}}, "'a' needs a kind"),
        ({"a": {**GOOGLE, "tenant": "x"}}, "'a' has the unknown member tenant"),
        ({"a": {"kind": "google", "client_secret": SECRET}}, "'a' needs client_id"),
        ({"a": {"kind": "github", "client_id": "x"}}, "'a' needs client_secret"),
        ({"a": {"kind": "oidc", "client_id": "x"}}, "'a' needs metadata_url"),
        ({"a": {**ACME, "metadata_url": "a.example"}}, "'a' needs a URL for metadata_url"),
        ({"a": {**GOOGLE, "client_id": ""}}, "'a' needs a text for client_id"),
        ({"a": {**GOOGLE, "client_secret": [SECRET]}}, "'a' needs a text for client_secret"),
        ({"a": {**GOOGLE, "client_secret_file": "x"}}, "has both client_secret and client_secret_"),
        ({"a": MICROSOFT}, "'a' needs tenant"),
        ({"a": {**MICROSOFT, "tenant": []}}, "'a' needs the IDs of tenants for tenant, such as"),
        ({"a": {**MICROSOFT, "tenant": "contoso.onmicrosoft.com"}}, "or organizations or common"),
        ({"a": {**MICROSOFT, "tenant": ["common", TENANT]}}, "'a' needs the IDs of tenants for"),
        ({"a": APPLE}, "'a' needs private_key_file"),
        ({"a": {**APPLE, "private_key_file": "none.p8"}}, "cannot be read: No such file"),
        ({"a": {**APPLE, "private_key_file": "empty.p8"}}, "has a private_key_file with no text"),
        ({"a": {**APPLE, "private_key_file": "wrong.p8"}}, "with no private key in PEM format"),
        ({"a": GOOGLE, "b": GOOGLE}, "a and b have the same issuer, https://accounts.google.com"),
        ({"a": ACME, "b": {**ACME, "client_id": "y"}}, "a and b have the same issuer"),
        (
            {"a": {**MICROSOFT, "tenant": TENANT}, "b": {**MICROSOFT, "tenant": "common"}},
            "a and b have the same issuer",
        ),
        ({"a": {**GITHUB, "groups_claim": "groups"}}, "'a' has the unknown member groups_claim"),
        ({"a": {**GITHUB, "roles": {"a": "admin"}}}, "'a' has the unknown member roles"),
        *(
            (
                {"a": {**MICROSOFT, "tenant": tenant, "groups_claim": "roles"}},
                "'a' has groups_claim, and needs the IDs of tenants for tenant",
            )
            for tenant in ("organizations", "common")
        ),
        ({"a": {**ACME, "groups_claim": ["groups"]}}, "'a' needs a text for groups_claim"),
        ({"a": {**ACME, "groups_claim": ""}}, "'a' needs a text for groups_claim"),
        ({"a": {**ACME, "roles": {"a": "admin"}}}, "'a' has roles, and needs groups_claim"),
        ({"a": {**ACME, "workspaces": TEAM}}, "'a' has workspaces, and needs groups_claim"),
        ({"a": {**ACME, "roles_mode": "add"}}, "'a' has roles_mode, and needs groups_claim"),
        ({"a": {**ACME, "allow_root": True}}, "'a' has allow_root, and needs groups_claim"),
        ({"a": {**GROUPS, "roles": ["admin"]}}, "'a' needs a mapping of groups to roles for roles"),
        ({"a": {**GROUPS, "roles": "admin"}}, "'a' needs a mapping of groups to roles for roles"),
        ({"a": {**GROUPS, "roles": {"a": ["admin"]}}}, "'a' needs a mapping of groups to roles"),
        ({"a": {**GROUPS, "roles": {"": "admin"}}}, "'a' needs a mapping of groups to roles"),
        ({"a": {**GROUPS, "roles": {"a": "boss"}}}, "a has roles that are not in AUTH.ROLES: boss"),
        ({"a": {**GROUPS, "roles": {"a": "Admin"}}}, "roles that are not in AUTH.ROLES: Admin"),
        ({"a": {**GROUPS, "roles": {"a": "root"}}}, "the role root in roles, and needs allow_root"),
        ({"a": {**ROOT, "allow_root": False}}, "'a' gives the role root in roles, and needs allow"),
        ({"a": {**ROOT, "allow_root": "true"}}, "'a' needs true or false for allow_root"),
        ({"a": {**ROOT, "allow_root": 1}}, "'a' needs true or false for allow_root"),
        ({"a": {**GROUPS, "roles_mode": "set"}}, "'a' needs add or replace for roles_mode"),
        ({"a": {**GROUPS, "roles_mode": True}}, "'a' needs a text for roles_mode"),
        ({"a": {**GROUPS, "roles_mode": "replace"}}, "'a' has roles_mode replace, and needs roles"),
        (
            {"a": {**GROUPS, "workspaces": ["garden"]}},
            "'a' needs a mapping of groups to workspaces",
        ),
        ({"a": {**GROUPS, "workspaces": {"a": "garden"}}}, "a mapping of groups to workspaces for"),
        (
            {"a": {**GROUPS, "workspaces": {"a": {"slug": "garden"}}}},
            "'a' needs the members slug and type for each group in workspaces",
        ),
        (
            {"a": {**GROUPS, "workspaces": {"a": {**TEAM["a"], "status": "active"}}}},
            "'a' needs the members slug and type for each group in workspaces",
        ),
        (
            {"a": {**GROUPS, "workspaces": {"a": {"slug": 1, "type": "member"}}}},
            "'a' needs the members slug and type for each group in workspaces",
        ),
        (
            {"a": {**GROUPS, "workspaces": {"a": {"slug": "garden", "type": "boss"}}}},
            "'a' needs a type in workspaces: owner, admin, member, guest",
        ),
        (["google"], "must be a mapping of identity providers by name"),
    ],
)
def test_invalid_provider_stops_the_start_with_a_sentence(
    make_app: Callable[..., Flask], tmp_path: Path, providers: object, sentence: str
) -> None:
    (tmp_path / "empty.p8").write_text("\n")
    (tmp_path / "wrong.p8").write_text(SECRET)
    with pytest.raises(SettingsError) as caught:
        make_app(AUTH__PROVIDERS=json.dumps(providers), IDP_REDIRECT_URI=REDIRECT_URI)
    assert sentence in str(caught.value)
    assert SECRET not in str(caught.value)


def test_provider_of_the_contract_is_not_configured_twice(
    make_idp_app: Callable[..., Flask],
) -> None:
    google = "https://accounts.google.com"
    with pytest.raises(SettingsError, match="default and google have the same issuer"):
        make_idp_app(
            IDP_METADATA_URL=f"{google}/.well-known/openid-configuration",
            IDP_ISSUER="",
            AUTH__PROVIDERS=json.dumps({"google": GOOGLE}),
        )


def test_apple_needs_a_redirect_uri(
    make_providers_app: MakeProvidersApp, apple: Apple, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="apple needs redirect_uri, or set IDP_REDIRECT_URI"):
        make_providers_app(apple=client_of_apple(apple, tmp_path), IDP_REDIRECT_URI="")


def test_secret_in_a_file(
    make_providers_app: MakeProvidersApp, google: Google, tmp_path: Path
) -> None:
    path = tmp_path / "secret"
    members = client_of("google")
    path.write_text(f"{members.pop('client_secret')}\n")
    app = make_providers_app(google={**members, "client_secret_file": str(path)})
    user = {"sub": "1", "email": "a@example.com", "email_verified": True}
    answer = Guest(app, "google").sign_in(google, 400, **user)
    assert answer.json["code"] == "no_account"


def test_passwords_can_be_off_with_a_provider(make_providers_app: MakeProvidersApp) -> None:
    make_providers_app(google=GOOGLE, AUTH__PASSWORDS="off")


def run(app: Flask, *command: str) -> str:
    return app.test_cli_runner().invoke(args=["frontdesk", *command]).output


def test_secrets_are_not_shown(
    make_providers_app: MakeProvidersApp, apple: Apple, tmp_path: Path
) -> None:
    members = client_of_apple(apple, tmp_path)
    app = make_providers_app(google=GOOGLE, apple=members)
    key = Path(str(members["private_key_file"])).read_text().splitlines()[1]
    for output in (run(app, "config"), run(app, "config", "--json"), run(app, "doctor")):
        assert SECRET not in output
        assert key not in output
    assert "google: google" in run(app, "config")


def findings(app: Flask) -> list[tuple[str, str]]:
    found = json.loads(run(app, "doctor", "--json").splitlines()[-1])["findings"]
    return [(each["level"], each["message"]) for each in found if each["check"] == "idp"]


def test_doctor_fetches_each_document(
    make_providers_app: MakeProvidersApp,
    google: Google,
    microsoft: Microsoft,
    github: GitHub,
    apple: Apple,
    tmp_path: Path,
) -> None:
    app = make_providers_app(
        google=client_of("google"),
        microsoft=client_of("microsoft", tenant="common"),
        github=client_of("github"),
        apple=client_of_apple(apple, tmp_path),
    )
    assert findings(app) == []
    assert all(each.requests for each in (google, microsoft, apple))
    google.issuer = "https://google.example"
    [(level, text)] = findings(
        make_providers_app(google=client_of("google"), github=client_of("github"))
    )
    assert level == "fault"
    assert text.startswith("The identity provider google at 127.0.0.1")
    assert "'https://google.example', and not 'https://accounts.google.com'" in text
    assert text.endswith("check AUTH__PROVIDERS, google.")


def test_doctor_finds_a_key_that_cannot_sign(
    make_providers_app: MakeProvidersApp, apple: Apple, tmp_path: Path
) -> None:
    members = client_of_apple(apple, tmp_path)
    key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    Path(str(members["private_key_file"])).write_text(key)
    app = make_providers_app(apple=members)
    [(level, _)] = findings(app)
    assert level == "fault"
    Api(app).get("/idp/apple/login", 502)


def test_doctor_warns_about_a_file_that_others_can_read(
    make_providers_app: MakeProvidersApp, google: Google, tmp_path: Path
) -> None:
    path = tmp_path / "open folder" / "secret"
    path.parent.mkdir(mode=0o755)
    path.write_text(SECRET)
    path.chmod(0o644)
    members = {"kind": "google", "client_id": "x", "client_secret_file": str(path)}
    app = make_providers_app(google=members)
    assert f"Run `chmod go= '{path}'`" in run(app, "doctor", "--json")
    path.chmod(0o600)
    assert str(path) not in run(app, "doctor", "--json")
