"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

from ..auth.examples import ACCOUNT

DETAILS = {
    **ACCOUNT,
    "email_verified": True,
    "has_password": True,
    "suspended_until": None,
    "suspended_reason": None,
}
NEW = {"email": "grace@example.com", "role": "user", "invite": True}
MADE = {**DETAILS, "id": 3, "email": "grace@example.com", "has_password": False}
SUSPEND = {
    "status": "suspended",
    "suspended_until": "2030-02-01T00:00:00+00:00",
    "suspended_reason": "Sells beans to everybody",
}
SUSPENDED = {**MADE, **SUSPEND}
RECOVERY_SENT = {"message": "Password recovery email sent"}
DELIVERY = {
    "id": 41,
    "channel": "email",
    "state": "failed",
    "title": "Opening hours",
    "notification_id": 17,
    "attempts": 1,
    "reason": "550 no such mailbox",
    "created_at": "2030-01-01T12:00:00+00:00",
    "finished_at": "2030-01-01T12:00:02+00:00",
}
MEMBERSHIP = {
    "workspace_id": 7,
    "slug": "gardeners",
    "name": "Gardeners",
    "type": "member",
    "status": "active",
    "created_at": "2030-01-01T12:00:00+00:00",
}
