"""Failovers of Redis Sentinel and Redis Cluster while clients use the service: only 503, service
again within two seconds, and no more wrong passwords than two limits allow.

`tests/rigs/failovers.py` runs a hundred of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from ..rigs.backends import postgres_database
from ..rigs.failovers import GROUPS, FailingService, fail_over, failing_service


@pytest.fixture(scope="module", params=GROUPS)
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FailingService]:
    folder = tmp_path_factory.mktemp(request.param)
    with (
        postgres_database(f"frontdesk_test_{secrets.token_hex(4)}") as url,
        failing_service(request.param, folder, url) as running,
    ):
        yield running
        assert "Unhandled" not in (folder / "log").read_text()


@pytest.mark.parametrize("silent", [False, True], ids=["killed", "silent"])
def test_failover_of_redis_causes_only_503(service: FailingService, silent: bool) -> None:
    service.group.wait_until(service.group.is_complete)
    result = fail_over(service, number=0, silent=silent)
    assert result.problems() == []
    assert result.statuses["write"][201], "no request succeeded"
    assert result.guesses, "no password was guessed"
