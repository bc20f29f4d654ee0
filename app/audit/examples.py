"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

OF_A_WORKSPACE = {
    "id": 41,
    "type": "member.updated",
    "at": "2030-01-01T12:00:00.250000+00:00",
    "actor_kind": "account",
    "actor_id": 1,
    "account_id": 2,
    "workspace_id": 3,
    "target_kind": None,
    "target_id": None,
    "data": {
        "before": {"type": "member", "status": "active"},
        "after": {"type": "admin", "status": "active"},
    },
}
OF_ANYBODY = {
    **OF_A_WORKSPACE,
    "address": "203.0.113.9",
    "user_agent": "Mozilla/5.0",
    "request_id": "0dbf1297198c-b5f-208",
}
OF_ONESELF = {
    **OF_ANYBODY,
    "id": 42,
    "type": "login.failed",
    "actor_kind": "anonymous",
    "actor_id": None,
    "account_id": 1,
    "workspace_id": None,
    "data": {"reason": "incorrect_credentials", "method": "POST", "route": "/api/v1/login"},
}
