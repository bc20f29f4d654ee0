from typing import Annotated

from pydantic import Field, PlainValidator, PositiveInt

from ..core.config.field_types import UrlPath
from ..core.config.removed_settings import REMOVED_SETTINGS
from ..delivery.settings import DeliverySettings
from .kinds import NotificationKind, read_kinds

REMOVED_SETTINGS["NOTIFICATIONS__BROADCASTS"] = (
    "Every broadcast has an inbox row for each recipient."
)


class NotificationsSettings(DeliverySettings):
    """Settings of notifications and delivery, the namespace NOTIFICATIONS."""

    KEEP_DAYS: PositiveInt | None = Field(
        default=None,
        description="Days after which `flask frontdesk prune` deletes a notification, or an"
        " unchanged draft of a broadcast. If unset, both are kept.",
    )
    INLINE_RECEIVERS: PositiveInt = Field(
        default=10_000,
        description="Maximum number of recipients that a request stores. Workers store larger"
        " broadcasts.",
    )
    PREFERENCES_PATH: UrlPath = Field(
        default="/account/notifications", description="Path of the page of preferences, for emails."
    )
    UNSUBSCRIBE_PATH: UrlPath = Field(
        default="/unsubscribe", description="Path of the page of unsubscribe links."
    )
    KINDS: Annotated[dict[str, NotificationKind], PlainValidator(read_kinds)] = Field(
        default={},
        description="Kinds of notifications, by key. Example:"
        ' `{"notes": {"name": "Notes", "channels": ["inapp", "email"]}}`.',
    )
