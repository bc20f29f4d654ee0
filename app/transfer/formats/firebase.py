"""The file of `firebase auth:export`, and the hash parameters that the project's console shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TextIO

from ...accounts.foreign.firebase import write
from ..account import ImportedAccount, Row, RowFault
from .fields import flag, from_milliseconds, identity, needed, objects, text
from .rows import Fields, documents, each

HashConfig = dict[str, str]

# As the console shows them, `base64_signer_key: …,`, and as JSON.
_PARAMETER = re.compile(r'"?(\w+)"?\s*:\s*"?([^\s,"{}]+)', re.ASCII)
_NEEDED = {"base64_signer_key", "base64_salt_separator", "rounds", "mem_cost"}


def hash_config(shown: str) -> HashConfig:
    found = dict(_PARAMETER.findall(shown))
    if missing := sorted(_NEEDED - found.keys()):
        raise RowFault("no_hash_config", f"The hash parameters lack {', '.join(missing)}.")
    return found


def read(stream: TextIO, config: HashConfig | None = None) -> Iterator[Row]:
    return each(documents(stream, "users"), partial(account, config=config))


def account(row: Fields, config: HashConfig | None) -> ImportedAccount:
    return ImportedAccount(
        email=needed(row, "email"),
        id=text(row, "localId"),
        email_verified=flag(row, "emailVerified", False),
        password_hash=_password_hash(row, config),
        status="suspended" if flag(row, "disabled", False) else "active",
        phone=text(row, "phoneNumber"),
        created_at=from_milliseconds(row, "createdAt"),
        last_login_date=from_milliseconds(row, "lastSignedInAt"),
        identities=[
            one
            for each in objects(row, "providerUserInfo")
            for one in identity(each.get("providerId"), each.get("rawId"))
        ],
    )


def _password_hash(row: Fields, config: HashConfig | None) -> str | None:
    made = text(row, "passwordHash")
    if made is None:
        return None
    if config is None:
        raise RowFault(
            "no_hash_config", "Without --hash-config its password can be tried by nobody."
        )
    return write(
        text(row, "salt") or "",
        made,
        signer_key=config["base64_signer_key"],
        separator=config["base64_salt_separator"],
        rounds=int(config["rounds"]),
        cost=int(config["mem_cost"]),
    )
