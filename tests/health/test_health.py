from __future__ import annotations

import time

import pytest

from app.core.keystore import KeystoreUnavailable
from app.testing.client import Api

from ..conftest import MakeApp
from ..rigs.backends import free_port


def test_health_tells_the_project(api: Api) -> None:
    assert api.get("/health").json == {"status": "ok", "project": "Frontdesk"}


def test_the_project_has_the_name_that_is_set(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__PROJECT_NAME="Réception"))
    assert api.get("/health").json["project"] == "Réception"


def test_a_service_that_reaches_all_it_needs_is_ready(api: Api) -> None:
    body = api.get("/health/ready").json
    assert body == {"status": "ok", "checks": {"database": "ok", "keystore": "ok"}}


def test_a_service_with_its_keystore_in_the_database_is_ready(make_app: MakeApp) -> None:
    assert Api(make_app(CORE__KEYSTORE="database")).get("/health/ready").json["status"] == "ok"


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_database_out_of_reach_is_named_within_seconds(make_app: MakeApp) -> None:
    url = f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/none"
    api = Api(make_app(CORE__DATABASE_URL=url))
    start = time.monotonic()
    answer = api.get("/health/ready", 503)
    assert time.monotonic() - start < 5
    assert answer.json == {"status": "down", "checks": {"database": "down", "keystore": "ok"}}
    assert answer.headers["Retry-After"] == "1"


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_keystore_out_of_reach_is_named_within_seconds(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__REDIS_URL=f"redis://127.0.0.1:{free_port()}/0"))
    start = time.monotonic()
    answer = api.get("/health/ready", 503)
    assert time.monotonic() - start < 5
    assert answer.json["checks"] == {"database": "ok", "keystore": "down"}


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_process_is_alive_whatever_is_down(make_app: MakeApp) -> None:
    gone = f"127.0.0.1:{free_port()}"
    api = Api(
        make_app(
            CORE__DATABASE_URL=f"postgresql+psycopg://nobody@{gone}/none",
            CORE__REDIS_URL=f"redis://{gone}/0",
        )
    )
    api.get("/health")
    assert api.get("/health/ready", 503).json["checks"] == {"database": "down", "keystore": "down"}


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_route_that_needs_the_missing_database_is_unavailable(make_app: MakeApp) -> None:
    url = f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/none"
    answer = Api(make_app(CORE__DATABASE_URL=url)).get("/tasks/", 503)
    assert answer.detail == "The database is out of reach"
    assert answer.headers["Retry-After"] == "1"


def test_an_unavailable_keystore_says_so_by_its_code() -> None:
    problem = KeystoreUnavailable()
    assert (problem.status, problem.code) == (503, "keystore_unavailable")
    assert problem.headers == {"Retry-After": "1"}
