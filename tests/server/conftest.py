from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..rigs.brokers import Broker, rabbitmq_broker, redis_broker
from ..rigs.installations import Installation, start_installation


@pytest.fixture(scope="module", params=[redis_broker, rabbitmq_broker], ids=["redis", "rabbitmq"])
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    with request.param(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture(scope="module")
def celery_installation(
    tmp_path_factory: pytest.TempPathFactory, broker: Broker
) -> Iterator[Installation]:
    """The service with a message broker: a Celery worker sends the broadcasts."""
    with start_installation(tmp_path_factory.mktemp("celery_installation"), broker) as installation:
        yield installation
