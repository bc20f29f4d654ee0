"""Back-channel logout: the identity provider's server ends sessions with a signed logout token."""

from __future__ import annotations

import hmac
import json
import threading
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from sqlalchemy import select
from werkzeug.serving import make_server

from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk
from app.core.keystore import KeystoreUnavailable
from app.testing.client import Answer, Api

from ..conftest import MakePerson, Person
from ..rigs.cases import for_each, new_name
from ..rigs.oidc.browser import Browser
from ..rigs.oidc.campus import ADA, EVENT, Campus
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import SECRET, GitHub, Google, running
from ..rigs.oidc.glewlwyd import Glewlwyd, GlewlwydBrowser
from ..rigs.oidc.node import CLIENT_SECRET, Provider
from ..rigs.oidc.proxy import Proxy
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor
from ..rigs.processes import within
from .test_idp_sign_out import links, sign_in

PATH = "/idp/campus/backchannel-logout"


@pytest.fixture
def campus_app(make_providers_app: MakeProvidersApp, campus: Campus) -> Flask:
    return make_providers_app(campus=campus.settings, AUTH__SESSIONS="on")


@pytest.fixture
def ada(campus_app: Flask, person: MakePerson) -> Person:
    return person("ada", into=campus_app)


def send(app: Flask, token: str, status: int = 200, path: str = PATH) -> Answer:
    return Api(app).post(path, status, data={"logout_token": token})


def is_in(api: Api) -> bool:
    return (
        api.client.get(
            "/api/v1/account", headers={"Authorization": f"Bearer {api.token}"}
        ).status_code
        == 200
    )


def test_subject_is_signed_out(campus_app: Flask, campus: Campus, ada: Person) -> None:
    laptop, phone = sign_in(campus_app, campus, sid="one"), sign_in(campus_app, campus)
    by_password = ada.api()
    answer = send(campus_app, campus.logout_token(sub=ADA["sub"]))
    assert answer.headers["Cache-Control"] == "no-store"
    assert (is_in(laptop), is_in(phone), is_in(by_password)) == (False, False, True)
    assert not links(campus_app)
    # The user can sign in again at once.
    assert is_in(sign_in(campus_app, campus))


@for_each("claims", [{"sid": "two"}, {"sid": "two", "sub": ADA["sub"]}])
def test_only_the_session_with_the_sid_ends(
    campus_app: Flask, campus: Campus, ada: Person, claims: dict[str, Any]
) -> None:
    first, second = sign_in(campus_app, campus, sid="one"), sign_in(campus_app, campus, sid="two")
    send(campus_app, campus.logout_token(**claims))
    assert (is_in(first), is_in(second)) == (True, False)
    assert "two" not in [link.sid for link in links(campus_app)]


@for_each(
    "claims",
    [{"sub": "unknown"}, {"sid": "unknown"}, {"sub": "unknown", "sid": "one"}]
    + [{"sub": ADA["sub"], "sid": "unknown"}],
)
def test_nothing_matches(
    campus_app: Flask, campus: Campus, ada: Person, claims: dict[str, Any]
) -> None:
    api = sign_in(campus_app, campus, sid="one")
    send(campus_app, campus.logout_token(**claims))
    assert is_in(api)


def test_end_is_audited(campus_app: Flask, campus: Campus, ada: Person) -> None:
    sign_in(campus_app, campus)
    send(campus_app, campus.logout_token(sub=ADA["sub"]))
    with campus_app.app_context():
        of_type = select(AuditEntry).where(AuditEntry.type == "session.ended")
        [entry] = current_frontdesk.session.scalars(of_type)
    assert (entry.account_id, entry.actor_id, entry.data) == (ada.id, None, {"reason": "provider"})


def test_accepted_variants(campus_app: Flask, campus: Campus, ada: Person) -> None:
    for header in ({"typ": None}, {"typ": "Logout+JWT"}, {"typ": "LOGOUT+JWT"}, {"typ": "JWT"}):
        api = sign_in(campus_app, campus)
        send(campus_app, campus.logout_token(header, sub=ADA["sub"], aud=["x", "frontdesk"]))
        assert not is_in(api)
    # A provider's server sends no Origin; one that another site sends does not matter.
    form = {"logout_token": campus.logout_token(sub=ADA["sub"]), "more": "ignored"}
    site = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    Api(campus_app).post(PATH, data=form, headers=site)


def unsigned(campus: Campus) -> str:
    token = campus.logout_token(sub=ADA["sub"])
    header = urlsafe_b64encode(b'{"alg":"none","typ":"logout+jwt"}').rstrip(b"=").decode()
    return f"{header}.{token.split('.')[1]}."


def signed_with(key: Any, algorithm: str, campus: Campus, **changes: Any) -> str:
    kid = changes.pop("kid", "1")
    header = {"alg": algorithm, "kid": kid}
    return campus.logout_token(header, key, sub=ADA["sub"], **changes)


