"""Every type of record, in one list: what it means, what it tells, and the security log's word."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class RecordType(NamedTuple):
    name: str
    meaning: str
    # What `data` may hold, each with what it tells.
    data: Mapping[str, str] = _NOTHING
    # The security log's word for it; empty: that does not tell of it.
    tells: str = ""
    # What the log's line says of each of this type, beside its own facts.
    facts: Mapping[str, Any] = _NOTHING


_ROLE_AND_STATUS = "role, status: those that change"
_TYPE_AND_STATUS = "type, status"
_REFUSED = {
    "reason": "the code that was answered",
    "method": "of the request",
    "route": "the rule of the request's path",
    "limit": "which one was reached",
    "left_out": "how many like it were not recorded",
}
_OF_KIND = {"kind": "`totp` or `passkey`"}
_INVITED = {"type": "what the invited one becomes"}

DEEDS = (
    RecordType(
        "login.succeeded",
        "an account signs in",
        {"proofs": "what it proved itself by: `password`, `provider`, …"},
        tells="sign_in",
    ),
    RecordType(
        "login.challenged",
        "somebody has shown who they are, and is asked for a second factor",
        {"proofs": "what was shown so far"},
    ),
    RecordType(
        "login.code_requested",
        "somebody asks for the mail with a code that signs in",
        tells="login_code_request",
    ),
    RecordType(
        "reauthentication.succeeded",
        "somebody who is in shows once more who they are",
        {"proofs": "by what: `password`, `totp`, …"},
        tells="reauthentication",
    ),
    RecordType("logout.succeeded", "an account logs out", tells="logout"),
    RecordType(
        "tokens.ended",
        "an operator ends the tokens of one account or of all",
        {"accounts": "how many, where it is all"},
        tells="tokens_ended",
    ),
    RecordType(
        "session.ended",
        "an account's owner ends where it is signed in, by one session or several",
        {
            "reason": "`owner`, or `replaced` by a sign-in of the same browser",
            "sessions": "how many, where it is several",
        },
        tells="session_end",
    ),
    RecordType(
        "session.reused",
        "a refresh token comes after its successor was used, and its session is ended",
        tells="session_reuse",
    ),
    RecordType(
        "password.reset_requested",
        "somebody asks for the mail that recovers a password",
        tells="recovery_request",
    ),
    RecordType(
        "password.reset", "a password is set with a mailed token or code", tells="password_reset"
    ),
    RecordType(
        "password.changed",
        "an account's owner changes its password",
        tells="account_change",
        facts={"changed": ["password"]},
    ),
    RecordType(
        "password.removed",
        "whose address it is has come, and the password set before that opens nothing",
        tells="account_change",
        facts={"changed": ["password"]},
    ),
    RecordType(
        "account.created",
        "an account is made",
        {"after": "role, status"},
        tells="account_creation",
    ),
    RecordType(
        "account.verified",
        "an account's owner proves to read the mail of its address",
        tells="address_proof",
    ),
    RecordType(
        "account.updated",
        "an account's e-mail, password, phone, language, time zone, role or status changes",
        {"changed": "their names", "before": _ROLE_AND_STATUS, "after": _ROLE_AND_STATUS},
        tells="account_change",
    ),
    RecordType(
        "email.change_requested",
        "a caller asks for another e-mail address",
        tells="email_change_request",
    ),
    RecordType(
        "email.change_undone",
        "an account's former address takes the change of it back",
        tells="email_undo",
    ),
    RecordType(
        "account.deletion_requested",
        "an account's owner asks for its end",
        tells="account_deletion_request",
    ),
    RecordType(
        "account.restored",
        "an account that was to be deleted is kept",
        tells="account_restoration",
    ),
    RecordType("account.deleted", "an account is deleted", tells="account_deletion"),
    RecordType(
        "account.exported",
        "somebody asks for a copy of all that is held of their account",
        tells="account_export",
    ),
    RecordType(
        "account.unlocked",
        "an operator forgets the wrong passwords of an account",
        tells="account_unlock",
    ),
    RecordType(
        "accounts.imported",
        "an operator imports accounts",
        {"created": "how many are new", "updated": "how many are changed"},
    ),
    RecordType(
        "accounts.pruned",
        "accounts go that waited too long for their address to be proven",
        {"accounts": "how many"},
    ),
    RecordType(
        "identity.linked",
        "an account is linked to a person at a provider",
        {"issuer": "the provider's"},
        tells="identity_link",
    ),
    RecordType(
        "identity.unlinked",
        "an operator forgets who signs in to an account through a provider",
        tells="identity_unlink",
    ),
    RecordType(
        "authenticator.added",
        "an account has one more second factor",
        _OF_KIND,
        tells="factor_change",
        facts={"change": "added"},
    ),
    RecordType("authenticator.renamed", "an account's second factor has another name", _OF_KIND),
    RecordType(
        "authenticator.removed",
        "an account has one second factor less",
        _OF_KIND,
        tells="factor_change",
        facts={"change": "removed"},
    ),
    RecordType(
        "passkey.suspected",
        "a passkey signs rightly, and says it has signed no oftener than before: it may be a copy",
        tells="passkey_suspicion",
    ),
    RecordType(
        "authenticators.reset",
        "all second factors of an account are taken away: by an operator, or because somebody else"
        " may have set them up",
        {"authenticators": "how many"},
        tells="factor_change",
        facts={"change": "reset"},
    ),
    RecordType(
        "recovery_codes.created",
        "an account has new recovery codes, and the old ones are dead",
        tells="factor_change",
        facts={"change": "recovery_codes"},
    ),
    RecordType(
        "recovery_code.used",
        "a recovery code stands in for a second factor",
        {"left": "how many there still are"},
        tells="recovery_code_use",
    ),
    RecordType(
        "device.trusted",
        "a device is not asked for the account's second factor for some days",
        tells="device_trust",
        facts={"change": "trusted"},
    ),
    RecordType(
        "device.forgotten",
        "an account's owner trusts a device no longer",
        tells="device_trust",
        facts={"change": "forgotten"},
    ),
    RecordType(
        "registration.passed_over",
        "somebody registers an address that has an account, or may have none; a mail says so",
    ),
    RecordType("profile.created", "an account gets a profile"),
    RecordType(
        "profile.updated",
        "a profile changes, by its owner or an admin",
        {"changed": "the names of its properties; `extra` for all that are a client's own"},
    ),
    RecordType("profile.deleted", "a profile is deleted"),
    RecordType("workspace.created", "a workspace is made"),
    RecordType(
        "workspace.updated",
        "a workspace has another name or slug",
        {"changed": "which of the two"},
    ),
    RecordType("workspace.deleted", "a workspace goes: by its owner, or with the account"),
    RecordType(
        "member.added",
        "somebody becomes a member of a workspace",
        {"after": _TYPE_AND_STATUS},
        tells="membership",
        facts={"change": "added"},
    ),
    RecordType(
        "member.updated",
        "a member becomes one of another type or status",
        {"before": _TYPE_AND_STATUS, "after": _TYPE_AND_STATUS},
        tells="membership",
        facts={"change": "changed"},
    ),
    RecordType(
        "member.removed",
        "somebody leaves a workspace, or is removed from it",
        {"before": _TYPE_AND_STATUS},
        tells="membership",
        facts={"change": "removed"},
    ),
    RecordType("invitation.created", "an address is invited into a workspace", _INVITED),
    RecordType("invitation.renewed", "who is invited already is invited again", _INVITED),
    RecordType("invitation.resent", "an invitation is mailed again"),
    RecordType("invitation.revoked", "an invitation is taken back"),
    RecordType("invitation.accepted", "the invited one accepts"),
    RecordType("invitation.declined", "the invited one declines"),
    RecordType(
        "notification.sent",
        "a notification is sent",
        {
            "channels": "by which",
            "receivers": "how many are reached in their inbox",
            "notification_type": "`admin`, `system`, …",
            "scope": "`account`, or another package's",
        },
    ),
    RecordType("notification.deleted", "what an admin has sent goes from every inbox"),
)

_RESET_REFUSED = RecordType(
    "password.reset_refused",
    "a recovery is asked for with an address that nobody has, or for an inactive account",
    _REFUSED,
)
# What was refused, by the security log's word for what was asked. Of what it tells besides
# (credentials that have run out, bodies that are not valid) there are no records.
REFUSALS: Mapping[str, RecordType] = {
    "sign_in": RecordType("login.failed", "a sign-in is refused", _REFUSED),
    "reauthentication": RecordType(
        "reauthentication.refused", "somebody who is in cannot show who they are", _REFUSED
    ),
    "proof": RecordType("proof.refused", "a mailed token or code is refused", _REFUSED),
    "recovery_request": _RESET_REFUSED,
    "password_reset": _RESET_REFUSED,
    "account_creation": RecordType("registration.refused", "a registration is refused", _REFUSED),
    "entry": RecordType("access.refused", "a caller asks for what is not theirs", _REFUSED),
    "limit": RecordType("limit.reached", "somebody comes to a limit or quota", _REFUSED),
}

CATALOGUE: Mapping[str, RecordType] = {each.name: each for each in (*DEEDS, *REFUSALS.values())}
