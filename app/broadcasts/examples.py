"""Examples of these routes in the OpenAPI document."""

DRAFT = {
    "title": "Closed on Friday",
    "message": "The office is closed on Friday.",
    "channels": ["inapp", "email"],
}
BROADCAST = {"data": DRAFT}
SENT = {
    "id": 3,
    **DRAFT,
    "sender_id": 2,
    "notification_type": "admin",
    "scope": "account",
    "created_at": "2026-03-01T12:00:00+00:00",
    "receivers": 120,
    "read": 0,
    "deliveries": {"email": {"pending": 120, "sent": 0, "failed": 0, "skipped": 0}},
}
RETRIED = {"message": "3 failed deliveries will be tried again"}
QUESTION = {"channels": ["inapp", "email", "sms"]}
REACH = {
    "receivers": 120,
    "channels": {
        "inapp": {"reached": 120, "left_out": []},
        "email": {"reached": 120, "left_out": []},
        "sms": {
            "reached": 87,
            "left_out": [{"reason": "The account has no phone", "receivers": 33}],
        },
    },
}
FAILED = {
    "id": 41,
    "receiver_id": 8,
    "email": "ada@example.com",
    "channel": "email",
    "state": "failed",
    "attempts": 1,
    "reason": "550 no such mailbox",
    "finished_at": "2026-03-01T12:00:02+00:00",
}
