"""Account deletion: requested by the owner, delayed by the grace period, and undone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.auth.step_up.service import Freshness
from app.core.context import service
from app.deletion.assembly import DELETE_ACCOUNTS
from app.deletion.service import Deletion
from app.delivery.worker.worker import Worker
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..auth.test_email_change import mailed
from ..auth.test_login import listen_to, log_in
from ..conftest import PASSWORD, MakeApp, MakePerson, Person, only_on
from ..registration.visitors import emails
from ..rigs.cases import for_each
from ..rigs.manual_engine import ManualEngine
from ..rigs.racing import request, run_concurrently

ADA = "ada@example.com"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__ACCOUNT_DELETION="on")


def restore(api: Api, token: str, status: int = 200) -> Answer:
    return api.as_token(None).post("/account/restore", status, json={"token": token})


def sweep(app: Flask) -> int:
    with app.app_context():
        return service(Deletion).delete_due()


def test_deletion_is_off_by_default(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app()
    here = Api(app, token=person("ada", into=app).token())
    for client in (here, Api(app)):
        assert client.delete("/account", 404).json["code"] == "feature_off"
    assert emails(app) == [ADA]


def test_requested_deletion_signs_out_and_blocks_sign_in(
    ada: Person, api: Api, mails: MailOutbox, clock: SteppingClock
) -> None:
    here = ada.api()
    response = here.delete("/account", 202).json
    remaining = datetime.fromisoformat(response["deletes_at"]) - clock.now()
    assert timedelta(days=13, hours=23) < remaining <= timedelta(days=14)
    here.get("/account", 401)
    rejected = log_in(api, ADA, PASSWORD, 400)
    assert (rejected.detail, rejected.json["code"]) == ("Inactive account", "account_deleting")
    assert log_in(api, ADA, "wrong", 400).json["code"] == "incorrect_credentials"
    text = mails.last(ADA).text
    assert "http://localhost:3000/keep-account?token=" in text
    assert re.search(r"deleted on \d+ [A-Z][a-z]{2} \d{4}\.", text)


def test_emailed_link_restores_the_account_and_can_be_opened_twice(
    ada: Person, api: Api, mails: MailOutbox, clock: SteppingClock
) -> None:
    here = ada.api()
    here.delete("/account", 202)
    token, _ = mailed(mails, ADA)
    api.get(f"/account/restore?token={token}", 405)
    log_in(api, ADA, PASSWORD, 400)
    for _ in range(2):
        assert restore(api, token).json == {"message": "The account is kept"}
    here.get("/account", 401)
    log_in(api, ADA, PASSWORD)
    clock.step(days=15)
    assert sweep(ada.app) == 0
    assert emails(ada.app) == [ADA]


def test_earlier_email_does_not_undo_a_later_request(
    ada: Person, api: Api, mails: MailOutbox, clock: SteppingClock
) -> None:
    ada.api().delete("/account", 202)
    first, _ = mailed(mails, ADA)
    restore(api, first)
    clock.step(minutes=1)
    ada.api().delete("/account", 202)
    restore(api, first, 400)
    restore(api, mailed(mails, ADA)[0])


def test_account_is_deleted_after_the_grace_period(
    ada: Person, api: Api, mails: MailOutbox, clock: SteppingClock
) -> None:
    deleted: list[str] = []
    listen_to(ada.app, "account-deleted", lambda account, _: deleted.append(account.email))
    ada.api().delete("/account", 202)
    token, _ = mailed(mails, ADA)
    clock.step(days=13, hours=23)
    assert sweep(ada.app) == 0
    clock.step(hours=2)
    restore(api, token, 400)
    runner = ada.app.test_cli_runner()
    assert '"deleted_accounts":1' in runner.invoke(args=["frontdesk", "prune"]).output
    assert (emails(ada.app), deleted) == ([], [ADA])


def test_delivery_worker_carries_out_deletions(
    ada: Person, engine: ManualEngine, clock: SteppingClock
) -> None:
    ada.api().delete("/account", 202)
    engine.deliver()
    clock.step(days=13, hours=23)
    engine.deliver()
    assert emails(ada.app) == [ADA]
    clock.step(hours=2)
    engine.deliver()
    assert emails(ada.app) == []


def test_worker_checks_for_deletions_once_a_minute(
    ada: Person, engine: ManualEngine, clock: SteppingClock
) -> None:
    def deletion_queries() -> int:
        with noted_queries(ada.app) as statements:
            engine.deliver()
        return sum("frontdesk_account_deletions" in each for each in statements)

    assert (deletion_queries(), deletion_queries()) == (1, 0)
    clock.step(seconds=61)
    assert deletion_queries() == 1
    with ada.app.app_context():
        due = service(Worker).tasks[DELETE_ACCOUNTS]
        assert due.seconds_until_due() is None
        ada.api().delete("/account", 202)
        wait = due.seconds_until_due()
    assert wait is not None
    assert timedelta(days=13) < timedelta(seconds=wait) <= timedelta(days=14)


def test_failed_deletion_does_not_block_others(
    app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    def reject(account: Any, _: object) -> None:
        if account.email == ADA:
            raise RuntimeError("not yet")

    listen_to(app, "account-deleted", reject)
    for name in ("ada", "grace", "mary"):
        person(name).api().delete("/account", 202)
    clock.step(days=15)
    with app.app_context():
        assert service(Deletion).delete_due(batch=1) == 2
    assert emails(app) == [ADA]


def test_reactivation_by_an_operator_cancels_the_deletion(
    ada: Person, api: Api, clock: SteppingClock
) -> None:
    ada.api().delete("/account", 202)
    ada.change(status="active")
    log_in(api, ADA, PASSWORD)
    clock.step(days=15)
    assert sweep(ada.app) == 0
    assert emails(ada.app) == [ADA]


def test_deletion_without_grace_period_is_immediate_and_notifies_the_owner(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__ACCOUNT_DELETION="on", AUTH__ACCOUNT_DELETION_DAYS="0")
    here = Api(app, token=person("ada", into=app).token())
    assert here.delete("/account", json={"password": PASSWORD}).json == {
        "message": "Account deleted"
    }
    here.get("/account", 404)
    mails.assert_sent(ADA, "your account was deleted")
    assert emails(app) == []


@only_on("sqlite")
def test_stale_sign_in_needs_the_password_and_wrong_passwords_are_counted(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__ACCOUNT_DELETION="on", AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60")
    here = Api(app, token=person("ada", into=app).token())
    clock.step(minutes=16)
    assert here.delete("/account", 403).json["code"] == "fresh_sign_in_required"
    for _ in range(5):
        here.delete("/account", 400, json={"password": "wrong"})
    here.delete("/account", 429, json={"password": PASSWORD})
    clock.step(minutes=6)
    here.delete("/account", 422, json=["no object"])
    here.delete("/account", 202, json={"password": PASSWORD})


def test_last_active_root_cannot_be_deleted(app: Flask, person: MakePerson) -> None:
    roots = [person(name, role="root") for name in ("ada", "grace")]
    first, second = (each.api() for each in roots)
    first.delete("/account", 202)
    assert second.delete("/account", 409).json["code"] == "last_root"


def test_deletion_by_a_sole_owner_names_the_shared_workspaces(
    app: Flask, person: MakePerson
) -> None:
    ada, grace = person("ada"), person("grace")
    here = ada.api()
    here.post("/workspaces", json={"name": "Team", "slug": "team"})
    share(app, "team", "grace@example.com", "member")
    rejected = here.delete("/account", 409).json
    assert (rejected["code"], rejected["workspaces"]) == ("sole_owner", ["team"])
    share(app, "team", "grace@example.com", "owner")
    here.delete("/account", 202)
    rejected = grace.api().delete("/account", 409).json
    assert rejected["workspaces"] == ["team"], "the other owner is being deleted"


def test_concurrent_deletions_keep_one_owner(app: Flask, person: MakePerson) -> None:
    ada, grace = person("ada"), person("grace")
    here = ada.api()
    here.post("/workspaces", json={"name": "Team", "slug": "team"})
    share(app, "team", "grace@example.com", "owner")
    person("mary")
    share(app, "team", "mary@example.com", "member")
    calls = [request(each.api(), "DELETE", "/account") for each in (ada, grace)]
    assert run_concurrently(*calls) == [202, 409]


@pytest.fixture
def team(app: Flask, person: MakePerson) -> tuple[Person, Person]:
    """Ada and Grace own a workspace, and Mary is a member of it."""
    ada, grace, mary = person("ada"), person("grace"), person("mary")
    ada.api().post("/workspaces", json={"name": "Team", "slug": "team"})
    share(app, "team", grace.email, "owner")
    share(app, "team", mary.email, "member")
    return ada, grace


def member_types(person: Person) -> dict[str, str]:
    members = person.api().get("/workspaces/team/members").json
    return {member["email"].partition("@")[0]: member["type"] for member in members}


def test_owner_cannot_leave_while_the_other_owner_is_being_deleted(
    team: tuple[Person, Person],
) -> None:
    ada, grace = team
    here = grace.api()
    ada.api().delete("/account", 202)
    path = f"/workspaces/team/members/{grace.id}"
    assert here.delete(path, 409).json["code"] == "last_owner"
    here.patch(path, 409, json={"type": "member"})
    assert member_types(grace)["grace"] == "owner"


@for_each("status", ["suspended", "inactive"])
def test_inactive_owner_does_not_count(team: tuple[Person, Person], status: str) -> None:
    ada, grace = team
    ada.change(status=status)
    here = grace.api()
    here.delete(f"/workspaces/team/members/{grace.id}", 409)
    assert here.delete("/account", 409).json["workspaces"] == ["team"]
    ada.change(status="active")


def test_owner_counts_again_when_the_suspension_ends(
    team: tuple[Person, Person], person: MakePerson, clock: SteppingClock
) -> None:
    ada, grace = team
    until = (clock.now() + timedelta(minutes=5)).isoformat()
    root = person("root", role="root").api()
    root.patch(f"/admin/accounts/{ada.id}", json={"status": "suspended", "suspended_until": until})
    path = f"/workspaces/team/members/{grace.id}"
    here = grace.api()
    here.delete(path, 409)
    clock.step(minutes=6)
    here.delete(path)


def test_admin_cannot_delete_the_last_active_owner(
    team: tuple[Person, Person], person: MakePerson
) -> None:
    ada, grace = team
    ada.change(status="suspended")
    root = person("root", role="root").api()
    rejected = root.delete(f"/admin/accounts/{grace.id}", 409).json
    assert (rejected["code"], rejected["workspaces"]) == ("sole_owner", ["team"])


def test_owner_leaving_during_a_deletion_leaves_an_owner(team: tuple[Person, Person]) -> None:
    ada, grace = team
    leave = request(grace.api(), "DELETE", f"/workspaces/team/members/{grace.id}")
    statuses = run_concurrently(request(ada.api(), "DELETE", "/account"), leave)
    assert statuses in ([202, 409], [200, 409])


@for_each("kind", ["admin", "member"])
def test_longest_serving_member_becomes_owner_when_a_due_deletion_leaves_none(
    app: Flask, person: MakePerson, clock: SteppingClock, kind: str
) -> None:
    ada, grace, mary = (person(f"{name}-{kind}") for name in ("ada", "grace", "mary"))
    ada.api().post("/workspaces", json={"name": "Team", "slug": f"team-{kind}"})
    share(app, f"team-{kind}", grace.email, "owner")
    share(app, f"team-{kind}", mary.email, "member")
    later = person(f"later-{kind}")
    share(app, f"team-{kind}", later.email, kind)
    ada.api().delete("/account", 202)
    # An admin suspends the other owner after the deletion was requested.
    grace.change(status="suspended")
    clock.step(days=15)
    assert sweep(app) == 1
    owner = later if kind == "admin" else mary
    assert owner.api().get(f"/workspaces/team-{kind}").json["type"] == "owner"


def test_due_deletion_appoints_neither_a_guest_nor_an_inactive_account(
    app: Flask, team: tuple[Person, Person], person: MakePerson, clock: SteppingClock
) -> None:
    ada, grace = team
    gus = person("gus")
    share(app, "team", gus.email, "guest")
    share(app, "team", "mary@example.com", "admin")
    Person(app, None, "mary@example.com").change(status="inactive")
    ada.api().delete("/account", 202)
    grace.change(status="suspended")
    clock.step(days=15)
    assert sweep(app) == 1
    assert member_types(gus) == {"grace": "owner", "mary": "admin", "gus": "guest"}


def test_due_deletion_changes_no_workspace_that_has_another_active_owner(
    app: Flask, team: tuple[Person, Person], clock: SteppingClock
) -> None:
    ada, grace = team
    ada.api().delete("/account", 202)
    clock.step(days=15)
    assert sweep(app) == 1
    assert member_types(grace) == {"grace": "owner", "mary": "member"}


def share(app: Flask, slug: str, email: str, kind: str) -> None:
    result = app.test_cli_runner().invoke(args=["workspaces", "add", slug, email, "--type", kind])
    assert result.exit_code == 0, result.output


def test_concurrent_requests_delete_once(ada: Person, mails: MailOutbox) -> None:
    here = ada.api()
    responses = run_concurrently(*[request(here, "DELETE", "/account")] * 4)
    assert responses.count(202) == 1
    assert set(responses) == {202, 401}
    assert len(mails) == 1


def test_sign_out_during_the_request_rejects_the_deletion(
    ada: Person, mails: MailOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = ada.api(), ada.api()
    check = Freshness.check

    def check_then_sign_out(self: Freshness, *args: Any, **options: Any) -> None:
        check(self, *args, **options)
        run_concurrently(request(elsewhere, "DELETE", "/logout"))

    monkeypatch.setattr(Freshness, "check", check_then_sign_out)
    here.delete("/account", 401)
    assert emails(ada.app) == [ADA]
    assert len(mails) == 0


def test_undoing_an_email_change_cancels_the_deletion(
    ada: Person, api: Api, mails: MailOutbox
) -> None:
    attacker = ada.api()
    attacker.post("/account/email", 202, json={"email": "attacker@example.com"})
    body = {"token": mailed(mails, "attacker@example.com")[0]}
    attacker = attacker.as_token(
        attacker.post("/account/email/confirm", json=body).json["access_token"]
    )
    attacker.delete("/account", 202)
    api.post("/account/email/undo", json={"token": mailed(mails, ADA)[0]})
    with ada.app.app_context():
        account = service(Accounts).get(ADA)
        assert (account.status, account.password_hash) == ("active", None)
    restore(api, mailed(mails, "attacker@example.com")[0])


def test_listeners_are_notified_of_request_and_restoration(
    ada: Person, api: Api, mails: MailOutbox
) -> None:
    statuses: list[str] = []
    for event in ("account-deletion-requested", "account-restored"):
        listen_to(ada.app, event, lambda account, _: statuses.append(account.status))
    ada.api().delete("/account", 202)
    restore(api, mailed(mails, ADA)[0])
    assert statuses == ["deleting", "active"]


@for_each("token", ["x", "00000000", "WyIxIiwiMSJd.aaaaaa.bbbbbb", "a" * 1025])
def test_malformed_token_is_rejected(api: Api, token: str) -> None:
    restore(api, token, 422 if len(token) > 1024 else 400)
