"""Traces: one span for each request, with OpenTelemetry's SDK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from app.monitoring.tracing import create_tracer_provider, trace
from app.testing.client import Api

from ..conftest import SECRET, MakeApp, MakePerson, migrate, only_on
from ..rigs.backends import free_port
from ..rigs.processes import within
from ..rigs.servers import gunicorn
from ..rigs.traffic import Client

TASK = {"title": "x"}


class Tracing:
    """AuditLog the spans of requests."""

    def __init__(self) -> None:
        self._memory = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._memory))

    def spans(self) -> Sequence[ReadableSpan]:
        found = self._memory.get_finished_spans()
        self._memory.clear()
        return found


@pytest.fixture
def tracing() -> Tracing:
    return Tracing()


@pytest.fixture
def app(make_app: MakeApp, tracing: Tracing) -> Flask:
    app = make_app()
    trace(app, tracing.provider)
    return app


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_request_and_its_sql_are_one_span(api: Api, tracing: Tracing) -> None:
    created = api.post("/tasks/", 201, json=TASK)
    (span,) = tracing.spans()
    assert (span.name, span.kind, span.parent) == ("POST /api/v1/tasks/", SpanKind.SERVER, None)
    assert attributes(span) == {
        "http.request.method": "POST",
        "http.route": "/api/v1/tasks/",
        "http.response.status_code": 201,
        "frontdesk.request_id": created.headers["X-Request-ID"],
    }
    assert span.status.status_code is StatusCode.UNSET


def test_application_spans_are_children_of_the_request_span(
    app: Flask, api: Api, tracing: Tracing
) -> None:
    """A span of an instrumented library, which can start anywhere in a request."""
    tracer = tracing.provider.get_tracer("host")

    @app.before_request
    def work() -> None:
        tracer.start_span("inside").end()

    api.get("/health")
    inside, request = tracing.spans()
    assert request.context is not None
    assert inside.parent == request.context


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/tasks/4711", 404),
        ("GET", "/made/up", 404),
        ("DELETE", "/health", 405),
        ("POST", "/tasks/", 422),
        ("GET", "/account", 401),
        ("OPTIONS", "/tasks/", 200),
    ],
)
def test_rejected_request_has_a_span(
    app: Flask, tracing: Tracing, method: str, path: str, status: int
) -> None:
    assert app.test_client().open(f"/api/v1{path}", method=method).status_code == status
    (span,) = tracing.spans()
    assert attributes(span)["http.response.status_code"] == status
    assert "4711" not in span.name
    assert "made" not in span.name


def test_unknown_path_is_unmatched(app: Flask, tracing: Tracing) -> None:
    app.test_client().get("/made/up")
    (span,) = tracing.spans()
    assert span.name == "GET unmatched"
    assert attributes(span)["http.route"] == "unmatched"


@pytest.mark.parametrize(
    ("environment", "service"),
    [
        ({}, "Library"),
        ({"OTEL_SERVICE_NAME": "desk-2"}, "desk-2"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=desk-3,host.name=x"}, "desk-3"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "host.name=x"}, "Library"),
    ],
)
def test_service_name_is_the_projects_or_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], service: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    provider = create_tracer_provider("Library")
    provider.shutdown()
    assert provider.resource.attributes["service.name"] == service


@only_on("sqlite")
def test_server_error_is_an_error_span(make_app: MakeApp, tracing: Tracing) -> None:
    app = make_app(CORE__DATABASE_URL=f"postgresql+psycopg://x@127.0.0.1:{free_port()}/none")
    trace(app, tracing.provider)
    Api(app).get("/tasks/", 503)
    (span,) = tracing.spans()
    assert span.status.status_code is StatusCode.ERROR


def test_trace_of_the_client_is_continued(app: Flask, tracing: Tracing) -> None:
    trace_id, span_id = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    headers = {"traceparent": f"00-{trace_id}-{span_id}-01"}
    app.test_client().get("/api/v1/health", headers=headers)
    (span,) = tracing.spans()
    assert span.parent is not None
    assert (span.parent.trace_id, span.parent.span_id) == (int(trace_id, 16), int(span_id, 16))


def test_spans_do_not_leak_into_the_next_request(api: Api, tracing: Tracing) -> None:
    for _ in range(3):
        api.get("/health")
    assert len({span.context.trace_id for span in tracing.spans() if span.context}) == 3


def test_spans_contain_no_secrets(
    app: Flask, api: Api, person: MakePerson, tracing: Tracing
) -> None:
    token = person().token()
    headers = {"Authorization": f"Bearer {token}"}
    app.test_client().get("/api/v1/account?token=hunter2", headers=headers)
    api.post("/login", 400, data={"username": "ada@example.com", "password": "hunter2"})
    exported = "".join(span.to_json() for span in tracing.spans())
    assert "hunter2" not in exported
    assert token not in exported


@pytest.fixture
def collector() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """An OTLP collector: its URL, and the service name and name of each received span."""
    spans: list[tuple[str, str]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received = ExportTraceServiceRequest()
            received.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
            for resource in received.resource_spans:
                about = {item.key: item.value.string_value for item in resource.resource.attributes}
                spans.extend(
                    (about["service.name"], span.name)
                    for scope in resource.scope_spans
                    for span in scope.spans
                )
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return None

    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", spans
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_every_worker_sends_its_spans_to_the_collector(
    collector: tuple[str, list[tuple[str, str]]], tmp_path: Path
) -> None:
    """The application is loaded before the fork, and a fork copies no threads."""
    endpoint, spans = collector
    url = f"sqlite:///{tmp_path / 'frontdesk.db'}"
    migrate(url)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "CORE__PROJECT_NAME": "Library",
        "CORE__TRACING_ENABLED": "true",
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "WEB_CONCURRENCY": "2",
    }
    with gunicorn(settings, tmp_path / "log") as port:
        for _ in range(30):
            assert Client(port).ask("GET", "/health")[0] == 200
        within(15, lambda: spans.count(("Library", "GET /api/v1/health")) == 30)
    # The exporter's requests have no spans.
    assert set(spans) == {("Library", "GET /api/v1/health")}
