"""All lines of a Celery worker's log have the application's format."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import Backend, only_on
from ..rigs.backends import redis_server
from ..rigs.processes import Service, kill, within


@only_on("sqlite")
@pytest.mark.parametrize("form", ["json", "text"])
def test_worker_logs_in_the_form_of_the_application(
    backend: Backend, tmp_path: Path, form: str
) -> None:
    output = tmp_path / "output"
    with redis_server(tmp_path) as broker, output.open("w") as file:
        settings = {
            "CORE__CELERY_BROKER_URL": broker,
            "CORE__LOG_LEVEL": "INFO",
            "CORE__LOG_FORMAT": form,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "wsgi:celery", "worker", "-c", "1", "-lINFO"],
            cwd=tmp_path,
            env=Service(backend, tmp_path, **settings).environment,
            start_new_session=True,
            stdout=file,
            stderr=file,
        )
        try:
            within(60, lambda: " ready." in output.read_text())
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
        finally:
            kill(process)
    lines = [line for line in output.read_text().splitlines() if line]
    assert any("Warm shutdown" in line for line in lines)
    if form == "json":
        messages = [json.loads(line)["message"] for line in lines]
        assert any("consumes the queue" in message for message in messages)
    else:
        assert any("[config]" in line for line in lines)
