"""The file of `firebase auth:export`, and the hash parameters that the project's console shows."""

import re

from ...accounts.foreign.firebase import write
from ..account import ImportedAccount, RowError
from .fields import flag, from_milliseconds, identities, required, text
from .rows import Fields

HashConfig = dict[str, str]

# Parameters as the Firebase console shows them, `base64_signer_key: …,`, or as JSON.
_PARAMETER = re.compile(r'"?(\w+)"?\s*:\s*"?([^\s,"{}]+)', re.ASCII)
_REQUIRED = {"base64_signer_key", "base64_salt_separator", "rounds", "mem_cost"}


def hash_config(text: str) -> HashConfig:
    config = dict(_PARAMETER.findall(text))
    if missing := sorted(_REQUIRED - config.keys()):
        raise RowError("no_hash_config", f"Missing hash parameters: {', '.join(missing)}.")
    if not (config["rounds"].isdecimal() and config["mem_cost"].isdecimal()):
        raise RowError("no_hash_config", "The hash parameters rounds and mem_cost are integers.")
    return config


def account(row: Fields, config: HashConfig | None) -> ImportedAccount:
    return ImportedAccount(
        email=required(row, "email"),
        id=text(row, "localId"),
        email_verified=flag(row, "emailVerified", False),
        password_hash=_password_hash(row, config),
        status="suspended" if flag(row, "disabled", False) else "active",
        phone=text(row, "phoneNumber"),
        created_at=from_milliseconds(row, "createdAt"),
        last_login_date=from_milliseconds(row, "lastSignedInAt"),
        identities=identities(row, "providerUserInfo", "providerId", "rawId"),
    )


def _password_hash(row: Fields, config: HashConfig | None) -> str | None:
    checksum = text(row, "passwordHash")
    if checksum is None:
        return None
    if config is None:
        raise RowError("no_hash_config", "Without --hash-config the password cannot be verified.")
    return write(
        text(row, "salt") or "",
        checksum,
        signer_key=config["base64_signer_key"],
        separator=config["base64_salt_separator"],
        rounds=int(config["rounds"]),
        cost=int(config["mem_cost"]),
    )
