"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

ASKED = {"password": "correct horse"}
PENDING = {
    "id": 1,
    "state": "pending",
    "size": None,
    "created_at": "2030-01-01T12:00:00+00:00",
    "expires_at": None,
}
READY = {
    **PENDING,
    "state": "ready",
    "size": 48213,
    "expires_at": "2030-01-08T12:00:04+00:00",
}
