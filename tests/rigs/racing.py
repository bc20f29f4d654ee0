"""Concurrent requests, each from a separate client."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from app.testing.client import Api


def run_concurrently(*actions: Callable[[], int]) -> list[int]:
    """Start all functions at the same moment and return their results, sorted."""
    barrier = Barrier(len(actions))

    def start_together(action: Callable[[], int]) -> int:
        barrier.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as threads:
        return sorted(threads.map(start_together, actions))


def request(api: Api, method: str, path: str, **options: Any) -> Callable[[], int]:
    """Return a function that sends the request and returns its status."""

    def send() -> int:
        headers = {"Authorization": f"Bearer {api.token}"}
        client = api.app.test_client()
        response = client.open(api.prefix + path, method=method, headers=headers, **options)
        return response.status_code

    return send
