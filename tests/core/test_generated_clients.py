"""OpenAPI tools accept the document: linters and client generators."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.serving import make_server

from app.testing.client import Api

from ..conftest import PASSWORD, MakePerson, only_on
from ..rigs.backends import missing
from ..rigs.clients.generating import ClientProject
from ..rigs.npm import CannotRun

pytestmark = only_on("sqlite")


@pytest.fixture
def client_project(app: Flask, tmp_path: Path) -> ClientProject:
    folder = tmp_path / "clients"
    folder.mkdir()
    try:
        return ClientProject(folder, Api(app).get("/openapi.json").response.data)
    except CannotRun as reason:
        missing(str(reason))
        raise


@pytest.fixture
def arguments(app: Flask, person: MakePerson) -> Iterator[list[str]]:
    """Return the arguments of a scenario: the URL, and email and password of a root account."""
    root = person("root", role="root")
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield [f"http://127.0.0.1:{server.port}", root.email, PASSWORD]
    server.shutdown()
    thread.join()
    server.server_close()


def test_redocly_finds_no_error(client_project: ClientProject) -> None:
    client_project.node("redocly", "lint", "--config", "redocly.yaml", "openapi.json")


def test_spectral_finds_no_error(client_project: ClientProject) -> None:
    client_project.node("spectral", "lint", "--ruleset", "spectral.yaml", "openapi.json")


def test_generated_typescript_client_works(
    client_project: ClientProject, arguments: list[str]
) -> None:
    client_project.node("openapi-typescript", "openapi.json", "-o", "typescript/schema.ts")
    client_project.node(
        "openapi-ts", "-i", "openapi.json", "-o", "hey", "-c", "@hey-api/client-fetch"
    )
    client_project.node("orval", "--config", "orval.config.json")
    client_project.node("tsc", "--project", ".")
    assert client_project.node("compiled/journey.js", *arguments).endswith("done\n")


def test_generated_python_client_works(client_project: ClientProject, arguments: list[str]) -> None:
    generate = ["generate", "--path", "openapi.json", "--meta", "none", "--fail-on-warning"]
    output = ["--output-path", "frontdesk_client", "--config", "python.yaml"]
    client_project.python("-m", "openapi_python_client", *generate, *output)
    client_project.python(
        "-m", "mypy", "--strict", "--no-incremental", "frontdesk_client", "journey.py"
    )
    assert client_project.python("journey.py", *arguments).endswith("done\n")
