"""Glewlwyd, an identity provider from Debian that does not decode client secrets."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from joserfc.jwk import RSAKey

from ..backends import free_port, wait_for_port
from .browser import query_of
from .node import CLIENT_SECRET, CannotRun

# The package's database schema.
SCHEMA = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
MODULES = Path("/usr/lib/glewlwyd")
# The administrator's password in that schema; the tests use it for all users.
PASSWORD = "password"
# Clients by authentication method.
CLIENTS = {"by-basic": "client_secret_basic", "by-post": "client_secret_post"}

CONFIG = """
port = {port}
bind_address = "127.0.0.1"
external_url = "http://127.0.0.1:{port}"
api_prefix = "api"
login_url = "login.html"
log_mode = "console"
log_level = "WARNING"
session_key = "GLEWLWYD2_SESSION_ID"
admin_session_authentication = "cookie"
profile_session_authentication = "cookie"
cookie_secure = 0
cookie_same_site = "empty"
admin_scope = "g_admin"
profile_scope = "g_profile"
user_module_path = "{modules}/user"
client_module_path = "{modules}/client"
user_auth_scheme_module_path = "{modules}/scheme"
plugin_module_path = "{modules}/plugin"
use_secure_connection = false
secure_connection_key_file = ""
secure_connection_pem_file = ""
secure_connection_ca_file = ""
hash_algorithm = "SHA512"
database = {{ type = "sqlite3"; path = "{database}"; }};
"""


@dataclass
class Glewlwyd:
    url: str

    @property
    def issuer(self) -> str:
        return f"{self.url}/api/oidc"

    @property
    def metadata_url(self) -> str:
        return f"{self.issuer}/.well-known/openid-configuration"

    def set_up(self, redirect_uri: str) -> None:
        """Configure the plugin, a property of users, clients and a user, as an administrator."""
        admin = Session(self.url, "admin")
        admin.send("POST", "mod/plugin/", plugin(self.issuer))
        users = admin.send("GET", "mod/user/database").json()
        formats = users["parameters"]["data-format"]
        formats["verified"] = {"read": True, "write": True}
        formats["groups"] = {"read": True, "write": True, "multiple": True}
        admin.send("PUT", "mod/user/database", users)
        admin.send("PUT", "mod/user/database/reset")
        for name, method in CLIENTS.items():
            admin.send("POST", "client/", client(name, method, redirect_uri))
        admin.send("POST", "user/", user("ada"))

    def set_logout_uri(self, name: str, redirect_uri: str, logout_uri: str) -> None:
        registered = client(name, CLIENTS[name], redirect_uri)
        Session(self.url, "admin").send(
            "PUT", f"client/{name}", registered | {"backchannel_logout_uri": logout_uri}
        )

    def set_groups(self, name: str, groups: list[str]) -> None:
        Session(self.url, "admin").send("PUT", f"user/{name}", user(name) | {"groups": groups})


class Session:
    """A signed-in user of Glewlwyd's API."""

    def __init__(self, url: str, username: str) -> None:
        self._api = f"{url}/api/"
        self._web = requests.Session()
        self.send("POST", "auth/", {"username": username, "password": PASSWORD})

    def send(self, method: str, path: str, json: Any = None) -> requests.Response:
        response = self._web.request(method, self._api + path, json=json, timeout=10)
        assert response.ok, f"{method} {path}: {response.status_code} {response.text}"
        return response

    def authorize(self, url: str) -> str:
        """Give consent and return the URL of the redirect."""
        query = query_of(url)
        self.send("PUT", f"auth/grant/{query['client_id']}/", {"scope": query["scope"]})
        response = self._web.get(f"{url}&g_continue", allow_redirects=False, timeout=10)
        return str(response.headers["Location"])

    def end_session(self, sid: str) -> None:
        """Sign out, as the script of the page for sign-out does."""
        self.send("DELETE", f"oidc/session/{sid}/")

    def session_of(self, logout_url: str) -> str:
        """Return the id of the session that the page for sign-out is about."""
        response = self._web.get(logout_url, allow_redirects=False, timeout=10)
        return query_of(response.headers["Location"])["sid"]


class GlewlwydBrowser:
    """Signs in through the API, as the script of Glewlwyd's sign-in page does."""

    def __init__(self, provider: Glewlwyd) -> None:
        self._provider = provider
        # The user's session, of the last sign-in.
        self.session: Session

    def sign_in(self, authorize_url: str, login: str, redirect_uri: str) -> dict[str, str]:
        self.session = Session(self._provider.url, login)
        location = self.session.authorize(authorize_url)
        assert location.startswith(redirect_uri), location
        return query_of(location)


@contextmanager
def running_glewlwyd(folder: Path, redirect_uri: str) -> Iterator[Glewlwyd]:
    program = shutil.which("glewlwyd")
    if program is None or not SCHEMA.exists():
        raise CannotRun("glewlwyd is not installed")
    port, database, config = free_port(), folder / "glewlwyd.db", folder / "glewlwyd.conf"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(SCHEMA.read_text())
    config.write_text(CONFIG.format(port=port, modules=MODULES, database=database))
    with (folder / "glewlwyd.log").open("w") as log:
        process = subprocess.Popen(
            [program, "--config-file", str(config)], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            wait_for_port(port)
            provider = Glewlwyd(f"http://127.0.0.1:{port}")
            provider.set_up(redirect_uri)
            yield provider
        finally:
            process.terminate()
            process.wait(timeout=10)


def plugin(issuer: str) -> dict[str, Any]:
    key = RSAKey.generate_key(2048, {"kid": "glewlwyd", "alg": "RS256"})
    parameters = {
        "iss": issuer,
        "jwt-type": "rsa",
        "jwt-key-size": "256",
        "jwks-private": json.dumps({"keys": [key.as_dict(private=True)]}),
        "jwks-show": True,
        "access-token-duration": 3600,
        "refresh-token-duration": 3600,
        "code-duration": 600,
        "auth-type-code-enabled": True,
        "subject-type": "public",
        "pkce-allowed": True,
        "pkce-required": True,
        "session-management-allowed": True,
        "back-channel-logout-allowed": True,
        "session-cookie-name": "GLEWLWYD2_OIDC_SID",
        "session-cookie-expiration": 3600,
        "name-claim": "mandatory",
        "email-claim": "mandatory",
        "claims": [
            {
                "name": "email_verified",
                "user-property": "verified",
                "type": "boolean",
                "boolean-value-true": "1",
                "boolean-value-false": "0",
                "mandatory": True,
            },
            {"name": "groups", "user-property": "groups", "type": "string", "mandatory": True},
        ],
    }
    return {
        "module": "oidc",
        "name": "oidc",
        "display_name": "OpenID Connect",
        "order_rank": 0,
        "parameters": parameters,
    }


def client(name: str, method: str, redirect_uri: str) -> dict[str, Any]:
    return {
        "client_id": name,
        "password": CLIENT_SECRET,
        "confidential": True,
        "enabled": True,
        "scope": [],
        "redirect_uri": [redirect_uri],
        "authorization_type": ["code"],
        "token_endpoint_auth_method": [method],
    }


def user(name: str) -> dict[str, Any]:
    return {
        "username": name,
        "password": PASSWORD,
        "name": f"Person {name}",
        "email": f"{name}@example.com",
        "verified": "1",
        "enabled": True,
        "scope": ["openid", "g_profile"],
    }
