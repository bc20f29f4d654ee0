"""First sign-ins of one person at once, through one provider and through two."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.accounts.account import Account
from app.auth.idp import calls
from app.auth.idp.identities import Identities
from app.auth.idp.models import Identity
from app.core.context import service

from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import Fake, GitHub, Google

ADA = {"sub": "1", "email": "ada@example.com", "email_verified": True}
PRIMARY = {"email": "ada@example.com", "primary": True, "verified": True}
OCTOCAT = {"id": 1, "login": "ada", "emails": [PRIMARY]}
SIGN_INS = 200
THREADS = 16


def sign_in(app: Flask, fake: Fake) -> int:
    user = OCTOCAT if isinstance(fake, GitHub) else ADA
    guest = Guest(app, "github" if isinstance(fake, GitHub) else "google")
    found = fake.authorize(guest.begin(), **user)
    return guest.api.client.post(f"/api/v1/idp/{guest.name}/callback", json=found).status_code


def test_parallel_first_sign_ins_of_one_person_create_one_account(
    make_providers_app: MakeProvidersApp, google: Google, github: GitHub
) -> None:
    app = make_providers_app(
        google=client_of("google"), github=client_of("github"), AUTH__ALLOW_IDP_OAUTH_SIGNUP="true"
    )
    fakes = [google, github] * (SIGN_INS // 2)
    with ThreadPoolExecutor(8) as threads:
        outcomes = set(threads.map(lambda fake: sign_in(app, fake), fakes))
    # A provider has a limited number of calls at once.
    assert outcomes <= {200, 502}
    with app.app_context():
        session = service(Identities).session
        assert session.scalar(select(func.count()).select_from(Account)) == 1
        linked = session.scalars(select(Identity.provider).order_by(Identity.provider)).all()
    assert linked == ["github", "google"]


def test_parallel_first_sign_ins_at_one_provider_create_one_identity(
    make_providers_app: MakeProvidersApp, google: Google, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the limit of calls to the provider, which is shorter than this queue."""
    monkeypatch.setattr(calls, "MAX_CALLS", THREADS)
    app = make_providers_app(google=client_of("google"), AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
    guests = [Guest(app, "google") for _ in range(SIGN_INS)]
    begun = [(guest.api.client, google.authorize(guest.begin(), **ADA)) for guest in guests]
    # No sign-in is finished before all have begun.
    with ThreadPoolExecutor(THREADS) as threads:
        assert set(threads.map(_finish, begun)) == {200}
    with app.app_context():
        session = service(Identities).session
        [account_id] = session.scalars(select(Account.id)).all()
        identities = session.execute(select(Identity.account_id, Identity.subject)).all()
        assert [tuple(each) for each in identities] == [(account_id, "1")]


def _finish(begun: tuple[FlaskClient, dict[str, str]]) -> int:
    client, found = begun
    return client.post("/api/v1/idp/google/callback", json=found).status_code
