"""Client IP addresses in an application behind a proxy."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, request
from werkzeug.middleware.proxy_fix import ProxyFix

from app import CoreSettings, Frontdesk, SetupError
from app.accounts.account import Account
from app.blueprints import auth
from app.testing.client import Api

from ..rigs.hosts import HostSettings, plain_app

LINE = "app.wsgi_app = ProxyFix(app.wsgi_app, x_for=2, x_proto=2)"


def host_with(settings: object | None = None, **config: Any) -> Flask:
    host, db = plain_app(SECRET_KEY="a key of the application, long enough for it", **config)
    Frontdesk().init_app(host, db, settings=settings, account_model=Account)
    host.register_blueprint(auth, url_prefix="/api")
    with host.app_context():
        db.create_all()
    return host


class TwoProxies(HostSettings):
    CORE = CoreSettings(TRUSTED_PROXIES=2)


@pytest.mark.parametrize(
    ("variable", "settings", "config"),
    [
        ("FRONTDESK_CORE__TRUSTED_PROXIES", None, {}),
        ("CORE__TRUSTED_PROXIES", None, {}),
        ("", TwoProxies(), {}),
        ("", None, {"FRONTDESK": {"CORE": {"TRUSTED_PROXIES": 2}}}),
    ],
)
def test_service_setting_is_rejected_with_the_line_to_add(
    variable: str, settings: object | None, config: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setenv(variable, "2")
    with pytest.raises(SetupError) as rejected:
        host_with(settings, **config)
    assert "CORE__TRUSTED_PROXIES" in str(rejected.value)
    assert LINE in str(rejected.value)


def test_rate_limits_count_the_clients_ip_address_with_that_line() -> None:
    app = host_with(HostSettings())
    exec(f"from werkzeug.middleware.proxy_fix import ProxyFix; {LINE}", {"app": app})
    assert isinstance(app.wsgi_app, ProxyFix)
    seen = []
    app.before_request(lambda: seen.append(request.remote_addr))

    def login(client: str, status: int) -> None:
        headers = {"X-Forwarded-For": f"{client}, 10.0.0.1"}
        form = {"username": "unknown@example.com", "password": "wrong password"}
        Api(app, "/api").post("/login", status, data=form, headers=headers)

    for _ in range(5):
        login("203.0.113.1", 400)
    login("203.0.113.1", 429)
    login("203.0.113.2", 400)
    assert set(seen) == {"203.0.113.1", "203.0.113.2"}
