"""Email verification: by link, code, invitation, password reset, and identity provider."""

from __future__ import annotations

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..auth.test_login import listen_to
from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.racing import run_concurrently
from ..workspaces.invited import Team, make_team
from .visitors import ADA, GROUPED, Visitor, emails, grouped


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__REGISTRATION="open")


@pytest.fixture
def visitor(app: Flask, mails: MailOutbox) -> Visitor:
    visitor = Visitor(app, mails)
    visitor.register()
    return visitor


def test_link_opens_a_page_and_get_changes_nothing(visitor: Visitor) -> None:
    token, _ = visitor.mailed()
    assert f"http://localhost:3000/verify?token={token}" in visitor.mails.last(ADA).text
    visitor.api.get(f"/email-verification?token={token}", 405)
    visitor.log_in(400)


def test_code_verifies_only_its_own_email(visitor: Visitor) -> None:
    _, code = visitor.mailed()
    assert visitor.verify(code, 422).faults == ["json:email"]
    visitor.verify(code, 400, email="eve@example.com")
    visitor.verify(f"{(int(code) + 1) % 10**8:08d}", 400, email=ADA)
    assert visitor.verify(code, email=ADA).json == {"message": "Email verified"}
    visitor.log_in()


@pytest.mark.parametrize("pattern", GROUPED)
def test_code_may_be_grouped_by_spaces_or_hyphens(visitor: Visitor, pattern: str) -> None:
    visitor.verify(grouped(visitor.mailed()[1], pattern), email=visitor.email)


def test_five_wrong_codes_invalidate_the_code_and_not_the_link(visitor: Visitor) -> None:
    token, code = visitor.mailed()
    for step in range(1, 6):
        visitor.verify(f"{(int(code) + step) % 10**8:08d}", 400, email=ADA)
    visitor.verify(code, 400, email=ADA)
    visitor.verify(token)


def test_link_can_be_opened_twice(visitor: Visitor) -> None:
    notified: list[object] = []
    for event in ("account-registered", "email-verified"):
        listen_to(visitor.app, event, lambda account, _: notified.append(account.email))
    token, _ = visitor.mailed()
    responses = run_concurrently(*[lambda: visitor.verify(token).status] * 6)
    assert responses == [200] * 6
    visitor.verify(token)
    assert notified.count(ADA) >= 2
    with visitor.app.app_context():
        account = service(Accounts).get(ADA)
        assert account.current_workspace_id is not None
    assert len(visitor.log_in().json["workspaces"]) == 1


@only_on("sqlite")
def test_link_and_code_expire(visitor: Visitor, clock: SteppingClock) -> None:
    token, code = visitor.mailed()
    clock.step(minutes=11)
    visitor.verify(code, 400, email=ADA)
    clock.step(hours=48)
    visitor.verify(token, 400)


def test_reset_and_verification_tokens_are_not_interchangeable(visitor: Visitor) -> None:
    token, _ = visitor.mailed()
    body = {"token": token, "new_password": "yet another password"}
    visitor.api.post("/reset-password", 400, json=body)
    visitor.api.post("/password-recovery", json={"email": ADA})
    visitor.verify(visitor.mailed()[0], 400)


def test_password_reset_verifies_the_email(visitor: Visitor) -> None:
    visitor.api.post("/password-recovery", json={"email": ADA})
    visitor.password = "yet another password"
    body = {"token": visitor.mailed()[0], "new_password": visitor.password}
    visitor.api.post("/reset-password", json=body)
    assert visitor.log_in().json["account"]["status"] == "active"


@only_on("sqlite")
def test_email_is_sent_again_with_the_same_response_for_unknown_emails(
    visitor: Visitor, clock: SteppingClock, person: MakePerson
) -> None:
    person("grace")
    first, code = visitor.mailed()
    clock.step(minutes=2)
    responses = [
        visitor.api.post("/email-verification/mail", 202, json={"email": email}).response.data
        for email in (ADA, "grace@example.com", "unknown@example.com")
    ]
    assert len(set(responses)) == 1
    assert [mail.to for mail in visitor.mails.sent] == [ADA, ADA]
    visitor.verify(code, 400, email=ADA)
    visitor.verify(first)


