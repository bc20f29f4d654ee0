"""A span for each request, with OpenTelemetry.

The SDK's variables configure the export (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`,
`OTEL_TRACES_SAMPLER`). A trace that the client started is continued.
"""

from contextlib import ExitStack
from typing import Any

from flask import Flask, Response, g, request

from ..core.request import request_id
from .requests import matched_route


def trace(app: Flask, provider: Any) -> None:
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind, StatusCode

    tracer = provider.get_tracer("frontdesk")

    def begin() -> None:
        route = matched_route()
        g.frontdesk_trace = stack = ExitStack()
        g.frontdesk_span = stack.enter_context(
            tracer.start_as_current_span(
                f"{request.method} {route}",
                context=extract(request.headers),
                kind=SpanKind.SERVER,
                # The query and the headers may hold a token, so they are left out.
                attributes={
                    "http.request.method": request.method,
                    "http.route": route,
                    "frontdesk.request_id": request_id(),
                },
            )
        )

    # Before all other functions, so that a request to which one of them responds has a span.
    app.before_request_funcs.setdefault(None, []).insert(0, begin)

    @app.after_request
    def set_status(response: Response) -> Response:
        span = g.get("frontdesk_span")
        if span is not None:
            span.set_attribute("http.response.status_code", response.status_code)
            if response.status_code >= 500:
                span.set_status(StatusCode.ERROR)
        return response

    @app.teardown_request
    def end(_error: BaseException | None) -> None:
        stack = g.pop("frontdesk_trace", None)
        if stack is not None:
            stack.close()


def create_tracer_provider(project: str) -> Any:
    """Export over OTLP, with the project's name unless the environment names the service."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    is_named = SERVICE_NAME in OTELResourceDetector().detect().attributes
    resource = Resource.create({} if is_named else {SERVICE_NAME: project})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
