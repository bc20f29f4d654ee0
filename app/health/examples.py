"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

ALIVE = {"status": "ok", "project": "Frontdesk"}
READY = {"status": "ok", "checks": {"database": "ok", "keystore": "ok"}}
