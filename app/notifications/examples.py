"""Examples of these routes in the OpenAPI document."""

ITEM = {
    "id": 7,
    "notification_id": 3,
    "receiver_id": 1,
    "is_read": False,
    "title": "Closed on Friday",
    "message": "The office is closed on Friday.",
    "channels": ["inapp", "email"],
    "sender_id": 2,
    "notification_type": "admin",
    "scope": "account",
    "created_at": "2026-03-01T12:00:00+00:00",
    "links": {
        "self": "/api/v1/notifications/7",
        "mark": "/api/v1/notifications/3/mark",
        "delete": "/api/v1/notifications/7",
    },
}
READ_ITEM = {**ITEM, "is_read": True}
UNREAD = {"unread": 4}
MARKED = {"message": "4 notifications marked"}
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
