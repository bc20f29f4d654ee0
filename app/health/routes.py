from __future__ import annotations

from typing import Any

from flask import Response

from ..core.desk import current_desk, service
from ..core.http.answering import answers, json_response
from ..core.http.blueprint import Blueprint
from ..core.http.operation import anyone, example
from .schemas import HealthRead, ReadinessRead
from .service import Readiness

blueprint = Blueprint("health", __name__)


@blueprint.get("/health")
@anyone
@example(answer={"status": "ok", "project": "Frontdesk"})
@answers(200, HealthRead)
def health() -> dict[str, Any]:
    """Is the process alive?"""
    return {"status": "ok", "project": current_desk.settings.core.PROJECT_NAME}


@blueprint.get("/health/ready")
@anyone
@example(answer={"status": "ok", "checks": {"database": "ok", "keystore": "ok"}})
@answers(503, ReadinessRead, description="Something that the service needs is down")
@answers(200, ReadinessRead)
def ready() -> Response:
    """Can the process reach what it needs?"""
    checks = service(Readiness).check()
    ready = "down" not in checks.values()
    body = {"status": "ok" if ready else "down", "checks": checks}
    return json_response(body, 200 if ready else 503, {} if ready else {"Retry-After": "1"})
