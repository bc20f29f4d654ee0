from __future__ import annotations

from typing import Any

from flask import Response

from ..core.context import current_frontdesk, service
from ..core.web.answering import answers, json_response
from ..core.web.blueprint import Blueprint
from ..core.web.operation import anyone, example
from . import examples
from .schemas import HealthRead, ReadinessRead
from .service import Readiness

blueprint = Blueprint("health", __name__, about="Whether the service lives, and can work")


@blueprint.get("/health")
@anyone
@example(answer=examples.ALIVE)
@answers(200, HealthRead)
def health() -> dict[str, Any]:
    """Tell that the service is alive"""
    return {"status": "ok", "project": current_frontdesk.settings.core.PROJECT_NAME}


@blueprint.get("/health/ready")
@anyone
@example(answer=examples.READY)
@answers(503, ReadinessRead, description="Something that the service needs is down")
@answers(200, ReadinessRead)
def get_readiness() -> Response:
    """Tell whether the service reaches what it needs"""
    checks = service(Readiness).check()
    ready = "down" not in checks.values()
    body = {"status": "ok" if ready else "down", "checks": checks}
    return json_response(body, 200 if ready else 503, {} if ready else {"Retry-After": "1"})
