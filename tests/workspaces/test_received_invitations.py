"""Accepting and declining invitations: from the list, and with the emailed token."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.workspaces.models import Member, Workspace

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently
from .invited import Team, make_team

ADA = "ada@example.com"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app()


@pytest.fixture
def team(person: MakePerson, mails: MailOutbox) -> Team:
    return make_team(person, mails)


def types(team: Team) -> dict[str, str]:
    members = team.owner.get("/workspaces/team/members").json
    return {member["email"].partition("@")[0]: member["type"] for member in members}


def states(team: Team) -> list[str]:
    return [invitation["state"] for invitation in team.owner.get(team.path).json]


def test_invitee_lists_and_accepts(team: Team, ada: Person) -> None:
    team.invite(ADA, type="admin", message="We grow beans.")
    api = ada.api()
    [invitation] = api.get("/invitations").json
    assert invitation["workspace"] == {"slug": "team", "name": "Team"}
    assert (invitation["inviter"], invitation["type"]) == (team.olga.email, "admin")
    member = api.post(f"/invitations/{invitation['id']}/accept").json
    assert (member["account_id"], member["type"], member["status"]) == (ada.id, "admin", "active")
    assert api.get("/workspaces/team").json["type"] == "admin"
    assert (api.get("/invitations").json, states(team)) == ([], ["accepted"])


def test_invitee_can_decline(team: Team, ada: Person) -> None:
    team.invite(ADA)
    api = ada.api()
    [invitation] = api.get("/invitations").json
    assert api.post(f"/invitations/{invitation['id']}/decline").json["message"]
    api.post(f"/invitations/{invitation['id']}/accept", 404)
    assert (types(team), states(team)) == ({"olga": "owner"}, ["declined"])


def test_invitations_are_only_visible_to_the_invitee(
    team: Team, ada: Person, person: MakePerson
) -> None:
    [invitation] = team.invite(ADA)
    bob = person("bob").api()
    assert bob.get("/invitations").json == []
    for action in ("accept", "decline"):
        assert bob.post(f"/invitations/{invitation['id']}/{action}", 404).detail == (
            "Invitation not found"
        )
        bob.post(f"/invitations/{10**30}/{action}", 404)
    assert states(team) == ["pending"]


def test_list_needs_a_verified_email_and_the_emailed_token_does_not(
    team: Team, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    [invitation] = team.invite(ADA)
    monkeypatch.setattr(Accounts, "is_email_verified", lambda *_: False)
    api = ada.api()
    assert api.get("/invitations", 403).json["code"] == "email_not_verified"
    for action in ("accept", "decline"):
        api.post(f"/invitations/{invitation['id']}/{action}", 403)
    api.post("/invitation/accept", json={"token": team.secret(ADA)})
    assert types(team)["ada"] == "member"


def test_accepting_keeps_the_current_workspace(team: Team, ada: Person, app: Flask) -> None:
    api = ada.api()
    current = api.get("/account").json["current_workspace_id"]
    team.invite(ADA)
    api.post("/invitation/accept", json={"token": team.secret(ADA)})
    assert api.get("/account").json["current_workspace_id"] == current
    assert api.get("/workspaces/current").json["slug"] == "ada"


def test_accepting_sets_the_current_workspace_if_there_is_none(
    team: Team, ada: Person, app: Flask
) -> None:
    team.invite(ADA)
    api = ada.api()
    with app.app_context():
        service(Accounts).get(ADA).current_workspace_id = None
        current_frontdesk.session.commit()
    api.post("/invitation/accept", json={"token": team.secret(ADA)})
    assert api.get("/workspaces/current").json["slug"] == "team"


def test_emailed_token_shows_the_invitation_and_changes_nothing(team: Team, ada: Person) -> None:
    team.invite(ADA, "grace@example.com", message="We grow beans.")
    anonymous = Api(ada.app)
    for email, exists in ((ADA, True), ("grace@example.com", False)):
        path = f"/invitation?token={team.secret(email)}"
        invitation = [anonymous.get(path).json for _ in range(3)][-1]
        assert invitation["email_hint"] == f"{email[0]}…@example.com"
        assert (invitation["account_exists"], invitation["message"]) == (exists, "We grow beans.")
        assert invitation["workspace"] == {"slug": "team", "name": "Team"}
    assert states(team) == ["pending", "pending"]


def test_token_is_single_use(team: Team, ada: Person) -> None:
    team.invite(ADA)
    api, body = ada.api(), {"token": team.secret(ADA)}
    api.post("/invitation/accept", json=body)
    assert api.post("/invitation/accept", 400, json=body).detail == "Invalid token"
    api.post("/invitation/decline", 400, json=body)
    api.get(f"/invitation?token={body['token']}", 400)


def test_token_declines_without_an_account(team: Team, api: Api) -> None:
    team.invite("grace@example.com")
    body = {"token": team.secret("grace@example.com")}
    api.post("/invitation/decline", json=body)
    api.post("/invitation/decline", 400, json=body)
    assert states(team) == ["declined"]


def test_token_is_only_valid_for_its_email(team: Team, person: MakePerson, ada: Person) -> None:
    team.invite(ADA)
    body = {"token": team.secret(ADA)}
    response = person("bob").api().post("/invitation/accept", 403, json=body)
    assert response.json["code"] == "other_address"
    Api(ada.app).post("/invitation/accept", 401, json=body)
    assert (types(team), states(team)) == ({"olga": "owner"}, ["pending"])


def test_earlier_token_stays_valid_after_a_new_email(
    team: Team, ada: Person, clock: SteppingClock
) -> None:
    team.invite(ADA)
    first = team.secret(ADA)
    clock.step(minutes=2)
    team.invite(ADA, type="guest")
    assert ada.api().post("/invitation/accept", json={"token": first}).json["type"] == "guest"


@pytest.mark.parametrize("end", ["revoked", "expired", "workspace gone"])
def test_closed_invitation_cannot_be_accepted(
    team: Team, ada: Person, app: Flask, clock: SteppingClock, end: str
) -> None:
    [invitation] = team.invite(ADA)
    if end == "revoked":
        team.owner.delete(f"{team.path}/{invitation['id']}")
    elif end == "expired":
        clock.step(days=7)
    else:
        with app.app_context():
            session = current_frontdesk.session
            session.delete(session.scalar(select(Workspace).where(Workspace.slug == "team")))
            session.commit()
    api, body = ada.api(), {"token": team.secret(ADA)}
    assert api.post("/invitation/accept", 400, json=body).detail == "Invalid token"
    api.post(f"/invitations/{invitation['id']}/accept", 404)
    assert api.get("/invitations").json == []


@for_each("token", ["", "x", "x" * 3000, "a.b.c", None, 7])
def test_malformed_token_is_rejected(api: Api, ada: Person, token: object) -> None:
    for path, caller in (("accept", ada.api()), ("decline", api)):
        response = caller.client.post(
            f"/api/v1/invitation/{path}",
            json={"token": token},
            headers={"Authorization": f"Bearer {caller.token}"} if caller.token else {},
        )
        assert response.status_code in (400, 422)


def test_tokens_for_other_purposes_are_rejected(team: Team, ada: Person) -> None:
    """An invitation's token does not reset a password either."""
    team.invite(ADA)
    api = Api(ada.app)
    api.post("/password-recovery", json={"email": ADA})
    recovery = team.secret(ADA)
    api.get(f"/invitation?token={recovery}", 400)
    [invitation] = team.owner.get(team.path).json
    assert invitation["state"] == "pending"


