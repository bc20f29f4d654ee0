"""Inviting members: who may invite whom, and that invitations do not reveal accounts."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each, new_name
from ..rigs.racing import request, run_concurrently
from .invited import Team, make_team
from .test_members import CASES, TYPES, expect

GRACE = "grace@example.com"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(WORKSPACES__INVITATIONS_PER_HOUR="100")


@pytest.fixture
def team(person: MakePerson, mails: MailOutbox) -> Team:
    return make_team(person, mails)


def test_invitation_is_emailed_and_listed(team: Team, mails: MailOutbox) -> None:
    [invitation] = team.invite(" Grace@Example.com", message="We grow beans.")
    assert (invitation["email"], invitation["type"]) == (GRACE, "member")
    assert (invitation["state"], invitation["sends"]) == ("pending", 1)
    assert invitation["inviter"] == team.olga.email
    mail = mails.assert_sent(GRACE, "invitation to Team", "We grow beans.")
    assert "olga@example.com invited you" in mail.text
    assert "http://localhost:3000/invitation?token=" in mail.html
    assert team.owner.get(team.path).json == [invitation]


def test_quoted_message_is_escaped(team: Team, mails: MailOutbox) -> None:
    team.invite(GRACE, message="<b>now</b>\nor never")
    assert "&lt;b&gt;now&lt;/b&gt;<br>or never" in mails.last(GRACE).html


def without(response: dict[str, Any], *changing: str) -> dict[str, Any]:
    return {**response, **dict.fromkeys(changing)}


def test_invitee_is_no_member_before_accepting(team: Team, ada: Person) -> None:
    team.invite(ada.email)
    ada.api().get("/workspaces/team", 403)
    assert [each["email"] for each in team.owner.get("/workspaces/team/members").json] == [
        team.olga.email
    ]


def test_adding_a_member_invites_known_and_unknown_emails_alike(
    team: Team, ada: Person, mails: MailOutbox
) -> None:
    responses = {}
    for email in (ada.email, GRACE):
        body = {"email": email, "type": "guest"}
        responses[email] = team.owner.post("/workspaces/team/members", json=body).json
    known, unknown = responses.values()
    assert without(known, "email", "created_at") == without(unknown, "email", "created_at")
    assert (known["id"], known["account_id"], known["status"]) == (None, None, "invited")
    assert [mail.text.count("as guest") for mail in mails.sent] == [1, 1]


def test_invitation_does_not_reveal_whether_an_account_exists(team: Team, ada: Person) -> None:
    changing = ("id", "email", "created_at", "sent_at", "expires_at")
    known, unknown = team.invite(ada.email, GRACE)
    assert without(known, *changing) == without(unknown, *changing)


def test_invalid_email_is_named(team: Team) -> None:
    faults = team.owner.post(team.path, 422, json={"emails": [GRACE, "grace"]}).faults
    assert faults == ["json:emails.1"]
    assert team.owner.post(team.path, 422, json={"email": "x"}).faults == ["json:email"]
    members = "/workspaces/team/members"
    assert team.owner.post(members, 422, json={"email": "x"}).faults == ["json:email"]
    assert team.owner.get(team.path).json == []


@for_each(
    ("body", "fault"),
    [
        ({}, "json:email"),
        ({"email": GRACE, "emails": [GRACE]}, "json:email"),
        ({"emails": []}, "json:emails"),
        ({"emails": [GRACE] * 51}, "json:emails"),
        ({"emails": GRACE}, "json:emails"),
        ({"emails": [7]}, "json:emails.0"),
        ({"email": GRACE, "type": "king"}, "json:type"),
        ({"email": GRACE, "message": "x" * 501}, "json:message"),
    ],
)
def test_invalid_body_is_a_422(team: Team, body: dict[str, Any], fault: str) -> None:
    assert team.owner.post(team.path, 422, json=body).faults == [fault]


def test_repeated_emails_are_invited_once(team: Team, mails: MailOutbox) -> None:
    invited = team.invite("a@example.com", "b@example.com", "A@example.com")
    assert [each["email"] for each in invited] == ["a@example.com", "b@example.com"]
    assert [mail.to for mail in mails.sent] == ["a@example.com", "b@example.com"]


def test_existing_member_is_named_and_nothing_sent(team: Team, mails: MailOutbox) -> None:
    body = {"emails": [GRACE, team.olga.email]}
    response = team.owner.post(team.path, 409, json=body)
    assert (response.json["code"], response.json["emails"]) == (
        "already_a_member",
        [team.olga.email],
    )
    mails.assert_empty()


@for_each(("actor", "other", "allowed"), CASES)
def test_invite_by_type(
    team: Team, person: MakePerson, actor: str, other: str, allowed: bool
) -> None:
    api = team.admit(person(new_name("actor")), actor)
    grace = f"{new_name('grace')}@example.com"
    body = {"email": grace, "type": other}
    api.post(team.path, 201 if allowed else 403, json=body)
    listed = [each for each in team.owner.get(team.path).json if each["email"] == grace]
    assert [each["type"] for each in listed] == [other] * allowed


@for_each(("actor", "other", "allowed"), CASES)
def test_revoke_and_resend_by_type(
    team: Team, person: MakePerson, actor: str, other: str, allowed: bool
) -> None:
    [invitation] = team.invite(f"{new_name('grace')}@example.com", type=other)
    api = team.admit(person(new_name("actor")), actor)
    path = f"{team.path}/{invitation['id']}"
    api.post(f"{path}/resend", 429 if allowed else 403)
    api.delete(path, expect(allowed))
    [listed] = [each for each in team.owner.get(team.path).json if each["id"] == invitation["id"]]
    assert listed["state"] == ("revoked" if allowed else "pending")


@for_each("kind", TYPES)
def test_only_managers_list_invitations(team: Team, person: MakePerson, kind: str) -> None:
    manages = kind in ("owner", "admin")
    team.admit(person(new_name("actor")), kind).get(team.path, expect(manages))
    person(new_name("outsider")).api().get(team.path, 403)


def test_admin_cannot_change_an_owners_invitation(team: Team, person: MakePerson) -> None:
    team.invite(GRACE, type="owner")
    admin = team.admit(person("actor"), "admin")
    admin.post(team.path, 403, json={"email": GRACE, "type": "guest"})
    assert team.owner.get(team.path).json[0]["type"] == "owner"


def test_repeated_invitation_is_emailed_again_at_intervals(
    team: Team, mails: MailOutbox, clock: SteppingClock
) -> None:
    [first] = team.invite(GRACE)
    [again] = team.invite(GRACE, type="guest")
    assert (again["id"], again["sends"], again["type"]) == (first["id"], 1, "guest")
    for _ in range(6):
        clock.step(minutes=1)
        [last] = team.invite(GRACE)
    assert (last["id"], last["sends"], len(mails)) == (first["id"], 5, 5)
    assert last["expires_at"] > first["expires_at"]


def test_resend_is_limited_to_one_a_minute_and_five_in_total(
    team: Team, mails: MailOutbox, clock: SteppingClock
) -> None:
    [invitation] = team.invite(GRACE)
    path = f"{team.path}/{invitation['id']}/resend"
    clock.step(seconds=20)
    assert 0 < int(team.owner.post(path, 429).headers["Retry-After"]) <= 40
    for sends in range(2, 6):
        clock.step(minutes=1)
        assert team.owner.post(path).json["sends"] == sends
    clock.step(minutes=1)
    assert team.owner.post(path, 409).json["code"] == "quota_reached"
    assert len(mails.to(GRACE)) == 5


def test_expired_invitation_can_be_replaced(team: Team, clock: SteppingClock) -> None:
    [old] = team.invite(GRACE)
    clock.step(days=7)
    team.refresh()
    assert team.owner.get(team.path).json[0]["state"] == "expired"
    assert team.owner.get(f"{team.path}?state=pending").json == []
    team.owner.post(f"{team.path}/{old['id']}/resend", 409)
    [new] = team.invite(GRACE)
    assert new["id"] != old["id"]
    listed = {state: team.owner.get(f"{team.path}?state={state}").json for state in STATES}
    assert [each["id"] for each in listed["expired"]] == [old["id"]]
    assert [each["id"] for each in listed["pending"]] == [new["id"]]


STATES = ("pending", "accepted", "declined", "revoked", "expired")


def test_revoked_invitation_cannot_be_changed(team: Team) -> None:
    [invitation] = team.invite(GRACE)
    path = f"{team.path}/{invitation['id']}"
    assert team.owner.delete(path).json["state"] == "revoked"
    assert team.owner.delete(path, 409).json["code"] == "invitation_closed"
    team.owner.post(f"{path}/resend", 409)
    team.owner.get(f"{team.path}?state=open", 422)


def test_invitation_of_another_workspace_is_not_found(team: Team, ada: Person) -> None:
    [invitation] = team.invite(GRACE)
    for path in (f"{invitation['id']}", "999", f"{10**30}"):
        ada.api().delete(f"/workspaces/ada/invitations/{path}", 404)
        ada.api().post(f"/workspaces/ada/invitations/{path}/resend", 404)


def test_list_is_paginated_newest_first(team: Team) -> None:
    team.invite("a@example.com", "b@example.com", "c@example.com")
    page = team.owner.get(f"{team.path}?offset=1&limit=1")
    assert [each["email"] for each in page.json] == ["b@example.com"]
    assert 'rel="next"' in page.headers["Link"]


def test_concurrent_invitations_of_one_email_create_one(team: Team, mails: MailOutbox) -> None:
    invite = request(team.owner, "POST", team.path, json={"email": GRACE})
    assert run_concurrently(*[invite] * 6) == [201] * 6
    assert len(team.owner.get(team.path).json) == len(mails.to(GRACE)) == 1


def test_invitations_per_hour_are_limited(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(WORKSPACES__INVITATIONS_PER_HOUR="3")
    team = make_team(lambda name: person(name, into=app), mails)
    team.invite("a@example.com", "b@example.com")
    response = team.owner.post(team.path, 429, json={"emails": ["c@example.com", "d@example.com"]})
    assert 3000 < int(response.headers["Retry-After"]) <= 3600
    # Rejected requests and repeated invitations do not count.
    team.owner.post(team.path, 409, json={"email": team.olga.email})
    team.invite("a@example.com")
    team.invite("c@example.com")
    team.owner.post(team.path, 429, json={"email": "d@example.com"})


@only_on("sqlite")
def test_hourly_limit_ends_after_an_hour(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    """Only on SQLite: tests cannot advance the clock of Redis."""
    app = make_app(WORKSPACES__INVITATIONS_PER_HOUR="1")
    team = make_team(lambda name: person(name, into=app), mails)
    team.invite(GRACE)
    team.owner.post(team.path, 429, json={"email": "d@example.com"})
    clock.step(hours=1)
    team.refresh()
    team.invite("d@example.com")


def test_hourly_limit_is_exact_under_concurrency(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(WORKSPACES__INVITATIONS_PER_HOUR="4")
    team = make_team(lambda name: person(name, into=app), mails)
    invites = [
        request(team.owner, "POST", team.path, json={"email": f"{number}@example.com"})
        for number in range(8)
    ]
    assert run_concurrently(*invites) == [201] * 4 + [429] * 4
    assert len(mails) == 4


def test_pending_invitations_per_workspace_are_limited(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(WORKSPACES__PENDING_LIMIT="2")
    team = make_team(lambda name: person(name, into=app), mails)
    first, _ = team.invite("a@example.com", "b@example.com")
    assert team.owner.post(team.path, 409, json={"email": GRACE}).json["code"] == "quota_reached"
    team.invite("a@example.com")
    team.owner.delete(f"{team.path}/{first['id']}")
    team.invite(GRACE)


def test_admin_demoted_during_the_request_cannot_invite(
    team: Team, person: MakePerson, monkeypatch: pytest.MonkeyPatch, mails: MailOutbox
) -> None:
    """The decorator accepts the admin, and an owner demotes the admin before the invitation."""
    from app.workspaces.invitations.service import Invitations

    admin = person("admin")
    api = team.admit(admin, "admin")
    original = Invitations.invite

    def demote_then_invite(self: Invitations, *args: Any) -> Any:
        monkeypatch.setattr(Invitations, "invite", original)
        team.owner.patch(f"/workspaces/team/members/{admin.id}", json={"type": "guest"})
        return self.invite(*args)

    monkeypatch.setattr(Invitations, "invite", demote_then_invite)
    api.post(team.path, 403, json={"email": GRACE})
    mails.assert_empty()


def test_listeners_are_notified_of_new_invitations(app: Flask, team: Team) -> None:
    invited: list[str] = []
    actions = app.extensions["frontdesk"].actions
    actions.on("invitation-created", lambda invitation, _: invited.append(invitation.email))
    team.invite(GRACE)
    team.invite(GRACE)
    assert invited == [GRACE]


def test_emailed_invitation_expires(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    app = make_app(WORKSPACES__INVITATION_DAYS="1")
    team = make_team(lambda name: person(name, into=app), mails)
    team.invite(GRACE)
    clock.step(hours=23)
    Api(app).get(f"/invitation?token={team.secret(GRACE)}")
    clock.step(hours=1)
    Api(app).get(f"/invitation?token={team.secret(GRACE)}", 400)


def test_old_invitations_are_pruned(team: Team, app: Flask, clock: SteppingClock) -> None:
    team.invite("early@example.com")
    clock.step(days=8)
    team.refresh()
    team.invite("late@example.com")
    runner = app.test_cli_runner()
    clock.step(days=88)
    assert '"invitations":0' in runner.invoke(args=["frontdesk", "prune"]).output
    clock.step(days=2)
    assert '"invitations":1' in runner.invoke(args=["frontdesk", "prune"]).output
    team.refresh()
    assert [each["email"] for each in team.owner.get(team.path).json] == ["late@example.com"]
