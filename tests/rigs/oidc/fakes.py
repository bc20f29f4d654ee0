"""Fakes of Google, Microsoft, GitHub and Apple, each with the traits that its documentation names.

A fake is one HTTP server on loopback. `authorize` is what its pages do when a user consents: it
checks the parameters of the URL, and returns what the provider sends to the redirect URI. `user` is
who consents on the page that the fake shows to a browser.

Google: the issuer of tokens may lack `https://`.
  https://developers.google.com/identity/openid-connect/reference
Microsoft: one document for several tenants with `{tenantid}` in its issuer; no `email_verified`;
  `email` is not proved, `xms_edov` says whether the domain is; the secret in the form.
  https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc
  https://learn.microsoft.com/en-us/entra/identity-platform/optional-claims-reference
GitHub: OAuth 2.0 without ID tokens; errors of the token endpoint have the status 200; the verified
  addresses are in the API; PKCE.
  https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
  https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
  https://docs.github.com/en/rest/users/emails
Apple: a form to the redirect URI if the address is requested; `email_verified` may be a text; the
  client secret is a signed token; no user info.
  https://developer.apple.com/documentation/signinwithapplerestapi/request-an-authorization-to-the-sign-in-with-apple-server.
  https://developer.apple.com/documentation/signinwithapple/authenticating-users-with-sign-in-with-apple
  https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from .browser import query_of

WELL_KNOWN = "/.well-known/openid-configuration"
# Microsoft's example, and its tenant of personal accounts.
TENANT = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490"
OTHER_TENANT = "9188040d-6c67-4c5b-b112-36a304b66dad"
CLIENT_ID, SECRET = "frontdesk", "a secret of the client"
TEAM_ID, KEY_ID = "TEAM123456", "KEY1234567"
# The longest life of a client secret: 15777000 seconds.
SIX_MONTHS = 15_777_000

Claims = dict[str, Any]
Reply = tuple[int, Any]


class Fake:
    """A provider of one kind, and its users' claims."""

    auth_methods: tuple[str, ...] = ("client_secret_post", "client_secret_basic")

    def __init__(self) -> None:
        self.url = ""
        self.issuer = ""
        self.user: Claims = {}
        self.requests: list[str] = []
        self._key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})
        # The parameters of the authorization request and the user, by code and access token.
        self._codes: dict[str, tuple[dict[str, str], Claims]] = {}
        self._tokens: dict[str, Claims] = {}

    @property
    def access_tokens(self) -> list[str]:
        return list(self._tokens)

    def document(self, path: str) -> Claims:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "token_endpoint_auth_methods_supported": list(self.auth_methods),
            "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": ["openid", "email", "profile"],
        }

    def authorize(self, url: str, **user: Any) -> dict[str, str]:
        """Return what the browser brings to the redirect URI after the user has consented."""
        asked = query_of(url)
        assert asked["client_id"] == CLIENT_ID
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked, user
        return {"code": code, "state": asked["state"]}

    def page(self, url: str) -> str:
        """Return the page on which the user consents."""
        to = f"{query_of(url)['redirect_uri']}?{urlencode(self.authorize(url, **self.user))}"
        return f'<a href="{escape(to)}">Consent</a>'

    def reply(self, path: str, form: dict[str, str], headers: Any) -> Reply:
        self.requests.append(path)
        if path.endswith(WELL_KNOWN):
            return 200, self.document(path)
        if path == "/keys":
            return 200, {"keys": [self._key.as_dict(private=False)]}
        if path == "/token":
            return self._redeem(form)
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        return self.api(path, self._tokens[token]) if token in self._tokens else (401, {})

    def api(self, path: str, user: Claims) -> Reply:
        return 200, user

    def accepts(self, form: dict[str, str]) -> bool:
        return (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, SECRET)

    def _redeem(self, form: dict[str, str]) -> Reply:
        if not self.accepts(form):
            return 401, {"error": "invalid_client"}
        if (user := self.user_of(form)) is None:
            return 400, {"error": "invalid_grant"}
        asked, claims = user
        now = int(time.time())
        issued = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 600}
        issued |= {"nonce": asked["nonce"], **claims}
        id_token = jwt.encode({"alg": "RS256", "kid": "1"}, issued, self._key)
        return 200, {**self.access(claims), "id_token": id_token}

    def user_of(self, form: dict[str, str]) -> tuple[dict[str, str], Claims] | None:
        """Return the sign-in of a code, which can be used once, with the PKCE verifier."""
        asked, claims = self._codes.pop(form["code"], ({}, {}))
        digest = sha256(form.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
        redirect_uri = asked.get("redirect_uri")
        is_right = (redirect_uri, asked.get("code_challenge")) == (form["redirect_uri"], challenge)
        return (asked, claims) if is_right else None

    def access(self, claims: Claims) -> Claims:
        token = secrets.token_urlsafe(8)
        self._tokens[token] = claims
        return {"access_token": token, "token_type": "bearer", "expires_in": 600}


class Google(Fake):
    def __init__(self) -> None:
        super().__init__()
        self.issuer = "https://accounts.google.com"


class Microsoft(Fake):
    auth_methods = ("client_secret_post", "private_key_jwt")

    def __init__(self) -> None:
        super().__init__()
        self.issuer = "https://login.microsoftonline.com/{tenantid}/v2.0"

    def document(self, path: str) -> Claims:
        tenant = path.split("/")[1]
        is_one = tenant not in ("organizations", "common")
        issuer = self.issuer.replace("{tenantid}", tenant) if is_one else self.issuer
        return super().document(path) | {"issuer": issuer}

    def authorize(self, url: str, **user: Any) -> dict[str, str]:
        tenant = user.setdefault("tid", TENANT)
        return super().authorize(url, iss=self.issuer.replace("{tenantid}", tenant), **user)


class GitHub(Fake):
    def reply(self, path: str, form: dict[str, str], headers: Any) -> Reply:
        if path != "/login/oauth/access_token":
            return super().reply(path, form, headers)
        assert headers["Accept"] == "application/json", "other requests get a form"
        if not self.accepts(form):
            return 200, {"error": "incorrect_client_credentials"}
        if (user := self.user_of(form)) is None:
            return 200, {"error": "bad_verification_code"}
        access = self.access(user[1])
        del access["expires_in"]
        return 200, access | {"scope": user[0]["scope"]}

    def api(self, path: str, user: Claims) -> Reply:
        if path == "/user/emails":
            return 200, user["emails"]
        # The address of the profile is the public one, which may be missing.
        return 200, {"id": user["id"], "login": user["login"], "email": None, "name": None}


class Apple(Fake):
    auth_methods = ("client_secret_post",)

    def __init__(self) -> None:
        super().__init__()
        self.issuer = "https://appleid.apple.com"
        self.client_key = ECKey.generate_key("P-256")
        self.client_secrets: list[Claims] = []

    def document(self, path: str) -> Claims:
        document = super().document(path) | {"scopes_supported": ["openid", "email", "name"]}
        del document["userinfo_endpoint"]
        return document

    def authorize(self, url: str, **user: Any) -> dict[str, str]:
        asked = query_of(url)
        is_form = asked.get("response_mode") == "form_post"
        assert is_form or "email" not in asked["scope"], "invalid_request"
        person = json.dumps({"name": {"firstName": "Ada"}, "email": user.get("email")})
        return {**super().authorize(url, **user), "user": person}

    def page(self, url: str) -> str:
        fields = "".join(
            f'<input type="hidden" name="{name}" value="{escape(value)}">'
            for name, value in self.authorize(url, **self.user).items()
        )
        action = escape(query_of(url)["redirect_uri"])
        return f'<form method="post" action="{action}">{fields}<button>Consent</button></form>'

    def accepts(self, form: dict[str, str]) -> bool:
        found = jwt.decode(form["client_secret"], self.client_key, algorithms=["ES256"])
        self.client_secrets.append(found.claims)
        fixed = {"iss": TEAM_ID, "sub": CLIENT_ID, "aud": "https://appleid.apple.com"}
        is_recent = found.claims["exp"] - found.claims["iat"] <= SIX_MONTHS
        return found.header["kid"] == KEY_ID and found.claims.items() >= fixed.items() and is_recent


@contextmanager
def running(fake: Fake) -> Iterator[None]:
    server = _Server(("127.0.0.1", 0), _handler(fake))
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # The default of 5 resets connections of parallel sign-ins.
    request_queue_size = 128


def _handler(fake: Fake) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if urlsplit(self.path).path.endswith("/authorize"):
                self._send(200, "text/html", f"<!doctype html>{fake.page(self.path)}")
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            status, found = fake.reply(urlsplit(self.path).path, form, self.headers)
            self._send(status, "application/json", json.dumps(found))

        do_POST = do_GET

        def _send(self, status: int, kind: str, text: str) -> None:
            content = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
