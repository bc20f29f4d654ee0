"""One-click unsubscribe (RFC 8058): the links in the headers of emails, and what they turn off.

The token of a link is an HMAC of account, kind and channel. It does not expire, because people
unsubscribe with old emails; it ends with the account, or when its secret key is removed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from flask import Flask
from itsdangerous import BadData, URLSafeSerializer

from ..accounts.service import Accounts
from ..core.config.settings import LoadedSettings
from ..core.context import Context
from ..core.db.account_ids import IdKind, serialize_id
from ..core.db.transaction import AnySession, transaction
from ..core.types import AccountKey, JsonObject
from ..core.web.blueprint import Blueprint, LazyView
from . import preferences
from .errors import InvalidUnsubscribeLink
from .optouts import delete_opt_outs, read_opt_outs, store_opt_outs
from .preferences import Preferences

BLUEPRINT = "unsubscribe"
_VIEW, _ROUTES = "unsubscribe", "unsubscribe_routes"
_SALT = "frontdesk.unsubscribe"


class Subscription(NamedTuple):
    """The messages that a link is about."""

    account_id: AccountKey
    kind: str
    channel: str


class UnsubscribeTokens:
    def __init__(self, settings: LoadedSettings, ids: IdKind) -> None:
        self._ids = ids
        self._serializer = URLSafeSerializer(
            # The last key signs; the others are still accepted.
            [*reversed(settings.former_secret_keys), settings.secret_key],
            salt=_SALT,
            signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
        )

    def write(self, subscription: Subscription) -> str:
        account_id, kind, channel = subscription
        return str(self._serializer.dumps([serialize_id(account_id), kind, channel]))

    def read(self, token: str) -> Subscription:
        """Return what the token is about; raise InvalidUnsubscribeLink."""
        try:
            account_id, kind, channel = self._serializer.loads(token)
            return Subscription(self._ids.from_text(account_id), kind, channel)
        except (BadData, ValueError, TypeError):
            raise InvalidUnsubscribeLink from None


@dataclass(eq=False)
class UnsubscribeLinks:
    """The links in emails, where `CORE__PUBLIC_URL` is https and the blueprint is mounted."""

    app: Flask
    public_url: str | None
    mounted: Collection[str]
    tokens: UnsubscribeTokens

    def url(self, subscription: Subscription) -> str | None:
        is_https = self.public_url is not None and self.public_url.startswith("https://")
        if not is_https or BLUEPRINT not in self.mounted:
            return None
        return f"{self.public_url}{self._path}{self.tokens.write(subscription)}"

    @cached_property
    def _path(self) -> str:
        """The path of the route without the token; a worker has no request to build a URL for."""
        endpoint = next(
            name
            for name, view in self.app.view_functions.items()
            # The application can register the blueprint under another name.
            if name.endswith(f".{_VIEW}") and isinstance(view, LazyView) and view.module == _ROUTES
        )
        root = self.app.config["APPLICATION_ROOT"]
        adapter = self.app.url_map.bind("", script_name=root)
        return adapter.build(endpoint, {"token": "-"}, method="POST").removesuffix("-")


@dataclass(eq=False)
class Unsubscribing:
    session: AnySession
    accounts: Accounts
    preferences: Preferences
    tokens: UnsubscribeTokens

    def read(self, token: str) -> JsonObject:
        """Return the kind of a link, whether it is sent, and whether other optional kinds are.

        Raises InvalidUnsubscribeLink.
        """
        subscription = self.tokens.read(token)
        if self.accounts.by_id(subscription.account_id) is None:
            raise InvalidUnsubscribeLink
        return self._state(subscription)

    def turn_off(self, token: str, *, is_all: bool) -> JsonObject:
        """Turn the kind off, or all kinds that are not mandatory."""
        account_id, kind, channel = subscription = self.tokens.read(token)
        with transaction(self.session) as session:
            self._lock(account_id)
            more = self.preferences.optional(channel) if is_all else ()
            store_opt_outs(session, account_id, {(kind, channel), *more})
            return self._state(subscription)

    def turn_on(self, token: str, *, is_all: bool) -> JsonObject:
        """Undo `turn_off`. With `is_all`, also kinds that were off before."""
        account_id, kind, channel = subscription = self.tokens.read(token)
        with transaction(self.session) as session:
            self._lock(account_id)
            turned_on = {(kind, channel)}
            if is_all:
                turned_on |= {
                    (key, name)
                    for key, name in read_opt_outs(session, account_id)
                    if name == channel and not self.preferences.kinds.is_mandatory(key)
                }
            delete_opt_outs(session, account_id, turned_on)
            return self._state(subscription)

    def _lock(self, account_id: AccountKey) -> None:
        if self.accounts.lock(account_id) is None:
            raise InvalidUnsubscribeLink

    def _state(self, subscription: Subscription) -> JsonObject:
        account_id, key, channel = subscription
        kinds, off = self.preferences.kinds, read_opt_outs(self.session, account_id)
        kind, is_mandatory = kinds.get(key), kinds.is_mandatory(key)
        others = {pair for pair in self.preferences.optional(channel) if pair[0] != key}
        return {
            "kind": key,
            "name": key if kind is None else kind.name,
            "mandatory": is_mandatory,
            "subscribed": is_mandatory or (key, channel) not in off,
            "others_subscribed": not others <= off,
        }


def assemble(context: Context) -> None:
    preferences.assemble(context)
    context.provide(Unsubscribing, _unsubscribing)


def _unsubscribing(context: Context) -> Unsubscribing:
    return Unsubscribing(
        context.session,
        context.get(Accounts),
        context.get(Preferences),
        context.get(UnsubscribeTokens),
    )


blueprint = Blueprint(BLUEPRINT, __name__, assemble=assemble, about="One-click unsubscribe")
for method, name in (
    ("GET", "open_unsubscribe_link"),
    ("POST", "unsubscribe"),
    ("DELETE", "undo_unsubscribe"),
):
    view = LazyView(f"unsubscribe_routes.{name}", __package__)
    blueprint.add_url_rule("/unsubscribe/<token>", view_func=view, methods=[method])
