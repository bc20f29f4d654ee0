"""Requests that come at once, each from a client of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from app.testing.client import Api


def run_concurrently(*acts: Callable[[], int]) -> list[int]:
    """Their results in order of size: who of them was first is left to chance."""
    barrier = Barrier(len(acts))

    def start_together(act: Callable[[], int]) -> int:
        barrier.wait()
        return act()

    with ThreadPoolExecutor(len(acts)) as threads:
        return sorted(threads.map(start_together, acts))


def request(api: Api, method: str, path: str, **options: Any) -> Callable[[], int]:
    """A request to be sent later, which tells its status."""

    def send() -> int:
        headers = {"Authorization": f"Bearer {api.token}"}
        client = api.app.test_client()
        response = client.open(api.prefix + path, method=method, headers=headers, **options)
        return response.status_code

    return send
