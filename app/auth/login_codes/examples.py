"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

from ..examples import CODE, EMAIL

ASK = {"email": EMAIL}
ASKED = {"login_id": "kX0o2c3v9yJb1dQe7uWf4aHs6tZr8mPn"}
PROOF = {**ASKED, "code": CODE}
