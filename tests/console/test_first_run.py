"""The first start of Frontdesk: the root account, the welcome page and the outbox."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.accounts.service import Accounts
from app.console.first_run.first_root import FirstRoot
from app.console.first_run.startup import log_missing_root
from app.core.context import current_frontdesk, service
from app.delivery.mail.base import Mailer
from app.delivery.mail.mailer import FolderMailer
from app.delivery.message import Email
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import PASSWORD, MakeApp, MakePerson
from ..rigs.cookie_browsers import HOST, NAME, SAME_ORIGIN
from .page_reader import visible_text

PUBLIC = "https://desk.example.com"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(CORE__PUBLIC_URL=PUBLIC)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def link_of(app: Flask) -> str:
    with app.app_context():
        return FirstRoot(current_frontdesk).link()


def token_of(app: Flask) -> str:
    return link_of(app).partition("token=")[2]


def sent(client: FlaskClient, **form: str) -> TestResponse:
    form = {"email": "ada@example.com", "password": PASSWORD, **form}
    return client.post("/first-root", data=form, base_url=HOST, headers=SAME_ORIGIN)


def roles(app: Flask) -> dict[str, str]:
    with app.app_context():
        return {each.email: each.role for each in service(Accounts).all()}


class TestFirstRoot:
    def test_link_creates_the_account_and_signs_in(self, app: Flask, client: FlaskClient) -> None:
        link = link_of(app)
        assert link.startswith(f"{PUBLIC}/first-root?token=")
        page = client.get(link.removeprefix(PUBLIC), base_url=HOST)
        assert page.status_code == 200
        assert 'action="/first-root"' in page.text
        answer = sent(client, token=token_of(app))
        assert (answer.status_code, answer.headers["Location"]) == (303, "/admin")
        page = client.get("/admin", base_url=HOST)
        assert "of 5 steps are done." in visible_text(page.text)
        assert client.get_cookie(NAME, "localhost", "/") is not None
        assert roles(app) == {"ada@example.com": "root"}
        Api(app).post("/login", data={"username": "ada@example.com", "password": PASSWORD})

    def test_link_creates_one_account(self, app: Flask, client: FlaskClient) -> None:
        token = token_of(app)
        assert sent(client, token=token).status_code == 303
        again = sent(app.test_client(), token=token, email="eve@example.com")
        assert again.status_code == 409
        assert "A root account already exists" in again.text
        assert client.get(f"/first-root?token={token}", base_url=HOST).status_code == 409
        assert roles(app) == {"ada@example.com": "root"}

    @pytest.mark.parametrize("password", ["password", "ada@example.com", "short", "ada12345"])
    def test_password_follows_the_rules(
        self, app: Flask, client: FlaskClient, password: str
    ) -> None:
        refused = sent(client, token=token_of(app), password=password)
        assert refused.status_code == 422
        assert roles(app) == {}
        assert sent(client, token=token_of(app)).status_code == 303

    def test_invalid_or_expired_link_is_rejected(
        self, app: Flask, client: FlaskClient, clock: SteppingClock
    ) -> None:
        token = token_of(app)
        for wrong in ("", "x", token[:-1], f"{token}x"):
            refused = sent(client, token=wrong)
            assert 400 <= refused.status_code < 500
            link = f"/first-root?token={wrong}"
            shown = client.get(link, base_url=HOST, follow_redirects=True)
            assert shown.status_code == 400
        clock.step(hours=25)
        late = sent(client, token=token)
        assert late.status_code == 400
        assert "frontdesk first-root" in late.text
        assert roles(app) == {}

    def test_token_of_another_service_is_rejected(
        self, make_app: MakeApp, app: Flask, client: FlaskClient
    ) -> None:
        other = make_app(SECRET_KEY="another secret key, which is as long as the first one is")
        assert sent(client, token=token_of(other)).status_code == 400
        assert sent(client, token=token_of(make_app())).status_code == 303

    def test_cross_site_form_is_rejected(self, app: Flask, client: FlaskClient) -> None:
        form = {"email": "a@example.com", "password": PASSWORD, "token": token_of(app)}
        headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
        refused = client.post("/first-root", data=form, base_url=HOST, headers=headers)
        assert refused.status_code == 403
        assert roles(app) == {}

    def test_form_shows_its_errors(self, app: Flask, client: FlaskClient) -> None:
        refused = sent(client, token=token_of(app), password="short", email="ada@example.com")
        assert refused.status_code == 422
        assert 'value="ada@example.com"' in refused.text
        assert "short" not in refused.text
        assert sent(client, token=token_of(app), email="invalid").status_code == 422
        assert roles(app) == {}
        # The rejected form does not block the next one.
        assert sent(client, token=token_of(app)).status_code == 303

    def test_required_second_factor_is_set_up_at_the_first_sign_in(self, make_app: MakeApp) -> None:
        app = make_app(AUTH__MFA="required")
        answer = sent(app.test_client(), token=token_of(app))
        assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?next=/admin")
        assert roles(app) == {"ada@example.com": "root"}


class TestStartupWarning:
    @pytest.fixture(autouse=True)
    def _level(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "app.console.first_run.startup")

    def test_missing_root_is_logged_once(
        self, app: Flask, person: MakePerson, caplog: pytest.LogCaptureFixture
    ) -> None:
        person("grace", role="admin")
        log_missing_root(app)
        log_missing_root(app)
        (said,) = caplog.messages
        assert said.startswith("No account has the role root. Run `flask")
        assert "first-root`" in said

    def test_link_is_printed_once_to_a_terminal_and_never_logged(
        self,
        app: Flask,
        clock: SteppingClock,
        caplog: pytest.LogCaptureFixture,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        log_missing_root(app)
        assert "token=" not in capsys.readouterr().err
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        with app.app_context():
            current_frontdesk.keystore.drop("first-root-logged")
        log_missing_root(app)
        printed = capsys.readouterr().err
        path = printed.partition(PUBLIC)[2].split()[0]
        assert app.test_client().get(path, base_url=HOST).status_code == 200
        with app.app_context():
            current_frontdesk.keystore.drop("first-root-logged")
        log_missing_root(app)
        assert "token=" not in capsys.readouterr().err
        assert len(caplog.messages) == 3
        assert not [line for line in caplog.messages if "token" in line]

    def test_existing_root_is_not_logged(
        self, app: Flask, person: MakePerson, caplog: pytest.LogCaptureFixture
    ) -> None:
        person("boss", role="root")
        log_missing_root(app)
        assert caplog.messages == []

    @pytest.fixture
    def unmigrated(self, make_app: MakeApp, tmp_path: Path) -> Flask:
        return make_app(CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'empty.db'}")

    def test_missing_database_does_not_stop_the_server(
        self, unmigrated: Flask, caplog: pytest.LogCaptureFixture
    ) -> None:
        log_missing_root(unmigrated)
        assert caplog.messages == ["Cannot check for a root account: OperationalError"]


class TestCommand:
    def test_prints_the_link(self, app: Flask, person: MakePerson) -> None:
        result = app.test_cli_runner().invoke(args=["frontdesk", "first-root"])
        assert result.exit_code == 0
        link = result.output.strip().splitlines()[-1]
        answer = sent(app.test_client(), token=link.partition("token=")[2])
        assert answer.status_code == 303
        again = app.test_cli_runner().invoke(args=["frontdesk", "first-root"])
        assert again.exit_code == 1
        assert "A root account already exists" in again.output

    def test_command_fails_without_the_console(self, make_app: MakeApp) -> None:
        app = make_app(CORE__CONSOLE_ENABLED="false")
        result = app.test_cli_runner().invoke(args=["frontdesk", "first-root"])
        assert result.exit_code == 1
        assert "The console is not mounted" in result.output


class TestWelcomePage:
    LOCAL = "http://localhost:5000"

    def test_is_shown_only_in_debug_mode_on_this_machine(
        self, app: Flask, client: FlaskClient
    ) -> None:
        assert client.get("/", base_url=self.LOCAL).status_code == 303
        app.debug = True
        page = client.get("/", base_url=self.LOCAL)
        assert page.status_code == 200
        assert 'href="/api/v1/docs"' in page.text
        assert client.get("/", base_url="http://desk.example.com").status_code == 303

    def test_links_to_the_form_of_the_first_root(self, app: Flask, client: FlaskClient) -> None:
        app.debug = True
        page = client.get("/", base_url=self.LOCAL).text
        link = re.search(r'href="/first-root\?token=([^"]+)"', page)
        assert link
        assert 'href="/sign-in"' not in page
        assert sent(client, token=link[1]).status_code == 303

    def test_links_to_sign_in_and_sign_up_while_registration_is_open(
        self, make_app: MakeApp
    ) -> None:
        app = make_app(CORE__PUBLIC_URL=PUBLIC, AUTH__REGISTRATION="open")
        app.debug = True
        page = app.test_client().get("/", base_url=self.LOCAL).text
        assert all(f'href="{path}' in page for path in ("/sign-in", "/register", "/first-root"))

    @pytest.mark.parametrize("name", ["root", "other"])
    def test_names_the_root_account_of_the_settings_if_it_exists(
        self, app: Flask, client: FlaskClient, person: MakePerson, name: str
    ) -> None:
        person(name, role="root")
        app.debug = True
        page = client.get("/", base_url=self.LOCAL).text
        assert 'href="/sign-in"' in page
        assert "/first-root" not in page
        assert ("As root@example.com." in page) is (name == "root")


HTML = '<p style="color: red">Hello</p><script>alert(1)</script><a href="https://a.example/x">a</a>'


class TestOutbox:
    LOCAL = "http://localhost:5000"

    @pytest.fixture
    def folder(self, app: Flask, tmp_path: Path) -> Path:
        app.debug = True
        mailer = app.extensions["frontdesk"].services[Mailer]
        assert isinstance(mailer, FolderMailer)
        mailer.folder = tmp_path / "outbox"
        return mailer.folder

    @pytest.fixture
    def name(self, app: Flask, folder: Path, clock: SteppingClock) -> str:
        mailer = app.extensions["frontdesk"].services[Mailer]
        text = "Hello\nhttps://a.example/x?token=1 <b>\n"
        email = Email("ada@example.com", "A <word> for Ada", text, HTML)
        with mailer.open() as connection:
            connection.send(mailer.writer.write(email, clock.now()))
        (written,) = folder.glob("*.eml")
        return written.name

    def ask(self, client: FlaskClient, path: str, **more: Any) -> TestResponse:
        return client.get(path, **{"base_url": self.LOCAL, **more})

    def test_emails_are_listed_and_shown(self, client: FlaskClient, name: str) -> None:
        listed = self.ask(client, "/outbox")
        assert "A &lt;word&gt; for Ada" in listed.text
        assert f'href="/outbox/{name}"' in listed.text
        shown = self.ask(client, f"/outbox/{name}")
        assert 'href="https://a.example/x?token=1"' in shown.text
        assert "&lt;b&gt;" in shown.text
        assert f'<iframe src="/outbox/{name}/html" sandbox' in shown.text
        assert "frame-src 'self'" in shown.headers["Content-Security-Policy"].split("; ")

    def test_html_of_an_email_is_sandboxed(self, client: FlaskClient, name: str) -> None:
        html = self.ask(client, f"/outbox/{name}/html")
        assert html.text.strip() == HTML
        policy = html.headers.getlist("Content-Security-Policy")
        assert len(policy) == 1
        said = policy[0].split("; ")
        assert {"default-src 'none'", "sandbox", "frame-ancestors 'self'"} <= set(said)
        assert not any("script" in each or "connect" in each for each in said)
        assert html.headers.getlist("X-Frame-Options") == ["SAMEORIGIN"]

    def test_empty_folder_shows_a_hint(self, client: FlaskClient, folder: Path) -> None:
        assert "No emails yet" in self.ask(client, "/outbox").text

    def test_many_emails_have_pages(self, client: FlaskClient, folder: Path) -> None:
        folder.mkdir()
        for n in range(60):
            path = folder / f"20300101T000000.{n:06d}-0123abcd.eml"
            path.write_text(f"To: ada@example.com\nSubject: Mail {n}\n\nHello\n")
        first = self.ask(client, "/outbox").text
        assert re.findall(r">Mail (\d+)<", first) == [str(n) for n in range(59, 34, -1)]
        last = self.ask(client, "/outbox?from=50").text
        assert re.findall(r">Mail (\d+)<", last) == [str(n) for n in range(9, -1, -1)]
        assert self.ask(client, "/outbox?from=-5").status_code == 200

    @pytest.mark.parametrize(
        "request_of",
        [
            {"base_url": "http://desk.example.com"},
            {"environ_overrides": {"REMOTE_ADDR": "192.0.2.7"}},
            {"headers": {"X-Forwarded-For": "192.0.2.7"}},
            {"headers": {"Forwarded": "for=192.0.2.7"}},
        ],
    )
    def test_emails_are_only_for_local_requests(
        self, client: FlaskClient, name: str, request_of: dict[str, Any]
    ) -> None:
        for path in ("/outbox", f"/outbox/{name}", f"/outbox/{name}/html"):
            assert self.ask(client, path).status_code == 200
            assert self.ask(client, path, **request_of).status_code == 404

    def test_emails_are_not_found_without_debug_mode(
        self, app: Flask, client: FlaskClient, name: str
    ) -> None:
        app.debug = False
        for path in ("/outbox", f"/outbox/{name}", f"/outbox/{name}/html"):
            assert self.ask(client, path).status_code == 404

    def test_other_files_are_not_found(self, client: FlaskClient, folder: Path, name: str) -> None:
        (folder.parent / "secret.eml").write_text("To: a\n\n")
        (folder / "note.eml").write_text("To: a\n\n")
        for other in ("..%2fsecret.eml", "note.eml", name.replace("T", "t"), f"{name}%00", "x"):
            assert self.ask(client, f"/outbox/{other}").status_code == 404
        absent = "20300101T000000.000000-0123abcd.eml"
        assert self.ask(client, f"/outbox/{absent}").status_code == 404