GONE = ["left", "demoted", "suspended", "account suspended", "account deleted"]


@pytest.mark.parametrize("how", GONE)
def test_invitation_is_invalid_when_the_inviter_lost_the_right(
    team: Team, ada: Person, person: MakePerson, app: Flask, how: str
) -> None:
    ivan = person("ivan")
    api = team.admit(ivan, "owner")
    api.post(team.path, 201, json={"email": ADA, "type": "owner"})
    member = f"/workspaces/team/members/{ivan.id}"
    if how == "left":
        api.delete(member)
    elif how == "demoted":
        team.owner.patch(member, json={"type": "admin"})
    elif how == "suspended":
        team.owner.patch(member, json={"status": "suspended"})
    elif how == "account suspended":
        ivan.change(status="suspended")
    else:
        with app.app_context():
            service(Accounts).delete(service(Accounts).get(ivan.email))
    [invitation] = ada.api().get("/invitations").json
    for path in ("/invitation/accept", f"/invitations/{invitation['id']}/accept"):
        response = ada.api().post(path, 409, json={"token": team.secret(ADA)})
        assert response.json["code"] == "inviter_gone"
    assert "ada" not in types(team)


def test_invitation_does_not_reactivate_a_suspended_member(team: Team, ada: Person) -> None:
    team.invite(ADA, type="owner")
    team.admit(ada, "guest", "suspended")
    member = ada.api().post("/invitation/accept", json={"token": team.secret(ADA)}).json
    assert (member["type"], member["status"]) == ("guest", "suspended")


