"""URLs of several Redis servers: the sentinels of a master, or nodes of a Redis Cluster.

redis-py reads URLs of one server. These URLs have its user, password and options, and more hosts.
"""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

_URL = re.compile(
    r"(rediss?)(?:\+(sentinel|cluster))?://(?:([^/?#@]*)@)?([^/?#@]*)(?:/([^?#]*))?(?:\?([^#]*))?"
)
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s\[\]:;]+))(?::([0-9]{1,5}))?")
_SENTINEL_FORM = "redis+sentinel://host:26379,host:26380/mymaster/0"
_CLUSTER_FORM = "redis+cluster://host:7000,host:7001"
_DEFAULT_PORTS = {"sentinel": 26379, "cluster": 6379}
_SENTINEL_OPTIONS = {"sentinel_username": "username", "sentinel_password": "password"}

SCHEMES = (
    "must begin with redis://, rediss:// or unix://, with redis+sentinel:// or rediss+sentinel://"
    " for Redis Sentinel, or with redis+cluster:// or rediss+cluster:// for Redis Cluster"
)


class RedisServers(NamedTuple):
    """The servers of a URL. The addresses are those of sentinels or of cluster nodes."""

    addresses: list[tuple[str, int]]
    # redis-py's URL of the first address: TLS, user and password, database and options.
    url: str
    # The name of the master that the sentinels monitor; None for a cluster.
    master: str | None = None
    # User and password of the sentinels.
    sentinel_login: dict[str, str] = {}

    @property
    def uses_tls(self) -> bool:
        return self.url.startswith("rediss:")

    @property
    def where(self) -> str:
        """The servers as messages name them, without user and password."""
        hosts = ", ".join(f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.addresses)
        return f"{self.master} (sentinels {hosts})" if self.master else hosts


def parse_servers(url: str) -> RedisServers | None:
    """Return the servers of a Sentinel or Redis Cluster URL, None for a URL of one server.

    Raises ValueError with a message that has no part of the URL.
    """
    kind = url.partition("://")[0].partition("+")[2]
    if kind not in ("", "sentinel", "cluster"):
        return None
    match = _URL.fullmatch(url)
    if match is None:
        if kind:
            raise ValueError(_malformed(kind))
        return None
    scheme, _, login, hosts, path, query = match.groups(default="")
    if not kind:
        if "," in hosts:
            raise ValueError(
                f"names several hosts and needs a form such as {_SENTINEL_FORM} for Redis Sentinel,"
                f" or {_CLUSTER_FORM} for Redis Cluster"
            )
        return None
    addresses = [_address(part, kind) for part in hosts.split(",")]
    options = dict(parse_qsl(query, keep_blank_values=True))
    master, database, sentinel_login = None, "", {}
    if kind == "sentinel":
        master, database = _master(path)
        sentinel_login = {
            own: options.pop(name) for name, own in _SENTINEL_OPTIONS.items() if name in options
        }
    elif path.strip("/") not in ("", "0") or options.pop("db", "0") != "0":
        raise ValueError("must not name a database: a Redis Cluster has only database 0")
    one = f"{scheme}://{login}@{hosts.split(',')[0]}/{database}?{urlencode(options)}"
    return RedisServers(addresses, one, master, sentinel_login)


def _malformed(kind: str) -> str:
    form = _CLUSTER_FORM if kind == "cluster" else _SENTINEL_FORM
    return (
        f"must be a valid URL such as {form}, with special characters of the password"
        " percent-encoded"
    )


def _address(part: str, kind: str) -> tuple[str, int]:
    match = _HOST.fullmatch(part.strip())
    port = int(match[3] or _DEFAULT_PORTS[kind]) if match else 0
    if match is None or not 0 < port < 65536:
        raise ValueError(_malformed(kind))
    return match[1] or unquote(match[2]), port


def _master(path: str) -> tuple[str, str]:
    """Return the master's name and the database of a Sentinel URL's path."""
    name, _, database = path.strip("/").partition("/")
    if not name or name.isdigit() or not (database or "0").isdigit():
        raise ValueError(f"must name the master after the hosts, as in {_SENTINEL_FORM}")
    return unquote(name), database or "0"
