"""What recipients have chosen: the kinds of messages that they turned off, and what they read."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Select

from ..core.types import AccountKey
from .message import StoredMessage


class ClaimedMessage(NamedTuple):
    delivery_id: int
    account_id: AccountKey
    message: StoredMessage


class RecipientChoices(Protocol):
    def skip_opted_out(
        self,
        receivers: Select[Any],
        reason: ColumnElement[str | None],
        kind: str | None,
        channel: str,
    ) -> tuple[Select[Any], ColumnElement[str | None]]:
        """Return the query of accounts and the column with the reason to skip one, changed so that
        accounts that turned the kind off are skipped."""

    def skip_reasons(self, channel: str, claimed: Sequence[ClaimedMessage]) -> Mapping[int, str]:
        """Return why deliveries of a batch are skipped now, by their ids."""

    def preferences_url(self, kind: str | None) -> str | None:
        """Return the URL of the page that turns the kind off, or None if nothing does."""

    def unsubscribe_url(self, account_id: AccountKey, kind: str | None, channel: str) -> str | None:
        """Return the URL that turns the kind off with one POST, or None if nothing does."""
