"""A proxy between the service and the provider, which can alter the provider's responses.

A certified provider never sends wrong responses. This proxy forwards requests (with the client's
Host header, so that the provider's documents contain the proxy's address), and a test can replace
or alter responses.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import requests
from joserfc import jws, jwt
from joserfc.jwk import ECKey, RSAKey

DISCOVERY = "/.well-known/openid-configuration"
TOKEN = "/token"
KEYS = "/jwks"
USERINFO = "/me"

# Headers of one connection, and headers that do not apply to a decompressed body.
NOT_FORWARDED = {
    "connection",
    "content-encoding",
    "content-length",
    "keep-alive",
    "transfer-encoding",
}


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


Alteration = Callable[[Answer], Answer]
# Returns the response to a request's headers and body; None forwards the request.
Interceptor = Callable[[dict[str, str], bytes], Answer | None]
Claims = dict[str, Any]


class Proxy:
    """Forwards to the provider, unless a test alters the responses."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._alterations: dict[str, Alteration] = {}
        self._interceptors: dict[str, Interceptor] = {}
        self._dripping: set[str] = set()
        self._keys: dict[str, RSAKey | ECKey] = {
            "RS256": RSAKey.generate_key(2048, {"kid": "the-proxy", "use": "sig", "alg": "RS256"}),
            "ES256": ECKey.generate_key("P-256", {"kid": "curve", "use": "sig", "alg": "ES256"}),
        }
        self.calls: Counter[str] = Counter()
        self._server: ThreadingHTTPServer | None = None
        self._port = 0
        self.up()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def issuer(self) -> str:
        """The provider's, and not the address of the proxy."""
        return self._upstream

    @property
    def metadata_url(self) -> str:
        return self.url + DISCOVERY

    def up(self) -> None:
        """Listen at the same address as before."""
        self._server = _Server(("127.0.0.1", self._port), _handler(self))
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def down(self) -> None:
        """Refuse connections until `up`."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def reset(self) -> None:
        """Remove all alterations and counts."""
        self._alterations.clear()
        self._interceptors.clear()
        self._dripping.clear()
        self.calls.clear()
        if self._server is None:
            self.up()

    def alter(self, path: str, alteration: Alteration) -> None:
        self._alterations[path] = alteration

    def intercept(self, path: str, interceptor: Interceptor) -> None:
        """Respond to some requests without forwarding them."""
        self._interceptors[path] = interceptor

    def answer(self, path: str, answer: Answer) -> None:
        self.alter(path, lambda _: answer)

    def delay(self, path: str, seconds: float) -> None:
        def wait(answer: Answer) -> Answer:
            time.sleep(seconds)
            return answer

        self.alter(path, wait)

    def drip(self, path: str) -> None:
        """Send the response one byte a second, so that no single read is slow."""
        self._dripping.add(path)

    def alter_json(self, path: str, change: Callable[[Any], Any]) -> None:
        def altered(answer: Answer) -> Answer:
            return replace(answer, body=json.dumps(change(json.loads(answer.body))).encode())

        self.alter(path, altered)

    def alter_id_token(
        self,
        change: Callable[[Claims], Claims],
        *,
        publish_key: bool = True,
        algorithm: str = "RS256",
    ) -> None:
        """Sign changed claims with the proxy's key, which the key set contains if `publish_key`."""
        key = self._keys[algorithm]

        def sign(id_token: str) -> str:
            claims = json.loads(jws.extract_compact(id_token.encode()).payload)
            return jwt.encode({"alg": algorithm, "kid": key.kid}, change(claims), key)

        self.replace_id_token(sign)
        if publish_key:
            public = key.as_dict(private=False)
            self.alter_json(KEYS, lambda document: {"keys": [*document["keys"], public]})

    def key_set(self) -> Any:
        """Return the set of the proxy's public keys."""
        return {"keys": [key.as_dict(private=False) for key in self._keys.values()]}

    def replace_id_token(self, change: Callable[[str], Any]) -> None:
        def changed(document: Any) -> Any:
            if "id_token" not in document:  # an error response
                return document
            return document | {"id_token": change(document["id_token"])}

        self.alter_json(TOKEN, changed)

    def fetch(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        self.calls[urlsplit(path).path] += 1
        interceptor = self._interceptors.get(urlsplit(path).path)
        if interceptor and (intercepted := interceptor(headers, body)):
            return intercepted
        response = requests.request(
            method,
            self._upstream + path,
            headers=headers,
            data=body,
            allow_redirects=False,
            timeout=10,
        )
        # The raw headers: `response.headers` merges several Set-Cookie headers.
        received = response.raw.headers.items()
        forwarded = tuple(
            (name, value) for name, value in received if name.lower() not in NOT_FORWARDED
        )
        answer = Answer(response.status_code, response.content, forwarded)
        alteration = self._alterations.get(urlsplit(path).path)
        return alteration(answer) if alteration else answer

    def drips(self, path: str) -> bool:
        return urlsplit(path).path in self._dripping


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in NOT_FORWARDED
            }
            answer = proxy.fetch(self.command, self.path, headers, body)
            with suppress(OSError):  # the client may have closed the connection after its timeout
                self._send(answer)

        do_POST = do_GET

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if not proxy.drips(self.path):
                self.wfile.write(answer.body)
                return
            for byte in answer.body:
                self.wfile.write(bytes([byte]))
                time.sleep(1)

        def log_message(self, format: str, *args: Any) -> None:
            pass  # tests read the service's log

    return Handler
