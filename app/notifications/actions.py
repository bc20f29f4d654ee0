"""The actions of notifications and broadcasts, apart from the services, which load the tables."""

from ..core.actions import Action, Title, Variant, has
from ..core.types import Values

AREAS = {"Notifications": ("notification", "segment")}

# The data of a broadcast, see IS_BROADCAST in models.py.
_BROADCAST = {"notification_type": "admin", "scope": "account"}


def _describe_notification(data: Values) -> Title | None:
    return Title("Broadcast sent") if data.items() >= _BROADCAST.items() else None


NOTIFICATION_SENT = Action(
    "notification.sent",
    "Notification sent",
    {
        "channels": "the channels",
        "receivers": "number of inboxes",
        "notification_type": "`admin`, `system`, …",
        "scope": "`account`, or another package's scope",
    },
    describe=_describe_notification,
    variants={"broadcast": Variant("Broadcast sent", has(**_BROADCAST))},
)
NOTIFICATION_DELETED = Action("notification.deleted", "Broadcast deleted from every inbox")
NOTIFICATION_STOPPED = Action("notification.stopped", "Broadcast stopped")
RESULT_DOWNLOADED = Action("notification.downloaded", "Result of a broadcast downloaded")
_SEGMENT = {"name": "the name of the segment"}
SEGMENT_CREATED = Action("segment.created", "Segment of accounts saved", _SEGMENT)
SEGMENT_DELETED = Action("segment.deleted", "Segment of accounts deleted", _SEGMENT)
