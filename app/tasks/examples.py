"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

WATER = {"title": "Water the plants", "priority": "high"}
WATERED = {"id": 1, "done": False, "owner": "anonymous", **WATER}
DONE = {"done": True}
WATERED_DONE = {**WATERED, **DONE}