def signed_with_the_public_key(campus: Campus) -> str:
    header = urlsafe_b64encode(b'{"alg":"HS256","kid":"1","typ":"logout+jwt"}').rstrip(b"=")
    signed = header + b"." + campus.logout_token(sub=ADA["sub"]).split(".")[1].encode()
    digest = hmac.digest(campus._key.as_pem(private=False), signed, "sha256")
    return f"{signed.decode()}.{urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def id_token(campus: Campus) -> str:
    now = int(time.time())
    claims = {"iss": campus.issuer, "aud": "frontdesk", "iat": now, "exp": now + 600, **ADA}
    return jwt.encode({"alg": "RS256", "kid": "1"}, claims, campus._key)


def of(**changes: Any) -> Callable[[Campus], str]:
    return lambda campus: campus.logout_token(**{"sub": ADA["sub"], **changes})


OTHER_KEY = RSAKey.generate_key(2048, {"kid": "1"})
HOSTILE: dict[str, Callable[[Campus], str]] = {
    "nothing": lambda campus: "",
    "no token": lambda campus: "x.y.z",
    "unsigned": unsigned,
    "another key": lambda campus: signed_with(OTHER_KEY, "RS256", campus),
    "unknown key": lambda campus: signed_with(OTHER_KEY, "RS256", campus, kid="2"),
    "the client secret": lambda campus: signed_with(
        OctKey.import_key(SECRET.encode()), "HS256", campus
    ),
    "the public key as a secret": signed_with_the_public_key,
    "changed": lambda campus: of()(campus)[:-8] + "AAAAAAAA",
    "another typ": lambda campus: campus.logout_token({"typ": "at+jwt"}, sub=ADA["sub"]),
    "another issuer": of(iss="https://evil.example"),
    "no issuer": of(iss=None),
    "another audience": of(aud="other"),
    "audience of others": of(aud=["other", "another"]),
    "no audience": of(aud=None),
    "old": lambda campus: of(iat=int(time.time()) - 400)(campus),
    "of the future": lambda campus: of(iat=int(time.time()) + 400)(campus),
    "iat as a text": lambda campus: of(iat=str(int(time.time())))(campus),
    "no iat": of(iat=None),
    "expired": lambda campus: of(exp=int(time.time()) - 60)(campus),
    "exp that is no time": of(exp="tomorrow"),
    "nonce": of(nonce="n"),
    "empty nonce": of(nonce=""),
    "no events": of(events=None),
    "other events": of(events={"https://schemas.openid.net/event/other": {}}),
    "event is no object": of(events={EVENT: True}),
    "events as a list": of(events=[EVENT]),
    "no jti": of(jti=None),
    "jti as a number": of(jti=1),
    "neither sub nor sid": of(sub=None),
    "empty sub": of(sub=""),
    "sub as a number": of(sub=1, sid="one"),
    "sid as a list": of(sid=["one"]),
    "NUL in sub": of(sub="1\x00"),
    "ID token": id_token,
}


@for_each("case", HOSTILE)
def test_invalid_token_ends_nothing(
    campus_app: Flask, campus: Campus, ada: Person, case: str
) -> None:
    api = sign_in(campus_app, campus, sid="one")
    answer = send(campus_app, HOSTILE[case](campus), 400)
    assert (answer.json["code"], answer.json["error"]) == ("invalid_request", "invalid_request")
    assert answer.headers["Cache-Control"] == "no-store"
    assert is_in(api)


def test_token_is_single_use(campus_app: Flask, campus: Campus, ada: Person) -> None:
    token = campus.logout_token(sub=ADA["sub"])
    send(campus_app, token)
    api = sign_in(campus_app, campus)
    assert send(campus_app, token, 400).json["code"] == "invalid_request"
    # Another token with the same id is the same.
    jti = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))["jti"]
    send(campus_app, campus.logout_token(sub=ADA["sub"], jti=jti), 400)
    assert is_in(api)


def test_token_of_another_provider(
    make_providers_app: MakeProvidersApp, campus: Campus, person: MakePerson, google: Google
) -> None:
    other = Campus()
    with running(other):
        other.issuer = other.url
        app = make_providers_app(
            campus=campus.settings,
            other=other.settings,
            google=client_of("google"),
            AUTH__SESSIONS="on",
        )
        person("ada", into=app)
        api = sign_in(app, campus, sid="one")
        # Its subjects and sessions can have the same ids.
        for claims in ({"sub": ADA["sub"]}, {"sid": "one"}):
            send(app, other.logout_token(**claims), 400)
            send(app, other.logout_token(iss=campus.issuer, **claims), 400)
            send(app, other.logout_token(**claims), path="/idp/other/backchannel-logout")
            send(app, campus.logout_token(**claims), 400, "/idp/google/backchannel-logout")
        assert is_in(api)


def test_form_is_checked(
    campus_app: Flask, make_providers_app: MakeProvidersApp, campus: Campus, github: GitHub
) -> None:
    api, token = Api(campus_app), campus.logout_token(sub="1")
    for form in ({}, {"token": token}, {"logout_token": "\x00"}):
        assert api.post(PATH, 400, data=form).json["code"] == "invalid_request"
    assert api.post(PATH, 400, data={"logout_token": [token, token]}).json["error"]
    api.post(PATH, 413, data={"logout_token": token, "more": "x" * 16 * 1024})
    api.post(PATH, 415, json={"logout_token": token})
    api.get(PATH, 405)
    answer = send(campus_app, token, 404, "/idp/unknown/backchannel-logout")
    assert answer.json["code"] == "provider_not_found"
    # GitHub has no OpenID Connect.
    app = make_providers_app(github=client_of("github"))
    send(app, token, 400, "/idp/github/backchannel-logout")


