"""Previews of emails, and test emails."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from jinja2 import DictLoader

from app.cli import terminal
from app.core.process.folders import templates_folder

from ..rigs.backends import free_port
from ..rigs.hosts import HostSettings, host_with
from ..rigs.smtp import smtp_sink
from .test_command_line import run

TEMPLATE = (
    '{% extends "frontdesk/mail.html" %}{% block title %}Order {{ number }}{% endblock %}'
    "{% block content %}<h1>{{ number }} for {{ name }}</h1>{{ motto }}{% endblock %}"
)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    monkeypatch.chdir(tmp_path)
    host = host_with(settings=HostSettings())
    host.jinja_loader = DictLoader({"order.html": TEMPLATE, "broken.html": "{{ 1 / number }}"})
    host.context_processor(lambda: {"motto": "Make haste slowly"})
    return host


def test_preview_without_a_name_lists_all_templates(host: Flask) -> None:
    listed = run(host, "mail", "preview").split()
    assert listed == sorted(path.stem for path in templates_folder().glob("*.html"))
    assert {"reset_password", "verify_email", "invitation", "notification"} < set(listed)


def test_preview_writes_html_and_text(host: Flask, tmp_path: Path) -> None:
    written = run(host, "mail", "preview", "verify_email", "--as", "bob@example.com").split()
    assert written == ["verify_email.html", "verify_email.txt"]
    for name in written:
        assert "Hello bob@example.com," in (tmp_path / name).read_text()


def test_template_of_the_application_uses_the_given_values(host: Flask, tmp_path: Path) -> None:
    out = tmp_path / "shown.html"
    run(host, "mail", "preview", "order.html", "--out", str(out), "--values", '{"number": 4711}')
    text = out.with_suffix(".txt").read_text()
    assert text == "Host\n\n4711 for [name]\n\nMake haste slowly\n"


def test_preview_asks_before_it_overwrites_a_file(
    host: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "invitation.txt").write_text("before")
    command = ("mail", "preview", "invitation")
    with monkeypatch.context() as at_terminal:
        at_terminal.setattr(terminal, "is_terminal", lambda stream: True)
        result = host.test_cli_runner().invoke(args=command, input="n\n")
        assert result.exit_code == 1
        assert "Overwrite invitation.txt? [y/N]" in result.stderr
        assert [path.name for path in tmp_path.glob("invitation.*")] == ["invitation.txt"]
        run(host, *command, "--yes")
        result = host.test_cli_runner().invoke(args=command, input="y\n")
        assert "Overwrite invitation.html and invitation.txt? [y/N]" in result.stderr
    (tmp_path / "invitation.txt").write_text("before")
    run(host, *command)
    assert "before" not in (tmp_path / "invitation.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["nothing"],
            "There is no email template nothing.html. Frontdesk's templates: account_deleted, ",
        ),
        (["broken"], "The template cannot be rendered: "),
        (["order", "--values", '{"number": 0, }'], "must be a JSON object"),
        (["order", "--out", "/nowhere/order.html"], "/nowhere/order.html cannot be written: "),
    ],
)
def test_impossible_preview_is_one_error_message(
    host: Flask, arguments: list[str], sentence: str
) -> None:
    code = 2 if "--values" in arguments else 1
    assert sentence in run(host, "mail", "preview", *arguments, code=code)


def test_send_test_sends_immediately() -> None:
    with smtp_sink() as sink:
        settings = HostSettings()
        vars(settings).update(MAIL_SERVER="127.0.0.1", MAIL_PORT=sink.port)
        host = host_with(settings=settings)
        output = run(host, "mail", "send-test", "invitation", "bob@example.com")
        (received,) = sink.received
    assert output == "Sent to bob@example.com.\n"
    assert received.message["Subject"] == "Host: Invitation to The Library"


def test_unreachable_mail_server_is_one_error_message() -> None:
    settings = HostSettings()
    vars(settings).update(MAIL_SERVER="127.0.0.1", MAIL_PORT=free_port())
    output = run(
        host_with(settings=settings), "mail", "send-test", "invitation", "bob@example.com", code=1
    )
    assert output.startswith("Error: The email was not sent: ")


@pytest.mark.parametrize(("text_color", "warnings"), [("", 0), ("#ffffff", 0), ("#2f5e89", 1)])
def test_doctor_warns_about_unreadable_buttons(text_color: str, warnings: int) -> None:
    settings = HostSettings()
    vars(settings).update(BRAND={"COLOR": "#1f4e79", "TEXT_COLOR": text_color})
    result = host_with(settings=settings).test_cli_runner().invoke(args=["frontdesk", "doctor"])
    assert result.output.count("Leave BRAND__TEXT_COLOR empty") == warnings
