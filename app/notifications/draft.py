from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from marshmallow import ValidationError

from ..core.errors import SetupError
from ..core.hooks import check_known
from ..core.types import AccountKey, Values
from ..core.web.request_data import schema_instance
from .models import ACCOUNT_SCOPE, SYSTEM
from .schemas import CHANNEL, NotificationCreate


@dataclass(frozen=True)
class Draft:
    """What is to be sent. Its texts were looked at where they came in: by the route's schema, or by
    `checked`."""

    title: str
    message: str
    channels: Sequence[str]
    notification_type: str = SYSTEM
    scope: str = ACCOUNT_SCOPE
    sender_id: AccountKey = None
    template_file: str | None = None
    context: Values = field(default_factory=dict)

    @classmethod
    def checked(cls, **given: Any) -> Draft:
        """Of host code, which is held to what the route's schema allows: a database or a mail would
        not take everything."""
        if isinstance(given["channels"], str):
            raise SetupError(f'channels= takes several: channels=["{given["channels"]}"].')
        for name in given["channels"]:
            own = f'registered first, with @frontdesk.channel("{name}")'
            check_known("channel", name, CHANNEL.known_values(), own)
        try:
            texts = schema_instance(NotificationCreate).load(
                {name: given[name] for name in ("title", "message", "channels")}
            )
        except ValidationError as error:
            raise ValueError(f"This cannot be sent: {error.messages}") from None
        return cls(**{**given, **texts})
