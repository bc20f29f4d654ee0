"""An action is declared once: its title, its data, its signal and its security log event.

Each package lists its actions in its `actions.py`; `app/extension/actions.py` collects them. Code
reports an action with `report_action` (core/context.py).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson
from blinker import Namespace
from sqlalchemy import ColumnElement, Connection, and_, insert

from .audit_log.models import ADDRESS_LENGTH, TARGET_LENGTH, USER_AGENT_LENGTH, AuditEntry
from .clock import Clock
from .db.transaction import AnySession, after_commit, is_open, unwrap_session, write_last
from .errors import SetupError
from .hooks import check_known
from .request import Origin, current_origin, note_effect
from .security_log import log, log_action
from .types import AccountKey, JsonObject, SignalOptions, Values

_NO_DATA: Values = MappingProxyType({})


class Signal(NamedTuple):
    """A signal for the application's listeners, with the text of its section in docs/signals.md."""

    name: str
    subject: str
    moment: str
    returns: str = "nothing"


class Title(NamedTuple):
    """A title, with values for its names in braces."""

    text: str
    values: Values = _NO_DATA


class Variant(NamedTuple):
    """The entries of an action with certain data, as a choice of a filter."""

    title: str
    # Returns the condition for the column of the data.
    where: Callable[[Any], ColumnElement[bool]]


def has(**values: str) -> Callable[[Any], ColumnElement[bool]]:
    """Return the condition that the data has these texts."""
    return lambda data: and_(*(data[each].as_string() == values[each] for each in values))


def changed(name: str) -> Callable[[Any], ColumnElement[bool]]:
    """Return the condition that the names of the changed properties include this one."""
    return lambda data: data["changed"].as_string().contains(f'"{name}"', autoescape=True)


def differs(name: str, **values: str) -> Callable[[Any], ColumnElement[bool]]:
    """Return the condition that a property changed; `before` and `after` are its values."""

    def where(data: Any) -> ColumnElement[bool]:
        found = {each: data[each, name].as_string() for each in ("before", "after")}
        is_value = (found[each] == value for each, value in values.items())
        return and_(found["before"] != found["after"], *is_value)

    return where


class Action(NamedTuple):
    name: str
    # In the past tense: "Signed in".
    title: str
    # The names that `data` can have, each with its description.
    data: Mapping[str, str] = _NO_DATA
    signal: Signal | None = None
    # The security log's event; empty: the security log has no entry.
    log_event: str = ""
    # Constant fields of the security log entry.
    log_fields: Values = _NO_DATA
    # For a rejected request: the security log events that lead to this action.
    rejection_events: tuple[str, ...] = ()
    is_audited: bool = True
    # Returns a more specific title for the data of an entry; None: the title above.
    describe: Callable[[Values], Title | None] = lambda _: None
    # Choices of the console's filter, next to the action itself.
    variants: Mapping[str, Variant] = MappingProxyType({})

    def title_of(self, data: Values) -> Title:
        """Return the title of an entry: "Role changed from user to admin"."""
        return self.describe(data) or Title(self.title)


class Change(NamedTuple):
    """A property that an action changed; the values are None if the entry has only the name."""

    name: str
    before: Any
    after: Any


def find_changes(data: Values) -> list[Change]:
    """Return the changed properties of an entry."""
    before, after = data.get("before") or {}, data.get("after") or {}
    names = data.get("changed") or after
    changes = [Change(name, before.get(name), after.get(name)) for name in names]
    return [each for each in changes if each.before != each.after or each.name not in before]


class Target(NamedTuple):
    """The object of an action that affects neither an account nor a workspace."""

    kind: str
    id: AccountKey


# An audit log entry by the names of its columns.
Row = Mapping[str, object]
Listener = Callable[[Any, dict[str, Any]], object]
# Called in the transaction of an action, with the id of the affected account and the data.
Effect = Callable[[AccountKey | None, Values], object]

_INSERT = insert(AuditEntry).inline()
_ACCOUNT = "account"
# The token of a workspace; its name is in the data.
TOKEN_ACTOR = "token"
# An identity provider; its name is in the data.
PROVIDER_ACTOR = "provider"
# The actor's kind for an origin without an account.
_ACTOR_KINDS = {"request": "anonymous", "command": "cli", "system": "system"}


