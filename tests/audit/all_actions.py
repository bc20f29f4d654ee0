"""Test helper: performs every recorded action once, as visitor, member, admin and operator."""

from __future__ import annotations

import json
from pathlib import Path

from flask import Flask

from app.accounts.notes import AccountNotes
from app.accounts.service import Accounts
from app.administration.schemas import AccountQuery
from app.administration.search import AccountSearch
from app.audit.service import write_json_lines
from app.auth.actions import GRANT_KEPT
from app.auth.idp.identities import Identities
from app.auth.idp.provider import Provider
from app.broadcasts.outcomes import Outcomes
from app.broadcasts.saved import Segments
from app.core.context import report_action, service
from app.core.db.transaction import transaction
from app.notifications.receivers import Audience
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import PASSWORD, Person, make_person

from ..auth.factors import challenge, enrolled, finish
from ..auth.passkey_holder import Holder
from ..auth.test_email_change import mailed
from ..auth.test_recovery import ask
from ..profiles.test_profiles import ADA as PROFILE
from ..registration.visitors import SECRET_WORD, Visitor
from ..workspaces.invited import Team, make_team

WRONG, NEW, NEWER = "a wrong password", "another password of hers", "and one more password"
SETTINGS = {
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__MFA": "optional",
    "AUTH__SESSIONS": "on",
    "AUTH__REFRESH_TOKEN_DAYS": "14",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "AUTH__PERSONAL_TOKENS": "on",
    "CORE__KEYSTORE": "database",
    "AUTH__UNVERIFIED_KEEP_DAYS": "1",
}


