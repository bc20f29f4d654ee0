"""The library's hooks and listeners."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import flask_frontdesk
from flask_frontdesk import after_commit
from sqlalchemy import delete, select

from .models import Account, Visit

log = logging.getLogger(__name__)
frontdesk = flask_frontdesk.Frontdesk[Account]()


# [claims]
@frontdesk.claims
def claims(account: Account, session: Any) -> dict[str, Any]:
    return {"role": account.role, "card": account.card}


# [end]


# [payload]
@frontdesk.payload
def payload(payload: dict[str, Any], session: Any) -> dict[str, Any]:
    account = payload["account"]
    return {**payload, "greeting": f"Good morning, {account.nickname or account.email}"}


# [end]


# [may-register]
@frontdesk.may_register
def may_register(email: str, door: str, session: Any) -> bool:
    return not email.endswith("@bookshop.example")


# [end]


# [recovery-mail]
@frontdesk.recovery_mail
def recovery_mail(*, email_to: str, username: str, token: str, code: str) -> None:
    sent_emails.append((email_to, f"Your code is {code}"))


sent_emails: list[tuple[str, str]] = []  # replaces the library's mailer
# [end]


# [account-registered]
@frontdesk.on("account-registered")
def give_a_card(account: Account, options: dict[str, Any]) -> None:
    account.card = f"L-{account.id:06}"


# [end]


# [registration-requested]
@frontdesk.on("registration-requested")
def note_the_wish(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="wants to become a reader"))


# [end]


# [email-verified]
@frontdesk.on("email-verified")
def welcome(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="became a reader"))


# [end]


# [account-logged-in]
@frontdesk.on("account-logged-in")
def note_the_visit(account: Account, options: dict[str, Any]) -> None:
    session = options["session"]
    if account.status == "librarian" and account.role == "user":
        raise NotOnDuty
    session.add(Visit(account_id=account.id, note="signed in"))
    card = account.card
    after_commit(session, lambda: log.info("%s signed in", card))


class NotOnDuty(flask_frontdesk.Problem):
    status = 403
    code = "not_on_duty"
    detail = "Not on duty"


# [end]


# [account-logged-out]
@frontdesk.on("account-logged-out")
def note_the_leave(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="signed out"))


# [end]


# [password-reset]
@frontdesk.on("password-reset")
def note_the_reset(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="set a new password"))


# [end]


# [password-changed]
@frontdesk.on("password-changed")
def note_the_change(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="changed the password"))


# [end]


# [account-deletion-requested]
@frontdesk.on("account-deletion-requested")
def call_books_back(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="asked to leave"))


# [end]


# [account-restored]
@frontdesk.on("account-restored")
def keep_the_card(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="stayed after all"))


# [end]


# [email-changed]
@frontdesk.on("email-changed")
def note_the_address(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note=f"moved to {account.email}"))


# [end]


# [idp-account-create]
@frontdesk.on("idp-account-create")
def register_from_provider(person: flask_frontdesk.IdpUserInfo, options: dict[str, Any]) -> None:
    frontdesk.accounts.create(person.email, secrets.token_urlsafe(32), status="reader")


# [end]


# [invitation-created]
@frontdesk.on("invitation-created")
def keep_the_bookshop_out(invitation: Any, options: dict[str, Any]) -> None:
    if invitation.email.endswith("@bookshop.example"):
        raise NoBooksellers


class NoBooksellers(flask_frontdesk.Problem):
    status = 403
    code = "no_booksellers"
    detail = "Booksellers cannot be invited"


# [end]


# [invitation-accepted]
@frontdesk.on("invitation-accepted")
def note_the_newcomer(invitation: Any, options: dict[str, Any]) -> None:
    note = f"brought in {invitation.email}"
    options["session"].add(Visit(account_id=invitation.inviter_id, note=note))


# [end]


# [invitation-declined]
@frontdesk.on("invitation-declined")
def note_the_refusal(invitation: Any, options: dict[str, Any]) -> None:
    note = f"asked {invitation.email} in vain"
    options["session"].add(Visit(account_id=invitation.inviter_id, note=note))


# [end]


# [workspace-resolver]
@frontdesk.workspace_resolver
def branch(
    session: Any, account: Any, path_params: Mapping[str, str], headers: Mapping[str, str]
) -> str | None:
    return path_params.get("branch") or headers.get("x-branch")


# [end]


# [receivers]
@frontdesk.receivers
def leave_out_the_suspended(accounts: list[Account], session: Any) -> list[Account]:
    return [account for account in accounts if account.status != "suspended"]


# [end]


# [channel]
@frontdesk.channel("discord")
def to_discord(message: Any, receiver: Any) -> str | None:
    sent_to_discord.append(f"{receiver.email}: {message.title}")
    return None


sent_to_discord: list[str] = []  # replaces the call to Discord
# [end]


# [exporter]
@frontdesk.exporter("library")
def what_the_library_has(account: Account, session: Any) -> Iterator[tuple[str, Any]]:
    yield "card.json", {"card": account.card, "nickname": account.nickname}
    visits = select(Visit.note).where(Visit.account_id == account.id).order_by(Visit.id)
    yield "visits.txt", "\n".join(session.scalars(visits)).encode()


# [end]


# [eraser]
@frontdesk.eraser
def forget_the_searches(account: Account, session: Any) -> None:
    session.execute(delete(Visit).where(Visit.note == f"looked for {account.nickname}"))


# [end]


# [account-deleted]
@frontdesk.on("account-deleted")
def take_the_card_back(account: Account, options: dict[str, Any]) -> None:
    card = account.card
    after_commit(options["session"], lambda: returned.append(card))


returned: list[str | None] = []
# [end]
