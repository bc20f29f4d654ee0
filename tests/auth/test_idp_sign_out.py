"""Sign-out at the identity provider, by RP-initiated logout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.auth.idp.provider_models import ProviderSession
from app.auth.idp.provider_sessions import ProviderSessions
from app.core.context import current_frontdesk, service
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakePerson, Person
from ..rigs.oidc.campus import ADA, Campus
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp
from .factors import enroll, finish

MakeCampusApp = Callable[..., Flask]


@pytest.fixture
def make_campus_app(make_providers_app: MakeProvidersApp, campus: Campus) -> MakeCampusApp:
    """Create the service with the fake provider and sessions."""

    def make(**environment: str) -> Flask:
        return make_providers_app(campus=campus.settings, **{"AUTH__SESSIONS": "on", **environment})

    return make


@pytest.fixture
def campus_app(make_campus_app: MakeCampusApp) -> Flask:
    return make_campus_app()


@pytest.fixture
def ada(campus_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=campus_app)


def links(app: Flask) -> list[ProviderSession]:
    with app.app_context():
        found = select(ProviderSession).order_by(ProviderSession.session_id)
        return list(current_frontdesk.session.scalars(found))


def sign_in(app: Flask, campus: Campus, **user: Any) -> Api:
    answer = Guest(app, "campus").sign_in(campus, **{**ADA, **user})
    return Api(app, token=answer.json["access_token"])


def test_session_is_linked_to_the_session_at_the_provider(
    campus_app: Flask, campus: Campus, ada: Person
) -> None:
    sign_in(campus_app, campus, sid="one")
    sign_in(campus_app, campus)
    ada.token()
    assert [link.sid for link in links(campus_app)] == ["one", None]
    # The ID token is encrypted for its row.
    first, second = links(campus_app)
    with campus_app.app_context():
        found = service(ProviderSessions)
        issuer, id_token = found.find(first.session_id) or ("", "")
        assert (issuer, str(id_token).count(".")) == (campus.issuer, 2)
        first.id_token, second.id_token = second.id_token, first.id_token
        current_frontdesk.session.add(first)
        current_frontdesk.session.add(second)
        current_frontdesk.session.commit()
        assert found.find(first.session_id) == (campus.issuer, None)


def test_link_survives_a_second_factor(
    make_campus_app: MakeCampusApp, campus: Campus, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_campus_app(AUTH__MFA="required", AUTH__MFA_METHODS='["totp"]')
    person("ada", into=app)
    required = Guest(app, "campus").sign_in(campus, 403, **ADA, sid="one").json
    assert not links(app)
    mfa = enroll(Api(app), clock, mfa_token=required["mfa_token"])
    assert [link.sid for link in links(app)] == ["one"]
    required = Guest(app, "campus").sign_in(campus, 403, **ADA, sid="two").json
    finish(Api(app), required["mfa_token"], otp=mfa.phone.next_code())
    assert [link.sid for link in links(app)] == ["one", "two"]
