"""Secrets of second factors where they lie: encrypted, bound to their row, by keys that change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.auth.mfa.sealing import Sealing, Unopenable
from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox, ManualEngine

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..exports.conftest import ask, lines, opened
from .factors import challenge, enrol, enrolled, finish

OLD, NEW = "an older key, of more than thirty-two characters", "a newer key, " + "x" * 32
METHODS = '["totp"]'


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return keyed(make_app, OLD)


def keyed(make_app: MakeApp, *keys: str, **more: str) -> Flask:
    settings = {"AUTH__MFA": "optional", "AUTH__MFA_METHODS": METHODS, **more}
    return make_app(AUTH__ENCRYPTION_KEYS=json.dumps(keys), **settings)


def rows(app: Flask, table: str = "frontdesk_authenticators") -> list[Any]:
    with app.app_context():
        found = current_frontdesk.session.execute(text(f"SELECT * FROM {table} ORDER BY id"))
        return list(found.all())


def test_what_is_sealed_opens_with_any_of_the_keys_and_the_first_one_seals() -> None:
    sealed = Sealing([OLD]).seal(b"secret", "1/1")
    assert Sealing([NEW, OLD]).open(sealed, "1/1") == b"secret"
    assert Sealing([OLD, NEW]).is_current(sealed)
    assert not Sealing([NEW, OLD]).is_current(sealed)
    assert Sealing([OLD]).seal(b"secret", "1/1") != sealed, "it is never the same twice"


@pytest.mark.parametrize("row", ["1/2", "2/1", "11", ""])
def test_it_opens_in_its_own_row_alone(row: str) -> None:
    sealing = Sealing([OLD])
    with pytest.raises(Unopenable, match="another row"):
        sealing.open(sealing.seal(b"secret", "1/1"), row)


@pytest.mark.parametrize("sealed", ["", "AQ", "AQ==", "x", "!!!", "\u20ac", "Ag" + "A" * 60])
def test_what_is_not_sealed_is_said_not_to_open(sealed: str) -> None:
    with pytest.raises(Unopenable):
        Sealing([OLD]).open(sealed, "1/1")


def test_every_change_of_one_bit_is_noticed() -> None:
    sealing = Sealing([OLD])
    sealed = sealing.seal(b"secret", "1/1")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for place, letter in enumerate(sealed.rstrip("=")):
        changed = letters[letters.index(letter) ^ 32]
        with pytest.raises(Unopenable):
            sealing.open(sealed[:place] + changed + sealed[place + 1 :], "1/1")


def test_no_secret_is_stored_readable(ada: Person, clock: SteppingClock) -> None:
    has = enrolled(ada, clock)
    [row] = rows(ada.app)
    assert has.phone.secret not in str(row)
    assert len(row.secret) <= 255


def test_a_secret_of_another_row_opens_nothing(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock
) -> None:
    """Whoever writes in the database, but does not have the keys, signs in as nobody."""
    mallory = enrolled(person("mallory"), clock).phone
    enrolled(ada, clock)
    theirs, _hers = rows(ada.app)
    with ada.app.app_context():
        session = current_frontdesk.session
        change = text("UPDATE frontdesk_authenticators SET secret = :secret, last_step = NULL")
        session.execute(change, {"secret": theirs.secret})
        session.commit()
    assert finish(api, challenge(api, ada), 503, otp=mallory.next_code()).json["code"] == (
        "secret_unreadable"
    )


def test_without_its_key_it_is_a_503_with_a_line_in_the_log_and_a_recovery_code_signs_in(
    make_app: MakeApp, ada: Person, clock: SteppingClock, capsys: pytest.CaptureFixture[str]
) -> None:
    has = enrolled(ada, clock)
    without = Api(keyed(make_app, NEW, OLD))
    codes = without.as_token(
        finish(without, challenge(without, ada), otp=has.phone.next_code()).json["access_token"]
    )
    recovery = codes.post("/recovery-codes", 201).json["recovery_codes"][0]
    lost = Api(keyed(make_app, NEW))
    refused = finish(lost, challenge(lost, ada), 503, otp=has.phone.next_code())
    form = {"username": ada.email, "password": ada.password, "otp": has.phone.code()}
    lost.post("/login", 503, data=form)
    assert refused.headers["Retry-After"]
    logged = capsys.readouterr().err
    assert "authenticator 1 cannot be decrypted: its key" in logged
    assert has.phone.secret not in logged
    finish(lost, challenge(lost, ada), recovery_code=recovery)


def test_of_two_apps_one_that_cannot_be_read_does_not_bar_the_other(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    first = enrolled(ada, clock)
    second = enrol(first.api, clock).phone
    with ada.app.app_context():
        session = current_frontdesk.session
        session.execute(text("UPDATE frontdesk_authenticators SET secret = 'AQ' WHERE id = 1"))
        session.commit()
    finish(api, challenge(api, ada), otp=second.next_code())
    finish(api, challenge(api, ada), 503, otp=second.wrong_code())


def test_after_a_new_key_all_is_encrypted_anew_and_the_old_one_can_go(
    make_app: MakeApp, ada: Person, person: MakePerson, clock: SteppingClock
) -> None:
    phones = {each.email: enrolled(each, clock).phone for each in (ada, person("grace"))}
    both = keyed(make_app, NEW, OLD)
    told = run(both, "frontdesk", "reencrypt")
    assert told == {
        "reencrypted": 2,
        "unreadable": 0,
        "accounts_with_old_recovery_codes": 2,
    }
    assert run(both, "frontdesk", "reencrypt")["reencrypted"] == 0
    alone = Api(keyed(make_app, NEW))
    finish(alone, challenge(alone, ada), otp=phones[ada.email].next_code())


def test_what_cannot_be_encrypted_anew_is_counted_and_the_rest_is(
    make_app: MakeApp, ada: Person, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    result = keyed(make_app, NEW).test_cli_runner().invoke(args=["frontdesk", "reencrypt"])
    assert (result.exit_code, '"unreadable":1' in result.output) == (1, True)


def run(app: Flask, *command: str) -> Any:
    result = app.test_cli_runner().invoke(args=list(command))
    assert result.exit_code == 0, result.output
    return json.loads(result.output.splitlines()[-1])


def test_without_keys_of_their_own_they_follow_the_applications_secret(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    settings = {"AUTH__MFA": "optional", "AUTH__MFA_METHODS": METHODS}
    app = make_app(**settings)
    ada = person("ada", into=app)
    phone = enrolled(ada, clock).phone
    settings["SECRET_KEY"] = "another key, as long as keys should be"
    former = json.dumps([app.secret_key])
    rotated = Api(make_app(**settings, CORE__SECRET_KEY_FALLBACKS=former))
    finish(rotated, challenge(rotated, ada), otp=phone.next_code())
    lost = Api(make_app(**settings))
    finish(lost, challenge(lost, ada), 503, otp=phone.next_code())


def test_keys_that_are_set_later_lock_nobody_out(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS)
    ada = person("ada", into=app)
    has = enrolled(ada, clock)
    later = keyed(make_app, NEW)
    finish(Api(later), challenge(Api(later), ada), otp=has.phone.next_code())
    finish(Api(later), challenge(Api(later), ada), recovery_code=has.recovery_codes[0])
    assert run(later, "frontdesk", "reencrypt")["reencrypted"] == 1
    other = Api(keyed(make_app, NEW, SECRET_KEY="another key, as long as keys should be"))
    finish(other, challenge(other, ada), otp=has.phone.next_code())


@only_on("sqlite")
def test_the_doctor_says_so_where_they_do(make_app: MakeApp) -> None:
    told = {
        keys: make_app(AUTH__MFA="optional", AUTH__ENCRYPTION_KEYS=keys)
        .test_cli_runner()
        .invoke(args=["frontdesk", "doctor", "--json"])
        .output
        for keys in ("[]", json.dumps([NEW]))
    }
    assert "AUTH__ENCRYPTION_KEYS is not set" in told["[]"]
    assert "AUTH__ENCRYPTION_KEYS" not in told[json.dumps([NEW])]


def test_secrets_are_in_no_log_no_record_no_mail_and_no_export(
    make_app: MakeApp,
    person: MakePerson,
    clock: SteppingClock,
    mails: MailOutbox,
    engine: ManualEngine,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = {"AUTH__ACCOUNT_EXPORTS": "on", "AUTH__EXPORT_FOLDER": str(tmp_path / "exports")}
    app = keyed(make_app, OLD, AUTH__MFA_TRUST_DAYS="30", CORE__LOG_LEVEL="DEBUG", **more)
    ada, api = person("ada", into=app), Api(app)
    has = enrolled(ada, clock)
    token, code = challenge(api, ada), has.phone.next_code()
    device = finish(api, token, otp=code, trust=True).json["trusted_device"]
    finish(api, challenge(api, ada), 400, otp=has.phone.wrong_code())
    answer = finish(api, challenge(api, ada), recovery_code=has.recovery_codes[0]).json
    export_id = ask(api.as_token(answer["access_token"]))
    engine.deliver()
    archive = opened(api.as_token(answer["access_token"]), export_id)
    [listed] = lines(archive, "authenticators.jsonl")
    assert (listed["kind"], listed["name"]) == ("totp", "Phone")
    assert len(lines(archive, "recovery_codes.jsonl")) == 10
    assert len(lines(archive, "trusted_devices.jsonl")) == 1
    logged, recorded = capsys.readouterr().err, str(rows(app, "frontdesk_events"))
    assert "factor_change succeeded" in logged
    assert "recovery_code.used" in recorded
    told = [logged, recorded, *(mail.text + mail.html for mail in mails.to(ada.email))]
    told += [archive.read(name).decode() for name in archive.namelist()]
    stored = [row.secret for row in rows(app)]
    stored += [row.digest for row in rows(app, "frontdesk_recovery_codes")]
    stored += [row.digest for row in rows(app, "frontdesk_trusted_devices")]
    for secret in [has.phone.secret, token, device, *has.recovery_codes, *stored]:
        assert all(secret not in each for each in told)
