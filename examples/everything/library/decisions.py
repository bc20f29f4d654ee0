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
def may_register(email: str, method: str, session: Any) -> bool:
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
def assign_card(account: Account, options: dict[str, Any]) -> None:
    account.card = f"L-{account.id:06}"


# [end]


# [registration-requested]
@frontdesk.on("registration-requested")
def record_request(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="asked to register"))


# [end]


# [email-verified]
@frontdesk.on("email-verified")
def welcome(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="became a reader"))


# [end]


# [account-logged-in]
@frontdesk.on("account-logged-in")
def record_sign_in(account: Account, options: dict[str, Any]) -> None:
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
def record_sign_out(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="signed out"))


# [end]


# [password-reset]
@frontdesk.on("password-reset")
def record_password_reset(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="set a new password"))


# [end]


# [password-changed]
@frontdesk.on("password-changed")
def record_password_change(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="changed the password"))


# [end]


# [account-deletion-requested]
@frontdesk.on("account-deletion-requested")
def record_deletion_request(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="requested deletion"))


# [end]


# [account-restored]
@frontdesk.on("account-restored")
def record_restore(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note="canceled deletion"))


# [end]


# [email-changed]
@frontdesk.on("email-changed")
def record_email_change(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Visit(account_id=account.id, note=f"new address: {account.email}"))


# [end]


# [idp-account-create]
@frontdesk.on("idp-account-create")
def register_from_provider(person: flask_frontdesk.IdpUserInfo, options: dict[str, Any]) -> None:
    frontdesk.accounts.create(person.email, secrets.token_urlsafe(32), status="reader")


# [end]


# [invitation-created]
@frontdesk.on("invitation-created")
def reject_booksellers(invitation: Any, options: dict[str, Any]) -> None:
    if invitation.email.endswith("@bookshop.example"):
        raise NoBooksellers


class NoBooksellers(flask_frontdesk.Problem):
    status = 403
    code = "no_booksellers"
    detail = "Booksellers cannot be invited"


# [end]


# [invitation-accepted]
@frontdesk.on("invitation-accepted")
def record_acceptance(invitation: Any, options: dict[str, Any]) -> None:
    note = f"{invitation.email} accepted"
    options["session"].add(Visit(account_id=invitation.inviter_id, note=note))


# [end]


# [invitation-declined]
@frontdesk.on("invitation-declined")
def record_refusal(invitation: Any, options: dict[str, Any]) -> None:
    note = f"{invitation.email} declined"
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
def exclude_suspended(accounts: list[Account], session: Any) -> list[Account]:
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
def export_visits(account: Account, session: Any) -> Iterator[tuple[str, Any]]:
    yield "card.json", {"card": account.card, "nickname": account.nickname}
    visits = select(Visit.note).where(Visit.account_id == account.id).order_by(Visit.id)
    yield "visits.txt", "\n".join(session.scalars(visits)).encode()


# [end]


# [eraser]
@frontdesk.eraser
def delete_searches(account: Account, session: Any) -> None:
    session.execute(delete(Visit).where(Visit.note == f"looked for {account.nickname}"))


# [end]


# [account-deleted]
@frontdesk.on("account-deleted")
def return_card(account: Account, options: dict[str, Any]) -> None:
    card = account.card
    after_commit(options["session"], lambda: returned.append(card))


returned: list[str | None] = []
# [end]
