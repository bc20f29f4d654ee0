"""One call at the deed: `record(session, "member.added", account_id=…, after={…})`.

It makes a row that is written in the transaction of the deed, and the security log's line that is
told after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, insert

from ..clock import Clock
from ..context import find_context
from ..db.transaction import AnySession, is_open, session_itself, write_last
from ..errors import SetupError
from ..request import Origin, current_origin
from ..security_log import tell_when_stored
from .catalogue import CATALOGUE, RecordType
from .models import ADDRESS_LENGTH, TARGET_LENGTH, USER_AGENT_LENGTH, Record

# By the names of its columns.
Row = Mapping[str, Any]

_INSERT = insert(Record).inline()

# Who acts, where it is no account: somebody unknown, an operator's command, the service itself.
ACCOUNT = "account"
_OTHERS = {"request": "anonymous", "command": "cli", "system": "system"}


class Target(NamedTuple):
    """What a deed is done to, where that is neither an account nor a workspace."""

    kind: str
    id: Any


@dataclass(eq=False)
class Recorder:
    clock: Clock
    is_on: bool
    # A host's own types; more may be declared later.
    declared: Mapping[str, RecordType]

    def record(
        self,
        session: AnySession,
        name: str,
        account_id: Any,
        workspace_id: Any,
        target: Target | None,
        data: Mapping[str, Any],
    ) -> None:
        kind = self._type_of(name, data)
        if kind.tells:
            facts = {**kind.facts, **_flat(data)}
            if account_id is not None:
                facts["account_id"] = account_id
            if workspace_id is not None:
                facts["workspace_id"] = workspace_id
            tell_when_stored(session, kind.tells, **facts)
        if not self.is_on:
            return
        row = self.row(current_origin(), name, account_id, workspace_id, target, data)
        if is_open(session):
            write_last(session, write_records, row)
        else:
            # A host commits by itself.
            write_records(session, [row])

    def row(
        self,
        origin: Origin,
        name: str,
        account_id: Any,
        workspace_id: Any = None,
        target: Target | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> Row:
        actor_id = origin.account_id
        return {
            "type": name,
            "at": self.clock.now(),
            "actor_kind": _OTHERS[origin.kind] if actor_id is None else ACCOUNT,
            "actor_id": actor_id,
            "account_id": actor_id if account_id is None else account_id,
            "workspace_id": origin.workspace_id if workspace_id is None else workspace_id,
            "target_kind": target.kind if target else None,
            "target_id": str(target.id)[:TARGET_LENGTH] if target else None,
            "address": _fitting(origin.address, ADDRESS_LENGTH),
            "user_agent": _fitting(origin.user_agent, USER_AGENT_LENGTH),
            "request_id": origin.request_id,
            "data": _as_json(data or {}),
        }

    def knows(self, name: str) -> bool:
        return name in CATALOGUE or name in self.declared

    def _type_of(self, name: str, data: Mapping[str, Any]) -> RecordType:
        kind = CATALOGUE.get(name) or self.declared.get(name)
        if kind is None:
            raise SetupError(
                f"No record has the type {name!r}. One of your own is declared first, with"
                f' frontdesk.record_type("{name}", "what it means").'
            )
        for each in data:
            if each not in kind.data:
                raise SetupError(f"A record of the type {name!r} has no {each!r}.")
        return kind


def record(
    session: AnySession,
    name: str,
    *,
    account_id: Any = None,
    workspace_id: Any = None,
    target: Target | None = None,
    **data: Any,
) -> None:
    """A deed of the catalogue, within an open transaction: kept with it, or not at all.

    Whom it is about is who acts, unless said otherwise. Who acts and from where, the origin says.
    `data` may have `before` and `after`, mappings of what changes.
    """
    held = session_itself(session)
    if not is_open(held):
        raise RuntimeError(f"{name!r} is recorded in the transaction of the deed.")
    recorder = find_context().get(Recorder)
    recorder.record(held, name, account_id, workspace_id, target, data)


def write_records(session: AnySession | Connection, rows: Sequence[Row]) -> None:
    """Within the transaction of the session or connection."""
    connection = session if isinstance(session, Connection) else session.connection()
    connection.execute(_INSERT, rows)


def _as_json(data: Mapping[str, Any]) -> Any:
    """Ids of any type and moments as strings."""
    return orjson.loads(orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS))


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """As the log has it: `type_before` and `type_after`."""
    facts: dict[str, Any] = {}
    for name, value in data.items():
        if name in ("before", "after"):
            facts |= {f"{inner}_{name}": each for inner, each in value.items()}
        else:
            facts[name] = value
    return facts


def _fitting(text: str | None, length: int) -> str | None:
    """A client, or a proxy, may say anything."""
    return text[:length].replace("\x00", "") if text else None
