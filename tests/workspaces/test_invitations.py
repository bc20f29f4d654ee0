"""Inviting into a workspace: what its owners and admins may do, and what they never learn."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each, newly
from ..rigs.racing import at_once, request
from .invited import Team, make_team
from .test_members import CASES, TYPES, expect

GRACE = "grace@example.com"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(WORKSPACES__INVITATIONS_PER_HOUR="100")


@pytest.fixture
def team(person: MakePerson, mails: MailOutbox) -> Team:
    return make_team(person, mails)


def test_an_invitation_is_mailed_and_listed(team: Team, mails: MailOutbox) -> None:
    [invitation] = team.invite(" Grace@Example.com", message="We grow beans.")
    assert (invitation["email"], invitation["type"]) == (GRACE, "member")
    assert (invitation["state"], invitation["sends"]) == ("pending", 1)
    assert invitation["inviter"] == team.olga.email
    mail = mails.assert_sent(GRACE, "an invitation to Team", "We grow beans.")
    assert "olga@example.com invites you" in mail.text
    assert "http://localhost:3000/invitation?token=" in mail.html
    assert team.boss.get(team.path).json == [invitation]


def test_what_a_mail_quotes_is_escaped(team: Team, mails: MailOutbox) -> None:
    team.invite(GRACE, message="<b>now</b>\nor never")
    assert "&lt;b&gt;now&lt;/b&gt;<br>or never" in mails.last(GRACE).html


def but_for(answer: dict[str, Any], *own: str) -> dict[str, Any]:
    return {**answer, **dict.fromkeys(own)}


def test_nobody_is_a_member_before_they_accept(team: Team, ada: Person) -> None:
    team.invite(ada.email)
    ada.api().get("/workspaces/team", 403)
    assert [each["email"] for each in team.boss.get("/workspaces/team/members").json] == [
        team.olga.email
    ]


def test_adding_a_member_invites_known_and_unknown_alike(
    team: Team, ada: Person, mails: MailOutbox
) -> None:
    answers = {}
    for email in (ada.email, GRACE):
        body = {"email": email, "type": "guest"}
        answers[email] = team.boss.post("/workspaces/team/members", json=body).json
    known, unknown = answers.values()
    assert but_for(known, "email", "created_at") == but_for(unknown, "email", "created_at")
    assert (known["id"], known["account_id"], known["status"]) == (None, None, "invited")
    assert [mail.text.count("as guest") for mail in mails.sent] == [1, 1]


def test_an_invitation_does_not_tell_the_known_from_the_unknown(team: Team, ada: Person) -> None:
    own = ("id", "email", "created_at", "sent_at", "expires_at")
    known, unknown = team.invite(ada.email, GRACE)
    assert but_for(known, *own) == but_for(unknown, *own)


def test_what_is_no_address_is_named(team: Team) -> None:
    faults = team.boss.post(team.path, 422, json={"emails": [GRACE, "grace"]}).faults
    assert faults == ["json:emails.1"]
    assert team.boss.post(team.path, 422, json={"email": "x"}).faults == ["json:email"]
    members = "/workspaces/team/members"
    assert team.boss.post(members, 422, json={"email": "x"}).faults == ["json:email"]
    assert team.boss.get(team.path).json == []


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
def test_an_invitation_is_asked_for_in_the_right_form(
    team: Team, body: dict[str, Any], fault: str
) -> None:
    assert team.boss.post(team.path, 422, json=body).faults == [fault]


def test_of_many_addresses_each_is_invited_once(team: Team, mails: MailOutbox) -> None:
    invited = team.invite("a@example.com", "b@example.com", "A@example.com")
    assert [each["email"] for each in invited] == ["a@example.com", "b@example.com"]
    assert [mail.to for mail in mails.sent] == ["a@example.com", "b@example.com"]


def test_who_is_a_member_is_named_and_nobody_invited(team: Team, mails: MailOutbox) -> None:
    body = {"emails": [GRACE, team.olga.email]}
    answer = team.boss.post(team.path, 409, json=body)
    assert (answer.json["code"], answer.json["emails"]) == (
        "already_a_member",
        [team.olga.email],
    )
    mails.assert_empty()


@for_each(("actor", "other", "allowed"), CASES)
def test_who_may_invite_whom(
    team: Team, person: MakePerson, actor: str, other: str, allowed: bool
) -> None:
    api = team.admit(person(newly("actor")), actor)
    grace = f"{newly('grace')}@example.com"
    body = {"email": grace, "type": other}
    api.post(team.path, 201 if allowed else 403, json=body)
    listed = [each for each in team.boss.get(team.path).json if each["email"] == grace]
    assert [each["type"] for each in listed] == [other] * allowed


@for_each(("actor", "other", "allowed"), CASES)
def test_who_may_take_back_whose_invitation(
    team: Team, person: MakePerson, actor: str, other: str, allowed: bool
) -> None:
    [invitation] = team.invite(f"{newly('grace')}@example.com", type=other)
    api = team.admit(person(newly("actor")), actor)
    path = f"{team.path}/{invitation['id']}"
    api.post(f"{path}/resend", 429 if allowed else 403)
    api.delete(path, expect(allowed))
    [listed] = [each for each in team.boss.get(team.path).json if each["id"] == invitation["id"]]
    assert listed["state"] == ("revoked" if allowed else "pending")


@for_each("kind", TYPES)
def test_who_manages_nobody_sees_no_invitations(team: Team, person: MakePerson, kind: str) -> None:
    manages = kind in ("owner", "admin")
    team.admit(person(newly("actor")), kind).get(team.path, expect(manages))
    person(newly("stranger")).api().get(team.path, 403)


def test_an_admin_cannot_turn_an_owners_invitation_into_another(
    team: Team, person: MakePerson
) -> None:
    team.invite(GRACE, type="owner")
    admin = team.admit(person("actor"), "admin")
    admin.post(team.path, 403, json={"email": GRACE, "type": "guest"})
    assert team.boss.get(team.path).json[0]["type"] == "owner"


def test_one_who_waits_is_mailed_again_and_not_too_often(
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


def test_an_invitation_is_resent_once_a_minute_and_five_times_in_all(
    team: Team, mails: MailOutbox, clock: SteppingClock
) -> None:
    [invitation] = team.invite(GRACE)
    path = f"{team.path}/{invitation['id']}/resend"
    clock.step(seconds=20)
    assert 0 < int(team.boss.post(path, 429).headers["Retry-After"]) <= 40
    for sends in range(2, 6):
        clock.step(minutes=1)
        assert team.boss.post(path).json["sends"] == sends
    clock.step(minutes=1)
    assert team.boss.post(path, 409).json["code"] == "quota_reached"
    assert len(mails.to(GRACE)) == 5


def test_one_that_is_over_makes_room_for_a_new_one(team: Team, clock: SteppingClock) -> None:
    [old] = team.invite(GRACE)
    clock.step(days=7)
    team.refresh()
    assert team.boss.get(team.path).json[0]["state"] == "expired"
    assert team.boss.get(f"{team.path}?state=pending").json == []
    team.boss.post(f"{team.path}/{old['id']}/resend", 409)
    [new] = team.invite(GRACE)
    assert new["id"] != old["id"]
    listed = {state: team.boss.get(f"{team.path}?state={state}").json for state in STATES}
    assert [each["id"] for each in listed["expired"]] == [old["id"]]
    assert [each["id"] for each in listed["pending"]] == [new["id"]]


STATES = ("pending", "accepted", "declined", "revoked", "expired")


def test_one_that_was_taken_back_stays_so(team: Team) -> None:
    [invitation] = team.invite(GRACE)
    path = f"{team.path}/{invitation['id']}"
    assert team.boss.delete(path).json["state"] == "revoked"
    assert team.boss.delete(path, 409).json["code"] == "invitation_closed"
    team.boss.post(f"{path}/resend", 409)
    team.boss.get(f"{team.path}?state=open", 422)


def test_the_invitation_of_another_workspace_is_not_found(team: Team, ada: Person) -> None:
    [invitation] = team.invite(GRACE)
    for path in (f"{invitation['id']}", "999", f"{10**30}"):
        ada.api().delete(f"/workspaces/ada/invitations/{path}", 404)
        ada.api().post(f"/workspaces/ada/invitations/{path}/resend", 404)


def test_the_list_has_pages_newest_first(team: Team) -> None:
    team.invite("a@example.com", "b@example.com", "c@example.com")
    page = team.boss.get(f"{team.path}?offset=1&limit=1")
    assert [each["email"] for each in page.json] == ["b@example.com"]
    assert 'rel="next"' in page.headers["Link"]


def test_of_many_who_invite_one_address_at_once_all_make_one_invitation(
    team: Team, mails: MailOutbox
) -> None:
    invite = request(team.boss, "POST", team.path, json={"email": GRACE})
    assert at_once(*[invite] * 6) == [201] * 6
    assert len(team.boss.get(team.path).json) == len(mails.to(GRACE)) == 1


def test_an_inviter_mails_so_many_in_an_hour(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(WORKSPACES__INVITATIONS_PER_HOUR="3")
    team = make_team(lambda name: person(name, into=app), mails)
    team.invite("a@example.com", "b@example.com")
    answer = team.boss.post(team.path, 429, json={"emails": ["c@example.com", "d@example.com"]})
    assert 3000 < int(answer.headers["Retry-After"]) <= 3600
    # What was refused, or is mailed already, does not count.
    team.boss.post(team.path, 409, json={"email": team.olga.email})
    team.invite("a@example.com")
    team.invite("c@example.com")
    team.boss.post(team.path, 429, json={"email": "d@example.com"})


@only_on("sqlite")
def test_an_hour_later_an_inviter_mails_again(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    """Redis tells its own time, which no test can step forward."""
    app = make_app(WORKSPACES__INVITATIONS_PER_HOUR="1")
    team = make_team(lambda name: person(name, into=app), mails)
    team.invite(GRACE)
    team.boss.post(team.path, 429, json={"email": "d@example.com"})
    clock.step(hours=1)
    team.refresh()
    team.invite("d@example.com")


def test_the_hours_amount_is_exact_when_requests_come_at_once(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(WORKSPACES__INVITATIONS_PER_HOUR="4")
    team = make_team(lambda name: person(name, into=app), mails)
    acts = [
        request(team.boss, "POST", team.path, json={"email": f"{number}@example.com"})
        for number in range(8)
    ]
    assert at_once(*acts) == [201] * 4 + [429] * 4
    assert len(mails) == 4


def test_so_many_wait_in_one_workspace(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(WORKSPACES__PENDING_LIMIT="2")
    team = make_team(lambda name: person(name, into=app), mails)
    first, _ = team.invite("a@example.com", "b@example.com")
    assert team.boss.post(team.path, 409, json={"email": GRACE}).json["code"] == "quota_reached"
    team.invite("a@example.com")
    team.boss.delete(f"{team.path}/{first['id']}")
    team.invite(GRACE)


def test_who_lost_the_office_meanwhile_invites_nobody(
    team: Team, person: MakePerson, monkeypatch: pytest.MonkeyPatch, mails: MailOutbox
) -> None:
    """The guard let an admin in; before the invitation is made, an owner has demoted them."""
    from app.workspaces.invitations.service import Invitations

    admin = person("admin")
    api = team.admit(admin, "admin")
    original = Invitations.invite

    def demoted_just_before(self: Invitations, *args: Any) -> Any:
        monkeypatch.setattr(Invitations, "invite", original)
        team.boss.patch(f"/workspaces/team/members/{admin.id}", json={"type": "guest"})
        return self.invite(*args)

    monkeypatch.setattr(Invitations, "invite", demoted_just_before)
    api.post(team.path, 403, json={"email": GRACE})
    mails.assert_empty()


def test_a_host_hears_of_invitations(app: Flask, team: Team) -> None:
    heard: list[str] = []
    actions = app.extensions["frontdesk"].actions
    actions.on("invitation-created", lambda invitation, _: heard.append(invitation.email))
    team.invite(GRACE)
    team.invite(GRACE)
    assert heard == [GRACE]


def test_a_mailed_invitation_ends_with_its_time(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    app = make_app(WORKSPACES__INVITATION_DAYS="1")
    team = make_team(lambda name: person(name, into=app), mails)
    team.invite(GRACE)
    clock.step(hours=23)
    Api(app).get(f"/invitation?token={team.secret(GRACE)}")
    clock.step(hours=1)
    Api(app).get(f"/invitation?token={team.secret(GRACE)}", 400)


def test_invitations_that_were_over_long_ago_are_pruned(
    team: Team, app: Flask, clock: SteppingClock
) -> None:
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
    assert [each["email"] for each in team.boss.get(team.path).json] == ["late@example.com"]
