"""The name for the greeting of a mail server, which is fully qualified."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import pytest

from app.delivery.mail import smtp as module
from app.delivery.mail.settings import MailSettings
from app.delivery.mail.smtp import SmtpMailer

from ..rigs.smtp import Sink, smtp_sink

Machine = Callable[..., None]


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Set the machine's name, and the name server's answer."""

    def machine(name: str, full: str | None = None) -> None:
        module._machine_name.cache_clear()
        monkeypatch.setattr(module, "gethostname", lambda: name)
        monkeypatch.setattr(module, "getfqdn", lambda: full or name)

    yield machine
    module._machine_name.cache_clear()


def greeting(sink: Sink, **settings: str) -> str:
    mail = MailSettings.model_validate(
        {"server": "127.0.0.1", "default_sender": "desk@example.com", **settings}
    )
    with SmtpMailer(mail.model_copy(update={"port": sink.port})).open():
        pass
    return sink.names[-1]


def test_setting_takes_precedence(sink: Sink, machine: Machine) -> None:
    machine("web1.example.org")
    assert greeting(sink, local_hostname="mx.example.com") == "mx.example.com"


def test_fully_qualified_machine_name_is_used(sink: Sink, machine: Machine) -> None:
    machine("web1.example.org")
    assert greeting(sink) == "web1.example.org"
    machine("web1", "web1.example.net")
    assert greeting(sink) == "web1.example.net"


@pytest.mark.parametrize("name", ["vm", "localhost.localdomain", "10.0.0.7", "a_b.example.org", ""])
def test_sender_domain_replaces_an_unqualified_name(
    sink: Sink, machine: Machine, name: str
) -> None:
    machine(name)
    assert greeting(sink) == "example.com"


def test_ip_address_is_used_without_a_name(sink: Sink, machine: Machine) -> None:
    machine("vm")
    assert greeting(sink, default_sender="frontdesk@localhost") == "[127.0.0.1]"


def test_silent_name_server_times_out(
    sink: Sink, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine("vm")
    answered = Event()
    monkeypatch.setattr(module, "LOOKUP_SECONDS", 0.05)
    monkeypatch.setattr(module, "getfqdn", lambda: answered.wait(30) and "late.example.com")
    assert greeting(sink) == "example.com"
    assert not answered.is_set()
    answered.set()
