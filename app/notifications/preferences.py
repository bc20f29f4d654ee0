"""What an account receives: the kinds of notifications by sending channels.

The inbox is the record of what was sent to an account, so `inapp` is always on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..accounts.service import Reclaimer
from ..core.coded_messages import CodedMessage
from ..core.context import Context
from ..core.data_export import DataExporter
from ..core.db.transaction import AnySession, transaction
from ..core.errors import Fault, Invalid
from ..core.types import AccountKey, JsonObject
from ..delivery.channel import Channels
from .errors import MandatoryKind
from .kinds import INAPP, NotificationKind, NotificationKinds
from .optouts import (
    KindAndChannel,
    OptOut,
    delete_opt_outs,
    export_opt_outs,
    read_opt_outs,
    remove_opt_outs,
    store_opt_outs,
)

# By kind and channel: whether notifications are sent.
Choices = Mapping[str, Mapping[str, bool]]


def assemble(context: Context) -> None:
    """Add the preferences to an application that mounts `notifications` or `unsubscribe`."""
    if context.provides(Preferences):
        return
    context.tables.add(OptOut)
    context.provide(Preferences, _preferences)
    context.contribute(DataExporter(export_opt_outs), Reclaimer(remove_opt_outs))


def _preferences(context: Context) -> Preferences:
    return Preferences(context.session, context.get(NotificationKinds), context.get(Channels))


@dataclass(eq=False)
class Preferences:
    session: AnySession
    kinds: NotificationKinds
    channels: Channels

    def read(self, account_id: AccountKey) -> JsonObject:
        off = read_opt_outs(self.session, account_id)
        return {"kinds": [self._item(kind, off) for kind in self.kinds.values()]}

    def change(self, account_id: AccountKey, choices: Choices) -> JsonObject:
        """Turn kinds on and off, all of them or none, and return all preferences."""
        self._check(choices)
        wanted = {
            (kind, channel): is_on
            for kind, by_channel in choices.items()
            for channel, is_on in by_channel.items()
        }
        with transaction(self.session) as session:
            store_opt_outs(
                session, account_id, (pair for pair, is_on in wanted.items() if not is_on)
            )
            delete_opt_outs(session, account_id, [pair for pair, is_on in wanted.items() if is_on])
            return self.read(account_id)

    def sending_channels(self, kind: NotificationKind) -> list[str]:
        """Return the channels that an account can turn off."""
        if kind.channels is not None:
            return [name for name in kind.channels if name != INAPP]
        return [
            name
            for name in self.channels.names()
            if (channel := self.channels.get(name)) and channel.disabled_reason() is None
        ]

    def optional(self, channel: str) -> Iterator[KindAndChannel]:
        """Yield each kind that an account can turn off for this channel."""
        for kind in self.kinds.values():
            if not kind.mandatory and channel in self.sending_channels(kind):
                yield kind.key, channel

    def _item(self, kind: NotificationKind, off: set[KindAndChannel]) -> JsonObject:
        return {
            "key": kind.key,
            "name": kind.name,
            "description": kind.description,
            "mandatory": kind.mandatory,
            "channels": {
                name: kind.mandatory or (kind.key, name) not in off
                for name in self.sending_channels(kind)
            },
        }

    def _check(self, choices: Choices) -> None:
        """Raise Invalid that names all unknown kinds and channels, or else MandatoryKind."""
        unknown, mandatory = [], []
        for key, by_channel in choices.items():
            kind = self.kinds.get(key)
            if kind is None:
                unknown.append(_not_one_of(f"kinds.{key}", self.kinds))
                continue
            known = self.sending_channels(kind)
            unknown += [
                _not_one_of(f"kinds.{key}.{name}", known)
                for name in by_channel
                if name not in known
            ]
            if kind.mandatory and not all(by_channel.values()):
                mandatory.append(key)
        if unknown:
            raise Invalid(faults=unknown)
        if mandatory:
            raise MandatoryKind(mandatory)


def _not_one_of(field: str, known: Iterable[str]) -> Fault:
    names = sorted(known)
    text = f"Must be one of: {', '.join(names)}." if names else "This kind has no such channel."
    return Fault.of("", field, CodedMessage(text, "not_one_of", choices=names))
