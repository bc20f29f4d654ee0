"""Flask as the service has it: what it would find out anew at every request is found out once."""

from __future__ import annotations

from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any, NamedTuple
from weakref import WeakSet

from flask import Flask, Request
from werkzeug.routing import Map, MapAdapter
from werkzeug.wsgi import get_host

from .rules import RuleReadFirst
from .sessions import SessionsWhenSent

# What a Host header may be long, as a name and its port.
_HOST_LENGTH = 261


class _Host(NamedTuple):
    given: str
    # As links are made from it.
    server_name: str


@lru_cache(1024)
def _host(scheme: str, header: str) -> _Host:
    given = get_host({"wsgi.url_scheme": scheme, "HTTP_HOST": header})
    return _Host(given, Map().bind(given).server_name)


class Application(Flask):
    url_rule_class = RuleReadFirst
    session_interface = SessionsWhenSent()

    def __init__(self, *args: Any, **options: Any) -> None:
        self._synchronous: WeakSet[Any] = WeakSet()
        super().__init__(*args, **options)

    def ensure_sync(self, func: Any) -> Any:
        """Five functions of each request are asked whether they are asynchronous."""
        if not isinstance(func, (FunctionType, MethodType)):
            return super().ensure_sync(func)
        if func in self._synchronous:
            return func
        run = super().ensure_sync(func)
        if run is func:
            self._synchronous.add(func)
        return run

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """As Flask makes it, without reading a host that has been read before."""
        if request is None or not self._takes_any_host():
            return super().create_url_adapter(request)
        environ = request.environ
        header = environ.get("HTTP_HOST", "")
        if not 0 < len(header) <= _HOST_LENGTH or "HTTP_UPGRADE" in environ:
            return super().create_url_adapter(request)
        scheme = environ["wsgi.url_scheme"]
        host = _host(scheme, header)
        request.host = host.given
        return MapAdapter(
            self.url_map,
            host.server_name,
            request.root_path,
            self.url_map.default_subdomain or "",
            scheme,
            request.path if environ.get("PATH_INFO") else "",
            request.method,
            request.query_string.decode(errors="replace"),
        )

    def _takes_any_host(self) -> bool:
        names = self.config["SERVER_NAME"], self.config["TRUSTED_HOSTS"]
        return names == (None, None) and not (self.url_map.host_matching or self.subdomain_matching)
