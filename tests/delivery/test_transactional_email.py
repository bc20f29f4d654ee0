from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from app.delivery.mail import one_off
from app.delivery.mail.mailer import NoMailer
from app.delivery.mail.mime import Writer
from app.delivery.mail.one_off import BackgroundMail
from app.delivery.mail.settings import MailSettings
from app.delivery.mail.smtp import SmtpMailer
from app.delivery.message import Email

from ..rigs.smtp import free_port, smtp_sink


def mail(to: str = "ada@example.com") -> Email:
    return Email(to, "Reset", "the token", "<p>the token</p>")


def mail_queue_to(port: int) -> BackgroundMail:
    return BackgroundMail(
        SmtpMailer(MailSettings(server="127.0.0.1", port=port)), lambda: datetime.now(UTC)
    )


def within(seconds: float, true: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_email_is_sent_at_once() -> None:
    with smtp_sink() as sink:
        mail_queue_to(sink.port).send_soon(mail())
        assert sink.wait_for(1, seconds=1)[0].to == "ada@example.com"


def test_queueing_does_not_wait_for_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_off, "RETRY_AFTER", ())
    started = time.monotonic()
    queue = mail_queue_to(free_port())
    for _ in range(100):
        queue.send_soon(mail())
    assert time.monotonic() - started < 0.5


def test_email_is_retried_until_the_server_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_off, "RETRY_AFTER", (0.2, 0.2, 0.2, 0.2, 0.2))
    port = free_port()
    queue = mail_queue_to(port)
    queue.send_soon(mail())
    assert queue.flush(5)
    with smtp_sink(port) as sink:
        sink.wait_for(1, seconds=5)
        time.sleep(0.5)
        assert len(sink.received) == 1


def test_email_is_given_up_and_its_body_is_not_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(one_off, "RETRY_AFTER", (0.05, 0.05))
    mail_queue_to(free_port()).send_soon(mail())
    within(5, lambda: "Given up: the email to ada@example.com, 'Reset'" in caplog.text)
    assert "the token" not in caplog.text


def test_rejected_receiver_is_not_retried_and_does_not_stop_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with smtp_sink() as sink:
        sink.receiver_answer = lambda to: "550 no" if to.startswith("bad") else None
        queue = mail_queue_to(sink.port)
        for to in ("bad@example.com", "not an address", "good@example.com"):
            queue.send_soon(mail(to))
        sink.wait_for(1, seconds=5)
        assert queue.flush(5)
        assert sink.receivers == ["good@example.com"]
    assert "Refused: the email to bad@example.com" in caplog.text


def test_sender_rejected_for_one_receiver_does_not_delay_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(one_off, "RETRY_AFTER", (60.0,))
    with smtp_sink() as sink:
        rejected = "554 5.7.1 Relay access denied"
        sink.receiver_answer = lambda to: rejected if to.startswith("eve") else None
        queue = mail_queue_to(sink.port)
        for to in ("eve@example.com", "ada@example.com", "eve@example.com", "bob@example.com"):
            queue.send_soon(mail(to))
        sink.wait_for(2)
        assert sink.receivers == ["ada@example.com", "bob@example.com"]


def test_disabled_emails_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    queue = BackgroundMail(NoMailer(Writer("desk@example.com")), lambda: datetime.now(UTC))
    queue.send_soon(mail())
    assert queue.flush(5)
    assert "Emails are disabled" in caplog.text


def test_forked_process_sends_only_its_emails() -> None:
    with smtp_sink() as sink:
        queue = mail_queue_to(sink.port)
        queue.send_soon(mail("parent@example.com"))
        sink.wait_for(1)
        child = os.fork()
        if child == 0:
            queue.send_soon(mail("child@example.com"))
            os._exit(0 if queue.flush(5) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        queue.send_soon(mail("parent2@example.com"))
        assert {m.to.partition("@")[0] for m in sink.wait_for(3)} == {"parent", "child", "parent2"}