class Actions:
    """One application's signals and audit log (blinker's global namespace is not used).

    A listener receives the subject of a signal and a dict of options: `session` is the database
    session, `origin` has the actor and the IP address. It runs before the commit, and aborts the
    transaction by raising.
    """

    def __init__(
        self, clock: Clock, catalogue: Mapping[str, Action], signals: Iterable[str], audits: bool
    ) -> None:
        # Includes the application's own types, some of which are declared later.
        self.catalogue = catalogue
        self.audits = audits
        # Called after the commit of every reported action, with its name and data.
        self.watchers: list[Callable[[str, Values], object]] = []
        self._clock = clock
        self._known = set(signals)
        self._signals = Namespace()
        self._effects: dict[str, list[Effect]] = {}

    def declare(self, signal: str) -> None:
        self._known.add(signal)

    def on(self, signal: str, listener: Listener) -> None:
        check_signal(signal, self._known)

        def receive(subject: object, options: SignalOptions) -> object:
            return listener(subject, options)

        # A strong reference: a listener defined inside a function would otherwise be collected.
        self._signals.signal(signal).connect(receive, weak=False)

    def add_effect(self, action: Action, effect: Effect) -> None:
        """Call a function of a feature whenever the action is reported, also without a signal."""
        self._effects.setdefault(action.name, []).append(effect)

    def emit(self, signal: str, subject: object, session: AnySession) -> int:
        """Notify the listeners and return how many there were."""
        check_signal(signal, self._known)
        return self._send(signal, subject, session)

    def report(
        self,
        session: AnySession,
        action: Action,
        subject: object,
        account_id: AccountKey | None,
        workspace_id: object,
        target: Target | None,
        data: Values,
    ) -> int:
        """Report an action in its open transaction; see `report_action` in core/context.py."""
        listeners = 0
        if action.signal is not None and subject is not None:
            listeners = self._send(action.signal.name, subject, session)
        if action.is_audited:
            self.record(
                session, action, account_id, workspace_id, target, data, requires_transaction=True
            )
        for effect in self._effects.get(action.name, ()):
            effect(account_id, data)
        return listeners

    def record(
        self,
        session: AnySession,
        action: Action,
        account_id: AccountKey | None,
        workspace_id: object,
        target: Target | None,
        data: Values,
        *,
        requires_transaction: bool = False,
    ) -> None:
        """Write the audit log entry, and after the commit the security log entry.

        With `requires_transaction`, raise unless a transaction is open. Without it, the entry can
        also be part of a transaction that the application commits.
        """
        session = unwrap_session(session)
        has_transaction = is_open(session)
        if requires_transaction and not has_transaction:
            raise RuntimeError(f"{action.name!r} is reported in the transaction of the action.")
        for name in data:
            if name not in action.data:
                raise SetupError(f"An action of the type {action.name!r} has no {name!r}.")
        if action.log_event and log.isEnabledFor(logging.INFO):
            fields = {**action.log_fields, **_flatten(data)}
            if account_id is not None:
                fields["account_id"] = account_id
            if workspace_id is not None:
                fields["workspace_id"] = workspace_id
            after_commit(session, partial(log_action, action.log_event, fields))
        for watch in self.watchers:
            after_commit(session, partial(watch, action.name, data))
        if not self.audits:
            return
        row = self.row(current_origin(), action.name, account_id, workspace_id, target, data)
        if has_transaction:
            write_last(session, write_audit_entries, row)
        else:
            write_audit_entries(session, [row])

    def row(
        self,
        origin: Origin,
        name: str,
        account_id: AccountKey | None,
        workspace_id: object = None,
        target: Target | None = None,
        data: Values = _NO_DATA,
    ) -> Row:
        actor_id = origin.account_id
        kind = _ACTOR_KINDS[origin.kind] if actor_id is None else _ACCOUNT
        if origin.token is not None:
            data = {**data, "token": origin.token._asdict()}
            kind = kind if actor_id is not None else TOKEN_ACTOR
        if origin.provider is not None:
            data = {**data, PROVIDER_ACTOR: origin.provider}
            kind = PROVIDER_ACTOR
        return {
            "type": name,
            "at": self._clock.now(),
            "actor_kind": kind,
            "actor_id": actor_id,
            "account_id": actor_id if account_id is None else account_id,
            "workspace_id": origin.workspace_id if workspace_id is None else workspace_id,
            "target_kind": target.kind if target else None,
            "target_id": str(target.id)[:TARGET_LENGTH] if target else None,
            "address": _truncate(origin.address, ADDRESS_LENGTH),
            "user_agent": _truncate(origin.user_agent, USER_AGENT_LENGTH),
            "request_id": origin.request_id,
            "data": _as_json(data),
        }

    def find(self, name: str) -> Action:
        found = self.catalogue.get(name)
        if found is None:
            raise SetupError(
                f"No action has the type {name!r}. Declare your own types first, with"
                f' frontdesk.record_type("{name}", "what it means").'
            )
        return found

    def _send(self, name: str, subject: object, session: AnySession) -> int:
        signal = self._signals.signal(name)
        if not signal.receivers:
            return 0
        note_effect()
        return len(signal.send(subject, options={"session": session, "origin": current_origin()}))


def check_signal(signal: str, known: Iterable[str]) -> None:
    """Raise if nothing emits the signal: its listener would never be called."""
    check_known("event", signal, known, f'declared first, with frontdesk.event("{signal}")')


def write_audit_entries(session: AnySession | Connection, rows: Sequence[Row]) -> None:
    """Insert audit log entries in the transaction of the session or connection."""
    connection = session if isinstance(session, Connection) else session.connection()
    connection.execute(_INSERT, rows)


def _as_json(data: Values) -> object:
    """Convert ids of any type and timestamps to strings."""
    return orjson.loads(orjson.dumps(dict(data), default=str, option=orjson.OPT_NON_STR_KEYS))


def _flatten(data: Values) -> JsonObject:
    """Return the security log's names: `type_before` and `type_after`."""
    fields: JsonObject = {}
    for name, value in data.items():
        if name in ("before", "after"):
            fields |= {f"{inner}_{name}": item for inner, item in value.items()}
        else:
            fields[name] = value
    return fields


def _truncate(text: str | None, length: int) -> str | None:
    """Clients and proxies choose these texts, so they can be of any length."""
    return text[:length].replace("\x00", "") if text else None
