"""A span for each request, where OpenTelemetry's packages are installed.

Where it goes is told to the SDK in its own way (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`,
`OTEL_TRACES_SAMPLER`). A trace that the caller began is continued.
"""

from __future__ import annotations

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

    # Before all others: one of them may answer, and that request has a span too.
    app.before_request_funcs.setdefault(None, []).insert(0, begin)

    @app.after_request
    def tell(response: Response) -> Response:
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


def exporting(project: str) -> Any:
    """Sends over OTLP, under the project's name unless the environment has one for it."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    is_named = SERVICE_NAME in OTELResourceDetector().detect().attributes
    resource = Resource.create({} if is_named else {SERVICE_NAME: project})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
