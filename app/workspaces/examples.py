"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

TEAM = {"name": "Gardeners", "slug": "gardeners"}
TEAM_READ = {
    "id": 7,
    **TEAM,
    "is_default": False,
    "created_at": "2030-01-01T12:00:00+00:00",
    "type": "owner",
    "status": "active",
}
GRACE = {"email": "grace@example.com", "type": "member", "status": "active"}
GRACE_READ = {
    "id": 12,
    "workspace_id": 7,
    "account_id": 3,
    **GRACE,
    "created_at": "2030-01-01T12:00:00+00:00",
}
SWITCH = {"slug": "gardeners"}
PROMOTE = {"type": "admin"}
GRACE_PROMOTED = {**GRACE_READ, **PROMOTE}
ADDED = {**GRACE_READ, "id": None, "account_id": None, "status": "invited"}
INVITE = {"emails": ["grace@example.com"], "type": "member", "message": "We grow beans."}
INVITED = {
    "id": 5,
    "workspace_id": 7,
    "email": "grace@example.com",
    "type": "member",
    "state": "pending",
    "message": "We grow beans.",
    "inviter": "ada@example.com",
    "sends": 1,
    "sent_at": "2030-01-01T12:00:00+00:00",
    "expires_at": "2030-01-08T12:00:00+00:00",
    "created_at": "2030-01-01T12:00:00+00:00",
}
RECEIVED = {
    "id": 5,
    "workspace": TEAM,
    "inviter": "ada@example.com",
    "type": "member",
    "message": "We grow beans.",
    "expires_at": "2030-01-08T12:00:00+00:00",
    "created_at": "2030-01-01T12:00:00+00:00",
}
MAILED = {**RECEIVED, "email_hint": "g…@example.com", "account_exists": True}
SECRET = {"token": "WzUsIjRhZi4uLiJd.aXk3Mw.Vb1c"}