@only_on("sqlite")
def test_emails_to_one_address_are_limited_to_one_a_minute_and_five_an_hour(
    make_app: MakeApp, mails: MailOutbox, clock: SteppingClock
) -> None:
    app = make_app(AUTH__REGISTRATION="open", AUTH__REGISTRATION_ADDRESS_LIMIT="99 per hour")
    visitor = Visitor(app, mails)
    visitor.register()
    for _ in range(12):
        visitor.api.post("/email-verification/mail", 202, json={"email": ADA})
        visitor.api.post("/email-verification/mail", 202, json={"email": ADA})
        clock.step(minutes=4)
    assert len(visitor.mails) == 5


def test_unverified_accounts_are_pruned(
    visitor: Visitor, clock: SteppingClock, person: MakePerson
) -> None:
    person("grace")
    runner = visitor.app.test_cli_runner()
    clock.step(days=6)
    Visitor(visitor.app, visitor.mails, "late@example.com").register()
    assert '"unverified_accounts":0' in runner.invoke(args=["frontdesk", "prune"]).output
    clock.step(days=2)
    assert '"unverified_accounts":1' in runner.invoke(args=["frontdesk", "prune"]).output
    assert emails(visitor.app) == ["grace@example.com", "late@example.com"]


@pytest.fixture
def team(person: MakePerson, mails: MailOutbox) -> Team:
    return make_team(person, mails)


def test_registration_with_an_invitation_joins_the_workspace(
    make_app: MakeApp, mails: MailOutbox, person: MakePerson
) -> None:
    app = make_app(AUTH__REGISTRATION="invited")
    team = make_team(person, mails)
    team.invite(ADA, type="admin")
    visitor = Visitor(app, mails)
    assert visitor.register(403).json["code"] == "registration_closed"
    eve = Visitor(app, mails, "eve@example.com")
    assert eve.register(403, invitation=team.secret(ADA)).json["code"] == "other_address"
    assert visitor.register(400, invitation="no such secret").detail == "Invalid token"
    response = visitor.register(201, invitation=team.secret(ADA)).json
    api = Api(app, token=response["access_token"])
    assert api.get("/workspaces/team").json["type"] == "admin"
    assert api.get("/invitations").json == []
    visitor.register(400, invitation=team.secret(ADA))


def test_invitation_creates_no_account_where_registration_is_closed(
    make_app: MakeApp, mails: MailOutbox, person: MakePerson
) -> None:
    app = make_app()
    team = make_team(person, mails)
    team.invite(ADA)
    Visitor(app, mails).register(403, invitation=team.secret(ADA))


def test_invitation_replaces_an_unverified_registration(visitor: Visitor, team: Team) -> None:
    team.invite(ADA)
    owner = Visitor(visitor.app, visitor.mails, password="the owner's own password")
    owner.register(201, invitation=team.secret(ADA))
    visitor.log_in(400)
    owner.log_in()


def test_invitee_with_an_account_cannot_register(team: Team, app: Flask, ada: Person) -> None:
    team.invite(ADA)
    visitor = Visitor(app, team.mails)
    assert visitor.register(409, invitation=team.secret(ADA)).json["code"] == "email_taken"


def test_accepting_an_emailed_invitation_verifies_the_email(
    make_app: MakeApp, mails: MailOutbox, person: MakePerson
) -> None:
    app = make_app(AUTH__REGISTRATION="open", AUTH__EMAIL_VERIFICATION="off")
    team = make_team(person, mails)
    api = Api(app, token=Visitor(app, mails).register(201).json["access_token"])
    team.invite(ADA)
    api.get("/invitations", 403)
    api.post("/invitation/accept", json={"token": team.secret(ADA)})
    assert api.get("/invitations").json == []
