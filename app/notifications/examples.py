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
