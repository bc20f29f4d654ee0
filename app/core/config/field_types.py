"""Types of settings beyond pydantic's, each with the error message of a wrong value."""

import re
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, SecretStr
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "month": 2592000}
_RATE = re.compile(
    rf"\s*(\d+)\s*(?:/|\s+per\s+)\s*(\d*)\s*({'|'.join(_SECONDS)})s?\s*", re.ASCII | re.IGNORECASE
)
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)


class Rate(NamedTuple):
    """Part of a rate limit: so many requests in a window that starts with the first request."""

    amount: int
    seconds: int


def parse_rates(notation: str) -> list[Rate]:
    """Parse Flask-Limiter's notation: `5 per 5 minutes`, `100/hour`, several separated by `;`.

    Raises ValueError.
    """
    rates = []
    for part in re.split("[,;|]", notation):
        match = _RATE.fullmatch(part)
        if match is None:
            raise ValueError(f"not a limit: {part.strip()!r}")
        rates.append(Rate(int(match[1]), int(match[2] or 1) * _SECONDS[match[3].lower()]))
    return rates


def _path(value: str) -> str:
    if not value.startswith("/") or value.endswith("/"):
        raise ValueError("must start with a slash and not end with one")
    return value


def _mount_path(value: str) -> str:
    return value if value == "/" else _path(value)


def _origin(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise ValueError("must start with http:// or https://")
    return value.rstrip("/")


def _header_name(value: str) -> str:
    if not _TOKEN.fullmatch(value):
        raise ValueError("must be the name of a header such as X-Tenant")
    return value


def _limit(value: str) -> str:
    try:
        parse_rates(value)
    except ValueError:
        raise ValueError("must be a limit such as '5/5minutes' or '100 per hour'") from None
    return value


def _database(value: SecretStr) -> SecretStr:
    """Hosting providers write postgres://, which SQLAlchemy does not know."""
    text = value.get_secret_value()
    for scheme in ("postgres://", "postgresql://"):
        if text.startswith(scheme):
            text = "postgresql+psycopg://" + text.removeprefix(scheme)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ValueError("must be a URL such as sqlite:///frontdesk.db") from None
    if url.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise ValueError("must begin with sqlite:/// or postgresql+psycopg://")
    return SecretStr(text)


def _redis(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    if text and not text.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("must begin with redis://, rediss:// or unix://")
    return value


def _bind(value: str) -> str:
    if not re.fullmatch(r"unix:/[^/].*|[^/]*:[0-9]{1,5}", value):
        raise ValueError("must be host:port, or unix: and an absolute path")
    return value


UrlPath = Annotated[str, AfterValidator(_path)]
MountPath = Annotated[str, AfterValidator(_mount_path)]
Origin = Annotated[str, AfterValidator(_origin)]
HeaderName = Annotated[str, AfterValidator(_header_name)]
Bind = Annotated[str, AfterValidator(_bind)]
Limit = Annotated[str, AfterValidator(_limit)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_database)]
RedisUrl = Annotated[SecretStr, AfterValidator(_redis)]