def memberships(app: Flask, account_id: int) -> int:
    with app.app_context():
        count = select(func.count(Member.id)).where(Member.account_id == account_id)
        return current_frontdesk.session.scalar(count) or 0


def test_concurrent_acceptances_create_one_membership(team: Team, ada: Person, app: Flask) -> None:
    [invitation] = team.invite(ADA)
    api = ada.api()
    by_secret = request(api, "POST", "/invitation/accept", json={"token": team.secret(ADA)})
    by_list = request(api, "POST", f"/invitations/{invitation['id']}/accept")
    statuses = run_concurrently(*[by_secret, by_list] * 3)
    assert statuses[0] == 200
    assert set(statuses[1:]) <= {400, 404}
    assert memberships(app, ada.id) == 2


def test_concurrent_acceptance_and_revocation_are_consistent(
    team: Team, ada: Person, app: Flask
) -> None:
    [invitation] = team.invite(ADA)
    accept = request(ada.api(), "POST", "/invitation/accept", json={"token": team.secret(ADA)})
    revoke = request(team.owner, "DELETE", f"{team.path}/{invitation['id']}")
    statuses = run_concurrently(accept, revoke)
    assert statuses in ([200, 400], [200, 409])
    assert states(team) == ["revoked" if 400 in statuses else "accepted"]
    assert memberships(app, ada.id) == (1 if 400 in statuses else 2)


def test_listeners_are_notified_of_acceptance_and_decline(
    app: Flask, team: Team, ada: Person
) -> None:
    notified: list[tuple[str, str]] = []
    actions = app.extensions["frontdesk"].actions
    for event in ("invitation-accepted", "invitation-declined"):
        actions.on(event, lambda each, _, event=event: notified.append((event, each.email)))
    team.invite(ADA, "grace@example.com")
    ada.api().post("/invitation/accept", json={"token": team.secret(ADA)})
    Api(app).post("/invitation/decline", json={"token": team.secret("grace@example.com")})
    assert notified == [("invitation-accepted", ADA), ("invitation-declined", "grace@example.com")]


def test_listener_that_raises_keeps_the_invitation_pending(
    app: Flask, team: Team, ada: Person
) -> None:
    from app.core.errors import Conflict

    def reject(*_: object) -> None:
        raise Conflict("Not accepted")

    app.extensions["frontdesk"].actions.on("invitation-accepted", reject)
    team.invite(ADA)
    ada.api().post("/invitation/accept", 409, json={"token": team.secret(ADA)})
    assert (types(team), states(team)) == ({"olga": "owner"}, ["pending"])


def test_tokens_are_not_stored(team: Team, app: Flask) -> None:
    from app.workspaces.invitations.models import Invitation

    team.invite(ADA)
    secret = team.secret(ADA)
    with app.app_context():
        [row] = current_frontdesk.session.execute(select(*Invitation.__table__.columns)).all()
    assert not [value for value in row if isinstance(value, str) and value in secret]
