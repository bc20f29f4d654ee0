"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

from ..examples import SIGNED_IN

SESSION = {
    "id": "6f9d1c0e-7b3a-4f52-a8c4-6b1d9e0f7a35",
    "current": True,
    "kind": "token",
    "created_at": "2030-01-01T12:00:00+00:00",
    "used_at": "2030-01-03T08:00:00+00:00",
    "expires_at": "2030-01-31T12:00:00+00:00",
    "ip": "203.0.113.0/24",
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "label": "Firefox on Linux",
    "amr": ["pwd"],
}
ENDED = {"ended": 2}
REFRESH_TOKEN = "fdr_AW-dHA57Ok9SqMRrHZ4PejUAAAAAAAAAAUm2nqkZ0yJx1d3VbWc0m7t0bqf3c9d2yE1sXv0aK9Qw"
GRANT = {"grant_type": "refresh_token", "refresh_token": REFRESH_TOKEN}
REFRESHED = {
    **SIGNED_IN,
    "refresh_token": REFRESH_TOKEN,
    "refresh_expires": "2030-01-15T12:00:00+00:00",
}
