"""Encryption of stored MFA secrets: bound to their row, with keys that can be rotated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.auth.sealing import DecryptionFailed, Sealing
from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..exports.conftest import ask, lines, open_archive
from ..rigs.manual_engine import ManualEngine
from .factors import challenge, enroll, enrolled, finish

OLD, NEW = "an older key, of more than thirty-two characters", "a newer key, " + "x" * 32
METHODS = '["totp"]'


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app_with_keys(make_app, OLD)


def make_app_with_keys(make_app: MakeApp, *keys: str, **more: str) -> Flask:
    settings = {"AUTH__MFA": "optional", "AUTH__MFA_METHODS": METHODS, **more}
    return make_app(AUTH__ENCRYPTION_KEYS=json.dumps(keys), **settings)


def rows(app: Flask, table: str = "frontdesk_authenticators") -> list[Any]:
    with app.app_context():
        found = current_frontdesk.session.execute(text(f"SELECT * FROM {table} ORDER BY id"))
        return list(found.all())


def test_all_keys_decrypt_and_the_first_key_encrypts() -> None:
    sealed = Sealing([OLD]).seal(b"secret", "1/1")
    assert Sealing([NEW, OLD]).open(sealed, "1/1") == b"secret"
    assert Sealing([OLD, NEW]).is_current(sealed)
    assert not Sealing([NEW, OLD]).is_current(sealed)
    assert Sealing([OLD]).seal(b"secret", "1/1") != sealed, "encryption is not deterministic"


@pytest.mark.parametrize("row", ["1/2", "2/1", "11", ""])
def test_secret_is_bound_to_its_row(row: str) -> None:
    sealing = Sealing([OLD])
    with pytest.raises(DecryptionFailed, match="another row"):
        sealing.open(sealing.seal(b"secret", "1/1"), row)


@pytest.mark.parametrize("sealed", ["", "AQ", "AQ==", "x", "!!!", "\u20ac", "Ag" + "A" * 60])
def test_malformed_value_is_rejected(sealed: str) -> None:
    with pytest.raises(DecryptionFailed):
        Sealing([OLD]).open(sealed, "1/1")


def test_every_bit_flip_is_detected() -> None:
    sealing = Sealing([OLD])
    sealed = sealing.seal(b"secret", "1/1")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for position, character in enumerate(sealed.rstrip("=")):
        changed = alphabet[alphabet.index(character) ^ 32]
        with pytest.raises(DecryptionFailed):
            sealing.open(sealed[:position] + changed + sealed[position + 1 :], "1/1")


def test_secrets_are_stored_encrypted(ada: Person, clock: SteppingClock) -> None:
    mfa = enrolled(ada, clock)
    [row] = rows(ada.app)
    assert mfa.phone.secret not in str(row)
    assert len(row.secret) <= 255


def test_secret_copied_from_another_row_is_rejected(
    ada: Person, api: Api, person: MakePerson, clock: SteppingClock
) -> None:
    """Database write access without the keys is not enough to sign in."""
    mallory = enrolled(person("mallory"), clock).phone
    enrolled(ada, clock)
    mallorys, _adas = rows(ada.app)
    with ada.app.app_context():
        session = current_frontdesk.session
        change = text("UPDATE frontdesk_authenticators SET secret = :secret, last_step = NULL")
        session.execute(change, {"secret": mallorys.secret})
        session.commit()
    assert finish(api, challenge(api, ada), 503, otp=mallory.next_code()).json["code"] == (
        "secret_unreadable"
    )


def test_missing_key_is_a_503_and_recovery_codes_still_work(
    make_app: MakeApp, ada: Person, clock: SteppingClock, capsys: pytest.CaptureFixture[str]
) -> None:
    mfa = enrolled(ada, clock)
    rotated_app = Api(make_app_with_keys(make_app, NEW, OLD))
    recovery_api = rotated_app.as_token(
        finish(rotated_app, challenge(rotated_app, ada), otp=mfa.phone.next_code()).json[
            "access_token"
        ]
    )
    recovery = recovery_api.post("/recovery-codes", 201).json["recovery_codes"][0]
    lost = Api(make_app_with_keys(make_app, NEW))
    refused = finish(lost, challenge(lost, ada), 503, otp=mfa.phone.next_code())
    form = {"username": ada.email, "password": ada.password, "otp": mfa.phone.code()}
    lost.post("/login", 503, data=form)
    assert refused.headers["Retry-After"]
    logged = capsys.readouterr().err
    assert "authenticator 1 cannot be decrypted: its key" in logged
    assert mfa.phone.secret not in logged
    finish(lost, challenge(lost, ada), recovery_code=recovery)


def test_unreadable_authenticator_does_not_block_another(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    first = enrolled(ada, clock)
    second = enroll(first.api, clock).phone
    with ada.app.app_context():
        session = current_frontdesk.session
        session.execute(text("UPDATE frontdesk_authenticators SET secret = 'AQ' WHERE id = 1"))
        session.commit()
    finish(api, challenge(api, ada), otp=second.next_code())
    finish(api, challenge(api, ada), 503, otp=second.wrong_code())


def test_reencrypt_replaces_the_old_key(
    make_app: MakeApp, ada: Person, person: MakePerson, clock: SteppingClock
) -> None:
    phones = {each.email: enrolled(each, clock).phone for each in (ada, person("grace"))}
    both = make_app_with_keys(make_app, NEW, OLD)
    outputs = run(both, "frontdesk", "reencrypt")
    assert outputs == {"reencrypted": 2, "unreadable": 0, "accounts_with_old_recovery_codes": 2}
    assert run(both, "frontdesk", "reencrypt")["reencrypted"] == 0
    new_key_only = Api(make_app_with_keys(make_app, NEW))
    finish(new_key_only, challenge(new_key_only, ada), otp=phones[ada.email].next_code())


def test_unreadable_secrets_are_counted_by_reencrypt(
    make_app: MakeApp, ada: Person, clock: SteppingClock
) -> None:
    enrolled(ada, clock)
    result = (
        make_app_with_keys(make_app, NEW).test_cli_runner().invoke(args=["frontdesk", "reencrypt"])
    )
    assert (result.exit_code, '"unreadable":1' in result.output) == (1, True)


def run(app: Flask, *command: str) -> Any:
    result = app.test_cli_runner().invoke(args=list(command))
    assert result.exit_code == 0, result.output
    return json.loads(result.output.splitlines()[-1])


def test_keys_default_to_the_secret_key(
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


def test_encryption_keys_can_be_set_later(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__MFA="optional", AUTH__MFA_METHODS=METHODS)
    ada = person("ada", into=app)
    mfa = enrolled(ada, clock)
    later = make_app_with_keys(make_app, NEW)
    finish(Api(later), challenge(Api(later), ada), otp=mfa.phone.next_code())
    finish(Api(later), challenge(Api(later), ada), recovery_code=mfa.recovery_codes[0])
    assert run(later, "frontdesk", "reencrypt")["reencrypted"] == 1
    other = Api(
        make_app_with_keys(make_app, NEW, SECRET_KEY="another key, as long as keys should be")
    )
    finish(other, challenge(other, ada), otp=mfa.phone.next_code())


@only_on("sqlite")
def test_doctor_warns_about_missing_encryption_keys(make_app: MakeApp) -> None:
    outputs = {
        keys: make_app(AUTH__MFA="optional", AUTH__ENCRYPTION_KEYS=keys)
        .test_cli_runner()
        .invoke(args=["frontdesk", "doctor", "--json"])
        .output
        for keys in ("[]", json.dumps([NEW]))
    }
    assert "AUTH__ENCRYPTION_KEYS is not set" in outputs["[]"]
    assert "AUTH__ENCRYPTION_KEYS" not in outputs[json.dumps([NEW])]


def test_secrets_are_not_in_logs_audit_log_emails_or_exports(
    make_app: MakeApp,
    person: MakePerson,
    clock: SteppingClock,
    mails: MailOutbox,
    engine: ManualEngine,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = {"AUTH__ACCOUNT_EXPORTS": "on", "AUTH__EXPORT_FOLDER": str(tmp_path / "exports")}
    app = make_app_with_keys(
        make_app, OLD, AUTH__MFA_TRUST_DAYS="30", CORE__LOG_LEVEL="DEBUG", **more
    )
    ada, api = person("ada", into=app), Api(app)
    mfa = enrolled(ada, clock)
    token, code = challenge(api, ada), mfa.phone.next_code()
    device = finish(api, token, otp=code, trust=True).json["trusted_device"]
    finish(api, challenge(api, ada), 400, otp=mfa.phone.wrong_code())
    answer = finish(api, challenge(api, ada), recovery_code=mfa.recovery_codes[0]).json
    export_id = ask(api.as_token(answer["access_token"]))
    engine.deliver()
    archive = open_archive(api.as_token(answer["access_token"]), export_id)
    [listed] = lines(archive, "authenticators.jsonl")
    assert (listed["kind"], listed["name"]) == ("totp", "Phone")
    assert len(lines(archive, "recovery_codes.jsonl")) == 10
    assert len(lines(archive, "trusted_devices.jsonl")) == 1
    logged, recorded = capsys.readouterr().err, str(rows(app, "frontdesk_events"))
    assert "factor_change succeeded" in logged
    assert "recovery_code.used" in recorded
    outputs = [logged, recorded, *(mail.text + mail.html for mail in mails.to(ada.email))]
    outputs += [archive.read(name).decode() for name in archive.namelist()]
    stored = [row.secret for row in rows(app)]
    stored += [row.digest for row in rows(app, "frontdesk_recovery_codes")]
    stored += [row.digest for row in rows(app, "frontdesk_trusted_devices")]
    for secret in [mfa.phone.secret, token, device, *mfa.recovery_codes, *stored]:
        assert all(secret not in each for each in outputs)
