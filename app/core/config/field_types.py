"""Types of settings beyond pydantic's, each with the error message of a wrong value."""

import re
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, SecretStr
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from .redis_url import SCHEMES, parse_servers

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "month": 2592000}
_RATE = re.compile(
    rf"\s*(\d+)\s*(?:/|\s+per\s+)\s*(\d*)\s*({'|'.join(_SECONDS)})s?\s*", re.ASCII | re.IGNORECASE
)
_REDIS_SCHEMES = (
    "redis://",
    "rediss://",
    "unix://",
    *(f"{scheme}+{kind}://" for scheme in ("redis", "rediss") for kind in ("sentinel", "cluster")),
)
_HOST = re.compile(r"(?:\[([0-9a-fA-F:]+)\]|([\w.-]+))(?::(\d+))?", re.ASCII)
_ANY_HOST = r"(?:\[[0-9a-fA-F:]+\]|[\w.-]+)(?::\d+)?"
# As for libpq, a login ends at an @ before the path; as for SQLAlchemy, its password has any slash.
_HOSTS = re.compile(
    r"(?P<start>postgresql\+psycopg://(?:[^:/@]*(?::[^@]*)?@|(?![^/]*@)))"
    rf"(?P<hosts>{_ANY_HOST}(?:,{_ANY_HOST})+)(?P<path>/[^?]*)?(?:\?(?P<query>.*))?",
    re.ASCII,
)
_UNREAD_HOSTS = re.compile(r"(?://|@)\[[^/?@]*,[^/?@]*(?:[/?]|$)")
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
        text = _list_hosts(text)
        url = make_url(text)
        if url.drivername == "postgresql+psycopg":
            url.get_dialect()().create_connect_args(url)
    except (ArgumentError, ValueError):
        raise ValueError("must be a URL such as sqlite:///frontdesk.db") from None
    if url.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise ValueError("must begin with sqlite:/// or postgresql+psycopg://")
    return SecretStr(text)


def _list_hosts(text: str) -> str:
    """Rewrite libpq's list of hosts for SQLAlchemy: `h1:1,h2:2/db` as `/db?host=h1:1&host=h2:2`.

    Raises ValueError if SQLAlchemy would read only the start of the list.
    """
    match = _HOSTS.fullmatch(text)
    if match is None:
        if _UNREAD_HOSTS.search(text):
            raise ValueError
        return text
    start, hosts, path, query = match.group("start", "hosts", "path", "query")
    if "[" in hosts:
        # SQLAlchemy reads IPv6 addresses only if the ports are apart.
        found = _HOST.findall(hosts)
        names = ",".join(address or name for address, name, _ in found)
        places = [f"host={names}", f"port={','.join(port for *_, port in found)}"]
    else:
        places = [f"host={host}" for host in hosts.split(",")]
    return f"{start}{path or '/'}?{'&'.join([*filter(None, [query]), *places])}"


def _postgres(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith("postgresql+psycopg://"):
        raise ValueError("must begin with postgresql+psycopg://")
    return value


def _redis(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    if text and not text.startswith(_REDIS_SCHEMES):
        raise ValueError(SCHEMES)
    parse_servers(text)
    return value


def _broker(value: SecretStr) -> SecretStr:
    """Celery reads its own URLs. A Sentinel URL has the form of `CORE__REDIS_URL`."""
    text = value.get_secret_value()
    if text.startswith("sentinel://"):
        raise ValueError(
            "must begin with redis+sentinel:// and name the master, for Redis Sentinel"
        )
    if re.match(r"rediss?\+(sentinel|cluster):", text):
        servers = parse_servers(text)
        if servers is None or servers.master is None:
            raise ValueError("must name one Redis server or its sentinels: Celery has no cluster")
    return value


def _role(value: str) -> str:
    if not value or value != value.strip() or len(value) > 50 or not value.isprintable():
        raise ValueError("must be the name of a role, of 1 to 50 characters")
    return value


def _bind(value: str) -> str:
    if not re.fullmatch(r"unix:/[^/].*|[^/]*:[0-9]{1,5}", value):
        raise ValueError("must be host:port, or unix: and an absolute path")
    return value


UrlPath = Annotated[str, AfterValidator(_path)]
MountPath = Annotated[str, AfterValidator(_mount_path)]
Origin = Annotated[str, AfterValidator(_origin)]
HeaderName = Annotated[str, AfterValidator(_header_name)]
Role = Annotated[str, AfterValidator(_role)]
Bind = Annotated[str, AfterValidator(_bind)]
Limit = Annotated[str, AfterValidator(_limit)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_database)]
PostgresUrl = Annotated[DatabaseUrl, AfterValidator(_postgres)]
RedisUrl = Annotated[SecretStr, AfterValidator(_redis)]
BrokerUrl = Annotated[SecretStr, AfterValidator(_broker)]
