"""The actions of this package, apart from the services, which load the tables."""

from ..core.actions import Action

AREAS = {"Notifications": ("segment",)}

NOTIFICATION_DELETED = Action("notification.deleted", "Notification deleted from every inbox")
RESULT_DOWNLOADED = Action("notification.downloaded", "Result of a notification downloaded")
_SEGMENT = {"name": "the name of the segment"}
SEGMENT_CREATED = Action("segment.created", "Segment of accounts saved", _SEGMENT)
SEGMENT_DELETED = Action("segment.deleted", "Segment of accounts deleted", _SEGMENT)
