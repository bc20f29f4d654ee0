from __future__ import annotations

import time

import pytest

from app.core.keystore import KeystoreUnavailable
from app.testing.client import Api

from ..conftest import MakeApp
from ..rigs.backends import free_port


def test_health_returns_the_project_name(api: Api) -> None:
    assert api.get("/health").json == {"status": "ok", "project": "Frontdesk"}


def test_project_name_is_configurable(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__PROJECT_NAME="Réception"))
    assert api.get("/health").json["project"] == "Réception"


def test_service_with_database_and_state_store_is_ready(api: Api) -> None:
    body = api.get("/health/ready").json
    assert body == {"status": "ok", "checks": {"database": "ok", "keystore": "ok"}}


def test_service_with_its_state_store_in_the_database_is_ready(make_app: MakeApp) -> None:
    assert Api(make_app(CORE__KEYSTORE="database")).get("/health/ready").json["status"] == "ok"


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_unreachable_database_is_reported_within_seconds(make_app: MakeApp) -> None:
    url = f"postgresql+psycopg://user@127.0.0.1:{free_port()}/none"
    api = Api(make_app(CORE__DATABASE_URL=url))
    start = time.monotonic()
    response = api.get("/health/ready", 503)
    assert time.monotonic() - start < 5
    assert response.json == {"status": "down", "checks": {"database": "down", "keystore": "ok"}}
    assert response.headers["Retry-After"] == "1"


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_unreachable_state_store_is_reported_within_seconds(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__REDIS_URL=f"redis://127.0.0.1:{free_port()}/0"))
    start = time.monotonic()
    response = api.get("/health/ready", 503)
    assert time.monotonic() - start < 5
    assert response.json["checks"] == {"database": "ok", "keystore": "down"}


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_health_is_ok_whatever_is_unreachable(make_app: MakeApp) -> None:
    unreachable = f"127.0.0.1:{free_port()}"
    api = Api(
        make_app(
            CORE__DATABASE_URL=f"postgresql+psycopg://user@{unreachable}/none",
            CORE__REDIS_URL=f"redis://{unreachable}/0",
        )
    )
    api.get("/health")
    assert api.get("/health/ready", 503).json["checks"] == {"database": "down", "keystore": "down"}


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_route_that_needs_the_database_is_unavailable(make_app: MakeApp) -> None:
    url = f"postgresql+psycopg://user@127.0.0.1:{free_port()}/none"
    response = Api(make_app(CORE__DATABASE_URL=url)).get("/tasks/", 503)
    assert response.detail == "The database is unavailable"
    assert response.headers["Retry-After"] == "1"


def test_unavailable_state_store_has_its_own_error_code() -> None:
    problem = KeystoreUnavailable()
    assert (problem.status, problem.code) == (503, "keystore_unavailable")
    assert problem.headers == {"Retry-After": "1"}
