"""The actions of this package, apart from the service, which loads the tables."""

from ..core.actions import Action

AREAS = {"Notifications": ("notification",)}

NOTIFICATION_SENT = Action(
    "notification.sent",
    "Notification sent",
    {
        "channels": "the channels",
        "receivers": "number of inboxes",
        "notification_type": "`admin`, `system`, …",
        "scope": "`account`, or another package's scope",
    },
)
