"""Warnings about `X-Forwarded-For` headers that the settings do not trust."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.core.web.application import TOO_MANY_PROXIES, UNTRUSTED_PROXY
from app.testing.client import Api

from ..conftest import MakeApp

SENT = {"X-Forwarded-For": "203.0.113.9"}

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def count_warnings(caplog: pytest.LogCaptureFixture) -> int:
    return [record.getMessage() for record in caplog.records].count(UNTRUSTED_PROXY)


def test_untrusted_proxy_is_logged_once(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    api = Api(app)
    api.get("/health")
    assert count_warnings(caplog) == 0
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: Api(app).get("/health", headers=SENT), range(16)))
    api.get("/nowhere", 404, headers=SENT)
    assert count_warnings(caplog) == 1
    assert "CORE__TRUSTED_PROXIES" in caplog.text
    assert "203.0.113.9" not in caplog.text


def test_trusted_proxy_is_not_logged(make_app: MakeApp, capsys: pytest.CaptureFixture[str]) -> None:
    Api(make_app(CORE__TRUSTED_PROXIES="1")).get("/health", headers=SENT)
    assert "TRUSTED_PROXIES" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hops", "sent", "count"), [("3", SENT, 1), ("2", {}, 0), ("2", SENT, 1), ("1", {}, 0)]
)
def test_more_trusted_proxies_than_arrive_are_logged_once(
    make_app: MakeApp,
    capsys: pytest.CaptureFixture[str],
    hops: str,
    sent: dict[str, str],
    count: int,
) -> None:
    app = make_app(CORE__TRUSTED_PROXIES=hops)
    api = Api(app)
    for path in ("/health", "/health/ready"):
        api.get(path)  # load balancers send no such header for health checks
    assert "TRUSTED_PROXIES" not in capsys.readouterr().err
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: Api(app).get("/tasks/", headers=sent), range(16)))
    logged = capsys.readouterr().err
    assert logged.count("TRUSTED_PROXIES") == 2  # twice in one warning
    assert TOO_MANY_PROXIES.format(hops=hops, count=count) in logged


def test_as_many_values_as_trusted_proxies_cause_no_warning(
    make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    api = Api(make_app(CORE__TRUSTED_PROXIES="2"))
    api.get("/tasks/", headers={"X-Forwarded-For": "203.0.113.9, 10.0.0.1"})
    api.get("/tasks/", headers={"X-Forwarded-For": "198.51.100.1, 203.0.113.9, 10.0.0.1"})
    assert "TRUSTED_PROXIES" not in capsys.readouterr().err
