"""Data exports: request, download and expiry."""

from __future__ import annotations

import json
import logging
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.broadcasts.sent import SentNotifications
from app.core.context import service
from app.core.data_export import ExportReader
from app.core.hooks import Hooks
from app.delivery.worker.worker import Worker
from app.exports.making import MAKE_EXPORTS
from app.exports.service import Exports
from app.frontdesk import Frontdesk
from app.notifications.receivers import Audience
from app.profiles.logos import WorkspaceLogos
from app.storage import LocalFileStore, StorageUnavailable
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.workspaces.members import Members
from app.workspaces.service import Workspaces

from ..cli.test_command_line import run
from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..profiles.test_avatars import send
from ..profiles.test_profiles import ADA
from ..rigs.manual_engine import ManualEngine
from ..rigs.pictures import opened as opened_picture
from ..rigs.pictures import plain
from ..rigs.racing import request, run_concurrently
from .conftest import Fetch, ask, document, lines, open_archive, state

KEEP_SECONDS = 7 * 24 * 3600


def stored(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_disabled_setting_rejects_exports(make_app: MakeApp, person: MakePerson) -> None:
    api = person("bob", into=make_app()).api()
    for rejected in (
        api.post("/account/exports", 404),
        api.get("/account/exports/1", 404),
        api.get("/account/exports/1/file", 404),
    ):
        assert rejected.json["code"] == "feature_off"


def test_export_is_requested_and_downloaded(ada: Person, engine: ManualEngine) -> None:
    api = ada.api()
    response = api.post("/account/exports", 202, json={}).json
    assert (response["state"], response["size"], response["expires_at"]) == ("pending", None, None)
    path = f"/account/exports/{response['id']}"
    assert api.get(f"{path}/file", 409).json["code"] == "export_not_ready"
    engine.deliver()
    ready = api.get(path).json
    assert ready["state"] == "ready"
    file = api.get(f"{path}/file")
    assert file.headers["Content-Type"] == "application/zip"
    assert file.headers["Cache-Control"] == "no-store"
    assert (
        file.headers["Content-Disposition"]
        == f'attachment; filename="Frontdesk_data_export_{response["created_at"][:10]}.zip"'
    )
    assert len(file.response.get_data()) == ready["size"] == file.response.content_length


def test_owner_is_notified_of_the_request(ada: Person, mails: MailOutbox) -> None:
    ask(ada.api())
    mail = mails.sent[-1]
    assert mail.to == ada.email
    assert "data export requested" in mail.subject


def test_export_has_the_account_without_the_password_hash(ada: Person, fetch: Fetch) -> None:
    archive = fetch(ada.api())
    account = document(archive, "account.json")
    assert (account["id"], account["email"], account["role"]) == (ada.id, ada.email, "user")
    assert "tokens_valid_from" in account
    assert "password_hash" not in account
    assert not any(b"$2b$" in archive.read(name) for name in archive.namelist())


def test_export_has_the_data_of_every_feature(
    app: Flask, ada: Person, person: MakePerson, fetch: Fetch
) -> None:
    api = ada.api()
    api.post("/profiles", json={**ADA, "motto": "slowly"})
    send(api, plain("PNG"))
    slug = api.get("/workspaces/default").json["slug"]
    api.post(f"/workspaces/{slug}/invitations", 201, json={"email": "bob@example.com"})
    with app.app_context():
        Frontdesk().notify("To all", "One.", channels=["inapp", "email"], sender=ada.id)
        content: dict[str, Any] = {"url": "/orders/7", "data": {"order": 7}}
        Frontdesk().notify("To Ada", "Two.", receivers=[ada.id], kind="announcements", **content)
    with app.app_context():
        workspace = service(Workspaces).get(slug)
        owner = service(Members).get(workspace.id, ada.id).member
        service(WorkspaceLogos).set(owner, BytesIO(plain("PNG")))
    api.post("/notifications/seen")
    archive = fetch(api)
    assert opened_picture(archive.read(f"logo-{slug}.jpg")).size
    profile = document(archive, "profile.json")
    assert (profile["first_name"], profile["motto"]) == (ADA["first_name"], "slowly")
    avatar = next(name for name in archive.namelist() if name.startswith("avatar."))
    assert opened_picture(archive.read(avatar)).size
    assert [row["slug"] for row in lines(archive, "workspaces.jsonl")] == [slug]
    assert [row["email"] for row in lines(archive, "invitations.jsonl")] == ["bob@example.com"]
    assert [row["title"] for row in lines(archive, "inbox.jsonl")] == ["To all", "To Ada"]
    assert [row["data"] for row in lines(archive, "inbox.jsonl")] == [None, {"order": 7}]
    assert lines(archive, "inbox.jsonl")[1]["url"] == "/orders/7"
    assert [row["title"] for row in lines(archive, "sent.jsonl")] == ["To all"]
    newest = lines(archive, "inbox.jsonl")[-1]["id"]
    assert lines(archive, "seen.jsonl") == [{"account_id": ada.id, "item_id": newest}]
    assert [row["channel"] for row in lines(archive, "deliveries.jsonl")] == ["email"]
    assert lines(archive, "identities.jsonl") == lines(archive, "email_changes.jsonl") == []
    types = [row["type"] for row in lines(archive, "events.jsonl")]
    assert types[0] == "account.created"
    assert types[-1] == "account.exported"


def test_export_has_no_data_of_other_accounts(
    app: Flask, ada: Person, person: MakePerson, fetch: Fetch
) -> None:
    bob = person("bob")
    bob.api().post("/profiles", json=ADA)
    with app.app_context():
        Frontdesk().notify("To Bob", "x", channels=["inapp", "email"], receivers=[bob.id])
    archive = fetch(ada.api())
    assert "profile.json" not in archive.namelist()
    assert lines(archive, "inbox.jsonl") == lines(archive, "deliveries.jsonl") == []
    assert not any(b"bob@" in archive.read(name) for name in archive.namelist())


def test_ip_addresses_of_other_actors_are_left_out(
    ada: Person, person: MakePerson, fetch: Fetch
) -> None:
    slug = ada.api().get("/workspaces/default").json["slug"]
    bob = person("bob")
    ada.api().post(f"/workspaces/{slug}/invitations", 201, json={"email": bob.email})
    (invitation,) = bob.api().get("/invitations").json
    bob.api().post(f"/invitations/{invitation['id']}/accept")
    ada.api().delete(f"/workspaces/{slug}/members/{bob.id}")
    events = {row["type"]: row for row in lines(fetch(bob.api()), "events.jsonl")}
    assert events["login.succeeded"]["address"] == "127.0.0.1"
    assert events["member.removed"]["actor_id"] == ada.id
    assert events["member.removed"]["address"] is None


def test_export_of_another_account_is_not_found(
    ada: Person, person: MakePerson, engine: ManualEngine
) -> None:
    export_id = ask(ada.api())
    engine.deliver()
    bob = person("bob").api()
    for path in (f"/account/exports/{export_id}", f"/account/exports/{export_id}/file"):
        assert bob.get(path, 404).json["code"] == "export_not_found"


def test_request_needs_a_fresh_sign_in_or_the_password(ada: Person, clock: SteppingClock) -> None:
    api = ada.api()
    clock.step(seconds=16 * 60)
    response = api.post("/account/exports", 403, json={})
    assert response.json["code"] == "fresh_sign_in_required"
    response = api.post("/account/exports", 400, json={"password": "wrong"})
    assert response.json["code"] == "incorrect_credentials"
    api.post("/account/exports", 202, json={"password": PASSWORD})


def test_exports_are_limited_to_one_a_day(
    ada: Person, person: MakePerson, clock: SteppingClock
) -> None:
    ask(ada.api())
    clock.step(seconds=3600)
    response = ada.api().post("/account/exports", 429, json={})
    assert response.json["code"] == "too_many_exports"
    # The tests' clock keeps running, so the value can be slightly lower.
    assert 23 * 3600 - 60 < int(response.headers["Retry-After"]) <= 23 * 3600
    ask(person("bob").api())
    clock.step(seconds=23 * 3600)
    ask(ada.api())


def test_only_one_concurrent_request_succeeds(ada: Person) -> None:
    api = ada.api()
    responses = run_concurrently(
        *(request(api, "POST", "/account/exports", json={}) for _ in range(6))
    )
    assert responses == [202, 429, 429, 429, 429, 429]


def test_expired_export_is_deleted_with_its_file(
    app: Flask, ada: Person, engine: ManualEngine, clock: SteppingClock, folder: Path
) -> None:
    export_id = ask(ada.api())
    engine.deliver()
    assert len(stored(folder)) == 1
    clock.step(seconds=KEEP_SECONDS + 1)
    ada.api().get(f"/account/exports/{export_id}/file", 404)
    assert json.loads(run(app, "frontdesk", "prune"))["exports"] == 1
    assert stored(folder) == []
    ada.api().get(f"/account/exports/{export_id}", 404)


def test_orphaned_files_of_a_worker_are_deleted(
    app: Flask, ada: Person, engine: ManualEngine, clock: SteppingClock, folder: Path
) -> None:
    export_id = ask(ada.api())
    engine.deliver()
    LocalFileStore(folder).put(f"{'0' * 32}.zip", b"left", "application/zip")
    folder.joinpath("notes.txt").write_text("not an export")
    clock.step(seconds=2 * 3600)
    run(app, "frontdesk", "prune")
    assert len(stored(folder)) == 2
    assert folder.joinpath("notes.txt").exists()
    assert open_archive(ada.api(), export_id).testzip() is None


def test_deleting_the_account_deletes_its_exports(
    app: Flask, ada: Person, person: MakePerson, engine: ManualEngine, folder: Path
) -> None:
    ask(ada.api())
    engine.deliver()
    bob = person("bob")
    ask(bob.api())
    for email in (ada.email, bob.email):
        run(app, "accounts", "delete", email)
    engine.deliver()
    assert stored(folder) == []


def test_killed_worker_is_replaced_by_another(
    app: Flask, ada: Person, engine: ManualEngine, clock: SteppingClock, folder: Path
) -> None:
    export_id = ask(ada.api())
    with mock.patch.object(ExportReader, "rows", side_effect=SystemExit), pytest.raises(SystemExit):
        engine.deliver()
    engine.deliver()
    assert state(ada.api(), export_id) == "pending"
    clock.step(seconds=31)
    engine.deliver()
    assert state(ada.api(), export_id) == "ready"
    assert len(stored(folder)) == 1


def test_export_that_kills_every_worker_fails(
    ada: Person, engine: ManualEngine, clock: SteppingClock
) -> None:
    export_id = ask(ada.api())
    for _ in range(4):
        with (
            mock.patch.object(ExportReader, "rows", side_effect=SystemExit),
            pytest.raises(SystemExit),
        ):
            engine.deliver()
        clock.step(seconds=31)
    engine.deliver()
    assert state(ada.api(), export_id) == "failed"


def test_failing_export_is_retried_and_the_error_logged(
    ada: Person,
    engine: ManualEngine,
    clock: SteppingClock,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    export_id = ask(ada.api())
    away = mock.patch.object(LocalFileStore, "put_from", side_effect=StorageUnavailable("away"))
    with away as put, caplog.at_level(logging.WARNING, logger="app.delivery.worker.jobs"):
        for _ in range(6):
            engine.deliver()
            clock.step(seconds=3600)
    assert put.call_count == 4
    assert state(ada.api(), export_id) == "failed"
    assert f"Export {export_id} is given up: StorageUnavailable" in caplog.messages
    # A failed export does not count towards the daily limit.
    again = ask(ada.api())
    engine.deliver()
    assert state(ada.api(), again) == "ready"


def test_account_deleted_during_an_export_leaves_no_file(
    app: Flask, ada: Person, engine: ManualEngine, hooks: Hooks, folder: Path
) -> None:
    def delete_account(account: Any, session: Any) -> Any:
        # Simulates a deletion by another process.
        accounts = service(Accounts)
        accounts.delete(accounts.get(ada.email))
        yield "gone.json", {}

    hooks.add("exporter", delete_account, "leaving")
    ask(ada.api())
    engine.deliver()
    assert stored(folder) == []


@only_on("sqlite")
def test_stopping_server_leaves_the_export_to_another(app: Flask, ada: Person) -> None:
    export_id = ask(ada.api())
    with app.app_context():
        service(Worker).work(MAKE_EXPORTS, stopping=lambda: True)
        assert service(Exports).get(ada.id, export_id).attempts == 0
        service(Worker).work(MAKE_EXPORTS)
    assert state(ada.api(), export_id) == "ready"


def test_rows_are_read_in_pages(
    app: Flask, ada: Person, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.data_export.PAGE", 10)
    monkeypatch.setattr("app.core.data_export.RANGE_SIZE", 7)
    with app.app_context():
        for number in range(31):
            Frontdesk().notify(f"No {number}", "x", channels=["inapp", "email"], receivers=[ada.id])
    most = 0
    ask_page = ExportReader._fetch

    def count_rows(self: ExportReader, statement: Any) -> list[Any]:
        nonlocal most
        rows = ask_page(self, statement)
        most = max(most, len(rows))
        return rows

    monkeypatch.setattr(ExportReader, "_fetch", count_rows)
    archive = fetch(ada.api())
    assert most == 10
    titles = [f"No {number}" for number in range(31)]
    assert [row["title"] for row in lines(archive, "inbox.jsonl")] == titles
    assert [row["title"] for row in lines(archive, "deliveries.jsonl")] == titles


def test_personal_broadcast_has_the_values_of_the_account(
    app: Flask, ada: Person, person: MakePerson, fetch: Fetch
) -> None:
    ada.api().post("/profiles", json=ADA)
    text: Any = {"title": "For {{ first_name|you }}", "message": "{{ email }}"}
    with app.app_context():
        to, sent = Audience(ids=[ada.id]), service(SentNotifications)
        data: Any = {**text, "channels": ["inapp", "email"]}
        sent.send(person("boss").id, data, to, is_personal=True)
        Frontdesk().notify(**text, channels=["email"], receivers=[ada.id])
    rows = lines(fetch(ada.api()), "deliveries.jsonl")
    assert [(row["title"], row["message"]) for row in rows] == [
        (f"For {ADA['first_name']}", ada.email),
        (text["title"], text["message"]),
    ]
    assert "is_personal" not in rows[0]


def test_invitations_are_only_exported_for_verified_emails(
    app: Flask, ada: Person, person: MakePerson, fetch: Fetch
) -> None:
    slug = ada.api().get("/workspaces/default").json["slug"]
    body = {"emails": ["bob@example.com", "carol@example.com"]}
    ada.api().post(f"/workspaces/{slug}/invitations", 201, json=body)
    bob, carol = person("bob"), person("carol")
    with app.app_context():
        account: Any = service(Accounts).get(carol.email)
        account.email_unverified_since = account.created_at
        service(Accounts).session.commit()
    assert len(lines(fetch(bob.api()), "invitations.jsonl")) == 1
    assert lines(fetch(carol.api()), "invitations.jsonl") == []


def test_request_is_in_the_security_log(ada: Person, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="frontdesk.security"):
        ask(ada.api())
    (line,) = [each for each in caplog.messages if each.startswith("account_export")]
    assert f"account_id={ada.id}" in line


def test_unauthenticated_request_is_rejected(api: Api) -> None:
    api.post("/account/exports", 401, json={})
