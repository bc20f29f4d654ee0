"""What the services of personal tokens and of workspaces' tokens share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, or_

from ..core.actions import Target
from ..core.coded_messages import CodedMessage
from ..core.db.pruning import delete_in_batches
from ..core.db.transaction import AnySession
from ..core.errors import Invalid
from .format import SHOWN_LENGTH, digest_of, new_token
from .models import TokenModel
from .schemas import TokenCreate

# How many valid tokens an account or a workspace can have.
MAX_TOKENS = 25
# Until then an admin finds in the table when a token ended.
KEEP = timedelta(days=30)
BATCH_ROWS = 5_000

NOT_A_SCOPE = CodedMessage("Not a scope of this service.", "not_found")


class ShownToken(NamedTuple):
    """A valid token as its owner sees it."""

    id: int
    name: str
    prefix: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    # The slug; only of a personal token.
    workspace: str | None = None
    # The type of the member; only of a workspace's token.
    type: str | None = None
    # Only at the creation.
    token: str | None = None


def shown_columns(model: TokenModel) -> list[Any]:
    return [getattr(model, name) for name in ShownToken._fields[:7]]


def read_shown(row: Any) -> ShownToken:
    return ShownToken(**{**row._mapping, "scopes": row.scopes.split()})


def new_values(
    prefix: str, given: TokenCreate.Input, known: Mapping[str, str], now: datetime
) -> tuple[str, dict[str, Any]]:
    """Return a new token and the values of its row; raise Invalid for an unknown scope."""
    names = list(dict.fromkeys(given["scopes"]))
    if not known.keys() >= {*names}:
        raise Invalid.about("scopes", NOT_A_SCOPE)
    text = new_token(prefix)
    return text, {
        "name": given["name"],
        "prefix": text[:SHOWN_LENGTH],
        "digest": digest_of(text),
        "scopes": " ".join(names),
        "created_at": now,
        "expires_at": now + timedelta(days=given["days"]),
    }


def target(model: TokenModel, token_id: int) -> Target:
    return Target(model.kind, token_id)


def is_valid(model: TokenModel, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return model.ended_at.is_(None), model.expires_at > now


def prune(session: AnySession, model: TokenModel, now: datetime) -> int:
    """Delete tokens that ended or expired long ago; return their number."""
    is_old = or_(model.expires_at < now - KEEP, model.ended_at < now - KEEP)
    return delete_in_batches(session, model, is_old, batch=BATCH_ROWS)
