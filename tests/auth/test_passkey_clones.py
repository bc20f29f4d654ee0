"""Signature counters and backup flags of passkeys, and the detection of clones."""

from __future__ import annotations

import pytest
from flask import Flask

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, Person
from ..core.test_security_log import FindEntries
from ..core.test_security_log import find_entries as find_entries
from ..rigs.authenticator import (
    BACKED_UP,
    CAN_BE_BACKED_UP,
    HAS_CREDENTIAL,
    PRESENT,
    VERIFIED,
    base64url,
)
from .passkey_holder import Holder
from .test_passkeys import ADA, stored


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__PASSKEYS="on")


@pytest.fixture
def holder(ada: Person) -> Holder:
    return Holder(ada.api())


def test_increasing_counter_is_stored_and_lower_counter_is_rejected(
    holder: Holder, app: Flask, mails: MailOutbox, find_entries: FindEntries
) -> None:
    holder.authenticator.count = 7
    holder.add("Key ring")
    holder.sign_in()
    assert stored(app)[0].sign_count == 9
    mails.clear()
    for count in (9, 3, 0):
        holder.sign_in(400, count=count)
    assert find_entries("sign_in")[-1]["why"] == "count_went_back"
    mails.assert_sent(ADA, "a passkey was rejected", "Key ring")
    assert len(mails) == 1
    assert len(find_entries("passkey_suspicion")) == 3
    assert stored(app)[0].sign_count == 9
    holder.sign_in(count=4_294_967_295)


def test_invalid_signature_raises_no_clone_warning(holder: Holder, mails: MailOutbox) -> None:
    holder.authenticator.count = 7
    holder.add()
    mails.clear()
    assertion = holder.show(count=1)
    assertion["response"]["signature"] = base64url(b"\x30\x06\x02\x01\x01\x02\x01\x01")
    holder.send(assertion, 400)
    holder.send(holder.show(count=1, origin="https://evil.example"), 400)
    mails.assert_empty()


def test_backup_state_is_updated_at_each_use(
    holder: Holder, app: Flask, clock: SteppingClock
) -> None:
    holder.add(flags=PRESENT | VERIFIED | CAN_BE_BACKED_UP | HAS_CREDENTIAL)
    assert stored(app)[0].backed_up is False
    clock.step(minutes=1)
    before = clock.now()
    holder.sign_in(flags=PRESENT | VERIFIED | CAN_BE_BACKED_UP | BACKED_UP)
    [passkey] = stored(app)
    assert passkey.backed_up is True
    assert passkey.last_used_at is not None
    assert before <= passkey.last_used_at <= clock.now()
