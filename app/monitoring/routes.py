"""`/metrics`, outside the API's prefix, where Prometheus looks for it."""

from __future__ import annotations

from flask import Response
from prometheus_client import CONTENT_TYPE_LATEST

from ..core.context import service
from ..core.web.blueprint import Blueprint
from ..core.web.operation import anyone, hidden
from .metrics import Metrics
from .queue import QueueMetrics

blueprint = Blueprint("monitoring", __name__)


@blueprint.get("/metrics")
@anyone
@hidden
def metrics() -> Response:
    """What all workers have counted; the proxy in front keeps strangers out."""
    body = service(Metrics).render() + service(QueueMetrics).render()
    return Response(body, content_type=CONTENT_TYPE_LATEST)
