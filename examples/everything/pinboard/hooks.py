"""The pinboard's hooks and listeners."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import flask_frontdesk
from flask_frontdesk import after_commit
from sqlalchemy import delete, select

from .models import Account, Activity

log = logging.getLogger(__name__)
frontdesk = flask_frontdesk.Frontdesk[Account]()


# [claims]
@frontdesk.claims
def claims(account: Account, session: Any) -> dict[str, Any]:
    return {"role": account.role, "handle": account.handle}


# [end]


# [payload]
@frontdesk.payload
def payload(payload: dict[str, Any], session: Any) -> dict[str, Any]:
    account = payload["account"]
    return {**payload, "greeting": f"Welcome back, {account.name or account.email}"}


# [end]


# [provider-claims]
@frontdesk.provider_claims
def provider_claims(account: Account, provider: str, claims: Any, session: Any) -> None:
    name = claims.get("name")
    if account.name is None and isinstance(name, str):
        account.name = name[:50]


# [end]


# [may-register]
@frontdesk.may_register
def may_register(email: str, method: str, session: Any) -> bool:
    return not email.endswith("@blocked.example")


# [end]


# [recovery-mail]
@frontdesk.recovery_mail
def recovery_mail(*, email_to: str, username: str, token: str, code: str) -> None:
    sent_emails.append((email_to, f"Your code is {code}"))


sent_emails: list[tuple[str, str]] = []  # replaces the pinboard's mailer
# [end]


# [account-registered]
@frontdesk.on("account-registered")
def assign_handle(account: Account, options: dict[str, Any]) -> None:
    account.handle = f"user-{account.id:06}"


# [end]


# [registration-requested]
@frontdesk.on("registration-requested")
def record_sign_up(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Activity(account_id=account.id, text="signed up"))


# [end]


# [email-verified]
@frontdesk.on("email-verified")
def record_verification(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Activity(account_id=account.id, text="verified the email address"))


# [end]


# [account-logged-in]
@frontdesk.on("account-logged-in")
def record_sign_in(account: Account, options: dict[str, Any]) -> None:
    session = options["session"]
    if account.status == "overdue" and account.role == "user":
        raise PaymentOverdue
    session.add(Activity(account_id=account.id, text="signed in"))
    handle = account.handle
    after_commit(session, lambda: log.info("%s signed in", handle))


class PaymentOverdue(flask_frontdesk.Problem):
    status = 403
    code = "payment_overdue"
    detail = "Pay the open invoice to sign in"


# [end]


# [account-logged-out]
@frontdesk.on("account-logged-out")
def record_sign_out(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Activity(account_id=account.id, text="signed out"))


# [end]


# [password-reset]
@frontdesk.on("password-reset")
def record_password_reset(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Activity(account_id=account.id, text="set a new password"))


# [end]


# [password-changed]
@frontdesk.on("password-changed")
def record_password_change(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Activity(account_id=account.id, text="changed the password"))


# [end]


# [account-deletion-requested]
@frontdesk.on("account-deletion-requested")
def record_deletion_request(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Activity(account_id=account.id, text="requested deletion"))


# [end]


# [account-restored]
@frontdesk.on("account-restored")
def record_restore(account: Account, options: dict[str, Any]) -> None:
    options["session"].add(Activity(account_id=account.id, text="canceled deletion"))


# [end]


# [email-changed]
@frontdesk.on("email-changed")
def record_email_change(account: Account, options: dict[str, Any]) -> None:
    text = f"new email address: {account.email}"
    options["session"].add(Activity(account_id=account.id, text=text))


# [end]


# [idp-account-create]
@frontdesk.on("idp-account-create")
def register_from_provider(person: flask_frontdesk.IdpUserInfo, options: dict[str, Any]) -> None:
    frontdesk.accounts.create(person.email, secrets.token_urlsafe(32), status="trial")


# [end]


# [invitation-created]
@frontdesk.on("invitation-created")
def reject_blocked_domain(invitation: Any, options: dict[str, Any]) -> None:
    if invitation.email.endswith("@blocked.example"):
        raise DomainBlocked


class DomainBlocked(flask_frontdesk.Problem):
    status = 403
    code = "domain_blocked"
    detail = "Email addresses of this domain cannot be invited"


# [end]


# [invitation-accepted]
@frontdesk.on("invitation-accepted")
def record_acceptance(invitation: Any, options: dict[str, Any]) -> None:
    text = f"{invitation.email} accepted"
    options["session"].add(Activity(account_id=invitation.inviter_id, text=text))


# [end]


# [invitation-declined]
@frontdesk.on("invitation-declined")
def record_decline(invitation: Any, options: dict[str, Any]) -> None:
    text = f"{invitation.email} declined"
    options["session"].add(Activity(account_id=invitation.inviter_id, text=text))


# [end]


# [workspace-resolver]
@frontdesk.workspace_resolver
def select_team(
    session: Any, account: Any, path_params: Mapping[str, str], headers: Mapping[str, str]
) -> str | None:
    return path_params.get("team") or headers.get("x-team")


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
@frontdesk.exporter("pinboard")
def export_activities(account: Account, session: Any) -> Iterator[tuple[str, Any]]:
    yield "account.json", {"handle": account.handle, "name": account.name}
    texts = select(Activity.text).where(Activity.account_id == account.id).order_by(Activity.id)
    yield "activities.txt", "\n".join(session.scalars(texts)).encode()


# [end]


# [eraser]
@frontdesk.eraser
def delete_mentions(account: Account, session: Any) -> None:
    session.execute(delete(Activity).where(Activity.text == f"mentioned {account.name}"))


# [end]


# [account-deleted]
@frontdesk.on("account-deleted")
def release_handle(account: Account, options: dict[str, Any]) -> None:
    handle = account.handle
    after_commit(options["session"], lambda: released.append(handle))


released: list[str | None] = []
# [end]
