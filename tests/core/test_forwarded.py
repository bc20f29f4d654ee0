"""What the log says where a proxy's word is not believed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.core.web.forwarded import UNBELIEVED
from app.testing.client import Api

from ..conftest import MakeApp

SENT = {"X-Forwarded-For": "203.0.113.9"}

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def told(caplog: pytest.LogCaptureFixture) -> int:
    return [record.getMessage() for record in caplog.records].count(UNBELIEVED)


def test_an_unbelieved_proxy_is_told_of_once(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    api = Api(app)
    api.get("/health")
    assert told(caplog) == 0
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: Api(app).get("/health", headers=SENT), range(16)))
    api.get("/nowhere", 404, headers=SENT)
    assert told(caplog) == 1
    assert "CORE__TRUSTED_PROXIES" in caplog.text
    assert "203.0.113.9" not in caplog.text


def test_a_proxy_that_is_believed_is_not_told_of(
    make_app: MakeApp, caplog: pytest.LogCaptureFixture
) -> None:
    Api(make_app(CORE__TRUSTED_PROXIES="1")).get("/health", headers=SENT)
    assert told(caplog) == 0