class AllActions:
    def __init__(self, app: Flask, mails: MailOutbox, clock: SteppingClock) -> None:
        self.app, self.mails, self.clock = app, mails, clock
        # Values that no entry may contain.
        self.secrets = {WRONG, NEW, NEWER, PASSWORD, SECRET_WORD}

    def all(self, closed: Flask, folder: Path) -> None:
        self.register(closed)
        self.sign_in_and_change()
        self.use_passkeys()
        self.use_factors()
        self.use_sessions()
        self.use_tokens()
        self.invite()
        self.send()
        self.administer()
        self.operate(folder)

    def person(self, name: str, **fields: str) -> Person:
        return make_person(self.app, name, prefix="/api/v1", **fields)

    def run(self, *args: str, typed: str | None = None) -> None:
        result = self.app.test_cli_runner().invoke(args=args, input=typed)
        assert result.exit_code == 0, result.output

    def register(self, closed: Flask) -> None:
        Visitor(closed, self.mails).register(403)
        ada = Visitor(self.app, self.mails)
        ada.register()
        self.secrets |= {*ada.mailed()}
        ada.verify(ada.mailed()[0])
        self.clock.step(minutes=2)
        ada.register()

    def sign_in_and_change(self) -> None:
        ada = Visitor(self.app, self.mails)
        api = Api(self.app, token=ada.log_in().json["access_token"])
        self.secrets.add(str(api.token))
        ada.log_in(400, WRONG)
        api.get("/admin/notifications/all", 403)
        api.post("/account/exports", 202, json={})
        body = {"current_password": SECRET_WORD, "new_password": NEW}
        api = api.as_token(api.put("/account/password", json=body).json["access_token"])
        self.describe(api)
        api.post("/reauthenticate", 400, json={"password": WRONG})
        again = api.post("/reauthenticate", json={"password": NEW}).json["access_token"]
        self.secrets.add(again)
        api = api.as_token(again)
        api = self.leave(self.move(api, ada), ada)
        api.delete("/logout")
        self.ask_for_code(api, ada)
        token, code = ask(api, self.mails)
        self.secrets |= {str(api.token), token, code}
        api.post("/verify-token", 400, json={"token": "00000000", "email": ada.email})
        body = {"token": token, "email": ada.email, "new_password": NEWER}
        api.post("/reset-password", json=body)
        api.post("/password-recovery", 404, json={"email": "unknown@example.com"})
        for _ in range(5):
            ada.log_in(400, WRONG)
        ada.log_in(429, WRONG)

    def ask_for_code(self, api: Api, ada: Visitor) -> None:
        requested = api.as_token(None).post("/login/code", 202, json={"email": ada.email}).json
        self.secrets |= {requested["login_id"], ada.mailed_code()}

    def describe(self, api: Api) -> None:
        self.secrets |= {"Byron", "nick@home"}
        api.post("/profiles", json={**PROFILE, "last_name": "Byron", "nick@home": "A."})
        api.put("/profiles", json={"last_name": "Lovelace", "nick@home": "L."})
        api.delete("/profiles")

    def move(self, api: Api, ada: Visitor) -> Api:
        """Change the email address and back, since her password changes with it."""
        api.patch("/account", json={"locale": "en-GB"})
        api.post("/account/email", 202, json={"email": "countess@example.com"})
        token, code = mailed(self.mails, "countess@example.com")
        api.post("/account/email/confirm", json={"token": token})
        undo = mailed(self.mails, ada.email)[0]
        api.as_token(None).post("/account/email/undo", json={"token": undo})
        reset = mailed(self.mails, ada.email)[0]
        self.secrets |= {token, code, undo, reset}
        body = {"token": reset, "new_password": NEW}
        api.as_token(None).post("/reset-password", json=body)
        return api.as_token(ada.log_in(password=NEW).json["access_token"])

    def leave(self, api: Api, ada: Visitor) -> Api:
        """Request the deletion of the account, and undo it."""
        api.delete("/account", 202)
        token, _ = mailed(self.mails, ada.email)
        self.secrets.add(token)
        api.as_token(None).post("/account/restore", json={"token": token})
        return api.as_token(ada.log_in(password=NEW).json["access_token"])

    def use_passkeys(self) -> None:
        """Sign in with a copied passkey."""
        hedy = self.person("hedy")
        holder = Holder(hedy.api())
        holder.authenticator.count = 5
        response = holder.add(status=200).json
        self.secrets |= {response["access_token"], *response["recovery_codes"]}
        holder.sign_in(400, count=3)
        rejected = holder.anonymous.post(
            "/login", 403, data={"username": hedy.email, "password": PASSWORD}
        )
        self.secrets.add(rejected.json["mfa_token"])
        here = holder.api.as_token(response["access_token"])
        [passkey] = here.get("/authenticators").json
        here.patch(f"/authenticators/{passkey['id']}", json={"name": "Old"})
        here.delete(f"/authenticators/{passkey['id']}")

    def use_factors(self) -> None:
        """Lose all factors, which an operator resets."""
        mary = self.person("mary")
        has = enrolled(mary, self.clock)
        self.secrets |= {has.phone.secret, *has.recovery_codes}
        requested = challenge(Api(self.app), mary)
        response = finish(
            Api(self.app), requested, recovery_code=has.recovery_codes[0], trust=True
        ).json
        self.secrets |= {requested, response["trusted_device"]}
        here = Api(self.app, token=response["access_token"])
        [device] = here.get("/trusted-devices").json
        here.delete(f"/trusted-devices/{device['id']}")
        self.run("accounts", "reset-mfa", mary.email)

    def use_sessions(self) -> None:
        rose = self.person("rose")
        form, asking = {"username": rose.email, "password": PASSWORD}, {"Prefer": "refresh"}
        token = Api(self.app).post("/login", data=form, headers=asking).json["refresh_token"]
        grant = {"grant_type": "refresh_token", "refresh_token": token}
        further = Api(self.app).post("/token", data=grant).json["refresh_token"]
        self.clock.step(seconds=31)
        Api(self.app).post("/token", 400, data=grant)
        rose.api().delete("/sessions")
        self.secrets |= {token, further}

    def use_tokens(self) -> None:
        api = self.person("tom").api()
        api.post("/workspaces", json={"slug": "toms", "name": "Toms"})
        team = "/workspaces/toms"
        for tokens, used, body in (
            ("/personal-tokens", "/account", {"scopes": ["account:read"]}),
            (f"{team}/tokens", team, {"scopes": ["workspaces:read"], "type": "guest"}),
        ):
            created = api.post(tokens, 201, json={"name": "Backup", **body}).json
            token = api.as_token(created["token"])
            for address in ("192.0.2.1", "198.51.100.1"):
                token.get(used, environ_overrides={"REMOTE_ADDR": address})
            api.delete(f"{tokens}/{created['id']}")
            self.secrets.add(created["token"])

    def invite(self) -> None:
        team = make_team(self.person, self.mails)
        bob, eve = self.person("bob"), Visitor(self.app, self.mails, "eve@example.com")
        [first] = team.invite(bob.email)
        team.invite(bob.email)
        self.clock.step(minutes=2)
        team.owner.post(f"{team.path}/{first['id']}/resend")
        bob.api().post(f"/invitations/{first['id']}/accept")
        team.owner.patch("/workspaces/team", json={"name": "The Team"})
        team.owner.patch(f"/workspaces/team/members/{bob.id}", json={"type": "admin"})
        team.owner.delete(f"/workspaces/team/members/{bob.id}")
        [second] = team.invite(bob.email)
        bob.api().post(f"/invitations/{second['id']}/decline")
        [third] = team.invite("unknown@example.com")
        team.owner.delete(f"{team.path}/{third['id']}")
        # Another client may have registered her address.
        eve.register()
        self._join(team, eve)

    def _join(self, team: Team, eve: Visitor) -> None:
        team.invite(eve.email)
        secret = team.secret(eve.email)
        self.secrets.add(secret)
        eve.register(201, invitation=secret)

    def send(self) -> None:
        boss = self.person("boss", role="admin").api()
        title, message = "A title", "What only its receivers read"
        self.secrets |= {title, message}
        data = {"title": title, "message": message, "channels": ["inapp"]}
        sent = boss.post("/admin/notifications/", 201, json={"data": data}).json
        with self.app.app_context():
            [*service(Outcomes).export(sent["id"], lambda _rows: b"")]
        boss.delete(f"/admin/notifications/{sent['id']}")
        data["channels"] = ["inapp", "email"]
        queued = boss.post("/admin/notifications/", 201, json={"data": data}).json
        boss.post(f"/admin/notifications/{queued['id']}/stop")
        with self.app.app_context():
            segments = service(Segments)
            segments.save("Admins", Audience(role="admin"))
            segments.delete(segments.list()[0].id)

        banner = boss.post("/admin/banners", 201, json={"text": "Closed on Friday"}).json["id"]
        boss.patch(f"/admin/banners/{banner}", json={"text": "Closed on Monday"})
        boss.delete(f"/admin/banners/{banner}")

    def administer(self) -> None:
        """Write a note, delete it, and download the list of accounts."""
        ursula = self.person("ursula", role="admin")
        self.secrets.add("A note of an admin")
        with self.app.app_context():
            account, notes = service(Accounts).get(ursula.email), service(AccountNotes)
            notes.add(account.id, account.id, "A note of an admin")
            [(note, _author)] = notes.list(account.id)
            notes.delete(account, account.id, note.id, of_others=False)
            query: AccountQuery.Input = {"limit": 1, "offset": 0, "search": ursula.email}
            [*service(AccountSearch).export(query, "jsonl", write_json_lines)]

    def operate(self, folder: Path) -> None:
        zoe = self.person("zoe")
        with self.app.app_context():
            account = service(Accounts).get(zoe.email)
            with transaction(service(Accounts).session):
                service(Identities).link(
                    account,
                    Provider("default", "oidc", "id"),
                    "https://idp.example",
                    "subject-1",
                    zoe.email,
                )
                report_action(
                    service(Accounts).session, GRANT_KEPT, account_id=account.id, kept="root"
                )
        self.run("accounts", "set", zoe.email, "--role", "admin", "--phone", "")
        self.run("accounts", "set", zoe.email, "--password-file", "-", typed=NEWER)
        for command in ("unlock", "sign-in-link", "sign-out", "unlink", "delete"):
            self.run("accounts", command, zoe.email)
        self.run("accounts", "sign-out", "--all")
        file = folder / "accounts.jsonl"
        file.write_text(json.dumps({"email": "new@example.com", "status": "active"}) + "\n")
        self.run("accounts", "import", str(file))
        Visitor(self.app, self.mails, "late@example.com").register()
        self.clock.step(days=2)
        self.run("frontdesk", "prune")