def test_state_store_is_unavailable(
    campus_app: Flask, campus: Campus, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, token = sign_in(campus_app, campus), campus.logout_token(sub=ADA["sub"])
    with campus_app.app_context():
        keystore = current_frontdesk.keystore
    with monkeypatch.context() as patch:
        patch.setattr(keystore, "add", fail)
        assert send(campus_app, token, 503).json["code"] == "keystore_unavailable"
    assert is_in(api)
    # The provider can send the token again.
    send(campus_app, token)
    assert not is_in(api)


def fail(*args: object) -> None:
    raise KeystoreUnavailable


def test_provider_is_unavailable(make_providers_app: MakeProvidersApp, campus: Campus) -> None:
    app = make_providers_app(campus={**campus.settings, "metadata_url": "http://127.0.0.1:1/x"})
    token = campus.logout_token(sub=ADA["sub"])
    assert send(app, token, 502).json["code"] == "provider_unavailable"


def test_unknown_keys_are_fetched_once_a_minute(
    campus_app: Flask, campus: Campus, ada: Person
) -> None:
    api = sign_in(campus_app, campus)
    campus._key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})
    send(campus_app, campus.logout_token(sub=ADA["sub"]))
    assert not is_in(api)
    fetched = campus.requests.count("/keys")
    for _ in range(20):
        send(campus_app, signed_with(OTHER_KEY, "RS256", campus, kid="2"), 400)
    assert campus.requests.count("/keys") == fetched


def test_without_sessions_access_tokens_are_revoked(
    make_providers_app: MakeProvidersApp, campus: Campus, person: MakePerson
) -> None:
    app = make_providers_app(campus=campus.settings, AUTH__PERSONAL_TOKENS="on")
    ada, bob = person("ada", into=app), person("bob", into=app)
    api, other = sign_in(app, campus), bob.api()
    program = api.post("/personal-tokens", 201, json={"name": "ci", "scopes": ["account:read"]})
    # Nothing names the user of the session.
    send(app, campus.logout_token(sid="one"))
    assert is_in(api)
    send(app, campus.logout_token(sub=ADA["sub"], sid="one"))
    assert (is_in(api), is_in(other)) == (False, True)
    assert is_in(Api(app, token=program.json["token"]))
    api = sign_in(app, campus)
    send(app, campus.logout_token(sub=ADA["sub"]))
    assert not is_in(api)
    assert ada.api().get("/account").json["id"] == ada.id


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serve the API on loopback, for the provider's server."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/api/v1"
    finally:
        server.shutdown()
        server.server_close()


@for_each("sessions", ["on", "off"])
def test_sign_out_by_a_real_provider(
    make_idp_app: Callable[..., Flask],
    provider: Provider,
    proxy: Proxy,
    person: MakePerson,
    sessions: str,
) -> None:
    app, name = make_idp_app(AUTH__SESSIONS=sessions), new_name("ada")
    person(name, into=app)
    here, elsewhere = Browser(), Browser()

    def sign_in(browser: Browser) -> Api:
        answer = Visitor(Api(app), browser).sign_in(name)
        return Api(app, token=answer.json["access_token"])

    with serving(app) as url:
        provider.change(logoutUri=f"{url}/idp/default/backchannel-logout")
        laptop, tablet, phone = sign_in(here), sign_in(here), sign_in(elsewhere)
        # The user signs out at the provider, in one browser.
        here.sign_out(f"{proxy.url}/session/end")
    assert (is_in(laptop), is_in(tablet)) == (False, False)
    # Without sessions, it is unknown which tokens belong to the browser.
    assert is_in(phone) == (sessions == "on")


def test_sign_out_by_another_real_provider(
    make_providers_app: MakeProvidersApp, glewlwyd: Glewlwyd, person: MakePerson
) -> None:
    client = {"client_id": "by-post", "client_secret": CLIENT_SECRET}
    campus = {"kind": "oidc", "metadata_url": glewlwyd.metadata_url, **client}
    app = make_providers_app(campus=campus, AUTH__SESSIONS="on")
    by_password = person("ada", into=app).api()
    guest, browser = Guest(app, "campus"), GlewlwydBrowser(glewlwyd)
    with serving(app) as url:
        glewlwyd.set_logout_uri("by-post", REDIRECT_URI, f"{url}{PATH}")
        answer = guest.finish(browser.sign_in(guest.begin(), "ada", REDIRECT_URI))
        through_provider = Api(app, token=answer.json["access_token"])
        assert is_in(through_provider)
        browser.session.end_session(str(links(app)[0].sid))
        within(10, lambda: not is_in(through_provider))
    assert is_in(by_password)
