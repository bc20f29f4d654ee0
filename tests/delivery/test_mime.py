from __future__ import annotations

from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.parser import BytesParser

import pytest

from app.delivery.errors import Refused
from app.delivery.mail.mime import Writer
from app.delivery.message import Email

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BREAKS = [*"\r\n\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029\0"]


def written(
    subject: str = "Hello", text: str = "Hi", html: str = "<p>Hi</p>", to: str = "ada@example.com"
) -> bytes:
    return Writer("Front Desk <desk@example.com>").write(Email(to, subject, text, html), NOON).data


def parsed(data: bytes) -> EmailMessage:
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def part(data: bytes, kind: str) -> str:
    body = parsed(data).get_body((kind,))
    assert body is not None
    return str(body.get_content())


def test_message_has_all_headers() -> None:
    message = parsed(written())
    assert message["To"] == "ada@example.com"
    assert message["From"] == "Front Desk <desk@example.com>"
    assert message["Subject"] == "Hello"
    assert message["Date"].datetime == NOON
    assert message["Message-ID"].endswith("@example.com>")


def test_message_has_text_and_html() -> None:
    data = written(text="Grüße\nund mehr", html="<p>Grüße</p>")
    assert part(data, "plain").splitlines() == ["Grüße", "und mehr"]
    assert part(data, "html").strip() == "<p>Grüße</p>"


@pytest.mark.parametrize("character", BREAKS, ids=ascii)
def test_line_breaks_are_kept_out_of_headers(character: str) -> None:
    data = written(subject=f"Hello{character}Bcc: eve@example.com{character}{character}<b>x")
    head = data.partition(b"\r\n\r\n")[0].decode()
    assert len(head.splitlines()) == head.count("\r\n") + 1
    for policy_of_reader in (policy.default, policy.compat32, policy.SMTP):
        message = BytesParser(policy=policy_of_reader).parsebytes(data)
        assert message["Bcc"] is None
        assert message["Subject"] == "Hello Bcc: eve@example.com <b>x"


def test_line_breaks_are_kept_out_of_the_sender() -> None:
    data = Writer("Context\u2028Bcc\x0beve <desk@example.com>").write(
        Email("ada@example.com", "s", "t", ""), NOON
    )
    assert b"\nBcc" not in data.data
    assert data.sender == "desk@example.com"


@pytest.mark.parametrize(
    "address",
    ["ada@example.com\r\nBcc: eve@example.com", "a b@example.com", "ada", "<ada@example.com>", ""],
)
def test_invalid_address_is_rejected(address: str) -> None:
    with pytest.raises(Refused):
        written(to=address)


def test_international_domain_is_written_in_ascii() -> None:
    assert parsed(written(to="ada@bücher.example"))["To"] == "ada@xn--bcher-kva.example"


def test_any_subject_survives_encoding() -> None:
    for subject in ("Grüße aus Zürich " * 10, "=?utf-8?q?Bcc=3A?="):
        assert parsed(written(subject=subject))["Subject"].strip() == subject.strip()


def test_lines_are_short_enough_for_servers() -> None:
    data = written(text="x" * 10_000, html="ü" * 10_000)
    assert max(len(line) for line in data.split(b"\r\n")) <= 998
    assert part(data, "plain").strip() == "x" * 10_000
    assert part(data, "html").strip() == "ü" * 10_000


def test_lone_carriage_return_does_not_end_the_message() -> None:
    data = written(text="a\r.\rb\n.\nc")
    assert b"\r" not in data.replace(b"\r\n", b"")
    assert b"\n" not in data.replace(b"\r\n", b"")
