"""An answer that is all there when it is made, as nearly all are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flask import Response
from werkzeug.datastructures import Headers

# With one of these Werkzeug changes the headers.
_MENDED = frozenset(("location", "content-location"))


class FinishedAnswer(Response):
    """Goes out as it is, where Werkzeug would copy its headers and look for its end."""

    def get_wsgi_headers(self, environ: dict[str, Any]) -> Headers:
        if not self._has_body(environ):
            return super().get_wsgi_headers(environ)
        names = {name.lower() for name, _ in self.headers}
        if "content-length" not in names or not names.isdisjoint(_MENDED):
            return super().get_wsgi_headers(environ)
        return self.headers

    def get_app_iter(self, environ: dict[str, Any]) -> Iterable[bytes]:
        if not self._has_body(environ) or not isinstance(self.response, list):
            return super().get_app_iter(environ)
        return _Body(self.iter_encoded(), self.close)

    def _has_body(self, environ: dict[str, Any]) -> bool:
        status = self.status_code
        return status >= 200 and status not in (204, 304) and environ["REQUEST_METHOD"] != "HEAD"


class _Body(list[bytes]):
    """The parts of a body; a server calls `close` when it has sent them."""

    def __init__(self, parts: Iterable[bytes], close: Callable[[], None]) -> None:
        super().__init__(parts)
        self.close = close
