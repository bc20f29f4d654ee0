from __future__ import annotations

from ..auth.schemas import GivenPassword
from ..core.web.fields import Message, Moment, Received


class DeleteAccount(Received):
    class Meta(Received.Meta):
        # Clients and proxies leave the body of a DELETE away.
        may_be_missing = True

    password = GivenPassword(
        max=1024,
        load_default=None,
        metadata={"format": "password", "description": "Or a sign-in of the last 15 minutes"},
    )


class DeletionRead(Message):
    deletes_at = Moment(required=True, metadata={"description": "Until then it can be kept"})
