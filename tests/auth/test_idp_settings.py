"""Settings for identity-provider sign-in, and the errors when they are missing."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.core.config.environment import SettingsError
from app.core.errors import SetupError
from app.testing.client import Api

from ..rigs.oidc.node import CLIENT_SECRET
from ..rigs.oidc.proxy import Proxy
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor

MakeApp = Callable[..., Flask]


@pytest.mark.parametrize("name", ["IDP_METADATA_URL", "IDP_OAUTH_CLIENT_ID"])
def test_required_setting_is_named(make_idp_app: MakeApp, name: str) -> None:
    with pytest.raises(SettingsError, match=f"ENABLE_IDP_OAUTH is on, so {name} must be set"):
        make_idp_app(**{name: ""})


def test_namespaced_settings_work(make_app: MakeApp, proxy: Proxy) -> None:
    app = make_app(
        AUTH__ENABLE_IDP_OAUTH="true",
        AUTH__IDP_METADATA_URL=proxy.metadata_url,
        AUTH__IDP_ISSUER=proxy.issuer,
        AUTH__IDP_OAUTH_CLIENT_ID="frontdesk",
        AUTH__IDP_OAUTH_CLIENT_SECRET=CLIENT_SECRET,
        AUTH__IDP_REDIRECT_URI=REDIRECT_URI,
    )
    assert Visitor(Api(app)).sign_in("zoe", 400).json["code"] == "no_account"


def test_cookie_of_a_sign_in_is_signed_with_sha_256(make_idp_app: MakeApp) -> None:
    cookie = Api(make_idp_app()).get("/idp/login", 302).headers["Set-Cookie"].partition(";")[0]
    signature = cookie.rpartition(".")[2]
    assert len(base64.urlsafe_b64decode(signature + "=")) == 32


def test_application_with_flat_settings(make_idp_host: MakeApp) -> None:
    visitor = Visitor(Api(make_idp_host(ALLOW_IDP_OAUTH_SIGNUP=False)))
    assert visitor.sign_in("zoe", 400).json["code"] == "no_account"


def test_application_without_secret_key_raises_at_registration(make_idp_host: MakeApp) -> None:
    with pytest.raises(SetupError, match=r"needs app\.config\['SECRET_KEY'\]"):
        make_idp_host(secret_key=None)
    make_idp_host(secret_key=None, ENABLE_IDP_OAUTH=False)


def test_applications_session_cookie_is_lax_by_default(
    make_idp_host: MakeApp, caplog: pytest.LogCaptureFixture
) -> None:
    host = make_idp_host()
    assert "SESSION_COOKIE_SECURE is off" in caplog.text
    cookie = Api(host).get("/idp/login", 302).headers["Set-Cookie"]
    assert cookie.startswith("session=")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    host.config["SESSION_COOKIE_SAMESITE"] = "Strict"
    assert "SameSite=Strict" in Api(host).get("/idp/login", 302).headers["Set-Cookie"]


def test_applications_session_data_is_kept(make_idp_host: MakeApp) -> None:
    visitor = Visitor(Api(make_idp_host()))
    with visitor.api.client.session_transaction() as session:
        session["cart"] = 3
    visitor.sign_in("zoe", 500)
    with visitor.api.client.session_transaction() as session:
        assert dict(session) == {"cart": 3}


def test_missing_authlib_names_the_package_to_install(
    make_idp_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "authlib", None)
    with pytest.raises(SettingsError, match=r"pip install 'flask-frontdesk\[idp\]'"):
        make_idp_app()


def doctor(app: Flask) -> list[tuple[str, str]]:
    output = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"]).output
    found = json.loads(output.splitlines()[-1])["findings"]
    return [
        (finding["level"], finding["message"]) for finding in found if finding["check"] == "idp"
    ]


def test_doctor_checks_the_provider(make_idp_app: MakeApp, proxy: Proxy) -> None:
    app = make_idp_app()
    assert doctor(app) == []
    proxy.down()
    assert doctor(make_idp_app()) == [
        (
            "fault",
            f"The identity provider at {urlsplit(proxy.metadata_url).netloc} cannot be used:"
            " ConnectionError. Check that the provider runs, and check IDP_METADATA_URL.",
        )
    ]


def test_document_of_another_provider_is_rejected_and_named(
    make_idp_app: MakeApp, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    configured = "https://accounts.example.com"
    app = make_idp_app(IDP_ISSUER=configured)
    answer = Api(app).get("/idp/login", 502, query_string={"redirect_uri": REDIRECT_URI})
    assert answer.json["code"] == "provider_unavailable"
    reason = f"is '{proxy.issuer}', and not '{configured}'."
    assert f"{reason} If it is the issuer of your provider, set IDP_ISSUER to it" in (
        capsys.readouterr().err
    )
    [(level, text)] = doctor(app)
    assert (level, reason in text, "IDP_ISSUER" in text) == ("fault", True, True)
    # By default, the document must name the address at which it is.
    [(_, text)] = doctor(make_idp_app(IDP_ISSUER=""))
    assert f"is '{proxy.issuer}', and not '{proxy.url}'." in text


def test_trailing_slash_of_the_issuer_is_ignored(make_idp_app: MakeApp, proxy: Proxy) -> None:
    visitor = Visitor(Api(make_idp_app(IDP_ISSUER=f"{proxy.issuer}/")))
    assert visitor.sign_in("zoe", 400).json["code"] == "no_account"
    for issuer in (f"{proxy.issuer}//", f"{proxy.issuer}/x", proxy.issuer[:-1]):
        Api(make_idp_app(IDP_ISSUER=issuer)).get("/idp/login", 502)


def test_doctor_warns_about_a_provider_without_tls(make_idp_app: MakeApp) -> None:
    plain = make_idp_app(IDP_METADATA_URL="http://provider.invalid/")
    assert [level for level, _ in doctor(plain)] == ["warning", "fault"]
