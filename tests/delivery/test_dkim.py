"""A real relay that signs emails with OpenDKIM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.frontdesk import Frontdesk
from app.testing.people import make_person

from ..conftest import MakeApp, only_on
from ..rigs.manual_engine import ManualEngine
from ..rigs.opendkim import OpenDkim, opendkim
from ..rigs.postfix import Postfix, postfix

HEADERS = ("List-Unsubscribe", "List-Unsubscribe-Post")


@pytest.fixture
def signer(tmp_path: Path) -> Iterator[OpenDkim]:
    with opendkim(tmp_path) as signer:
        yield signer


@pytest.fixture
def signing_relay(signer: OpenDkim) -> Iterator[Postfix]:
    with postfix(milter=signer.port) as relay:
        yield relay


@only_on("sqlite")
def test_dkim_signature_covers_the_unsubscribe_headers(
    make_app: MakeApp, engine: ManualEngine, signing_relay: Postfix, signer: OpenDkim
) -> None:
    app = make_app(
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(signing_relay.port),
        MAIL_DEFAULT_SENDER="desk@example.com",
        CORE__PUBLIC_URL="https://api.example.com",
    )
    make_person(app, "ada")
    with app.app_context():
        Frontdesk().notify("News", "Some.", kind="announcements", channels=["inapp", "email"])
    engine.deliver()
    [mail] = signing_relay.sink.wait_for(1)
    found = re.search(r"\bh=([^;]*)", str(mail.message["DKIM-Signature"]))
    assert found is not None
    signed = re.sub(r"\s", "", found[1]).lower().split(":")
    assert {name.lower() for name in HEADERS} <= set(signed)
    assert signer.verify(mail.data)
    for name in HEADERS:
        changed = re.sub(rf"(?m)^{name}: .*$".encode(), f"{name}: other".encode(), mail.data)
        assert changed != mail.data
        assert not signer.verify(changed)
