"""Actions of sign-in, credentials, sessions and authenticators, and rejected requests."""

from typing import Any

from ..core.actions import Action, Signal, Title, Variant, has
from ..core.security_log import REJECTION_DATA
from ..core.types import Values

# The areas of the audit log, with the first part of the names of their actions.
AREAS = {
    "Sign-in and sessions": ("login", "reauthentication", "logout", "tokens", "session"),
    "Passwords and email addresses": ("password", "email"),
    "Identity providers": ("identity",),
    "Two-factor authentication": (
        *("authenticator", "authenticators", "passkey"),
        *("recovery_codes", "recovery_code", "device"),
    ),
    "Rejected requests": ("proof", "access", "limit"),
}

_KIND = {"kind": "`totp` or `passkey`"}


def _describe_end(data: Values) -> Title | None:
    if data.get("reason") == "replaced":
        return Title("Session ended by a new sign-in in the same browser")
    return Title("Several sessions ended") if data.get("sessions", 1) > 1 else None


def _describe_revocation(data: Values) -> Title | None:
    return Title("Tokens of all accounts revoked by an operator") if "accounts" in data else None


def _by_kind(app: Title, passkey: Title) -> dict[str, Any]:
    titles = {"totp": app, "passkey": passkey}
    return {
        "describe": lambda data: titles.get(data.get("kind", "")),
        "variants": {kind: Variant(each.text, has(kind=kind)) for kind, each in titles.items()},
    }


LOGGED_IN = Signal(
    "account-logged-in",
    "the account",
    "at each successful sign-in, before claims and payload, inside the transaction",
    "nothing. If it raises a `Problem`, the problem is the response and the sign-in is not stored;"
    " an account that an identity provider's first sign-in created stays",
)
LOGGED_OUT = Signal(
    "account-logged-out",
    "the account",
    "at `DELETE /logout`, after the revocation, and when an operator revokes an account's tokens",
)
PASSWORD_RESET_SIGNAL = Signal(
    "password-reset",
    "the account",
    "when a password is set through account recovery, inside the transaction",
)
PASSWORD_CHANGED_SIGNAL = Signal(
    "password-changed",
    "the account",
    "when the owner has changed the password, inside the transaction",
)
ACCOUNT_CREATE = Signal(
    "idp-account-create",
    "`IdpUserInfo` (`email`, `auth_payload`, `subject`, `issuer`, …)",
    "at `POST /idp/callback`, if no account matches the issuer and subject or the provider's email"
    " address and `AUTH.ALLOW_IDP_OAUTH_SIGNUP` is on, inside the transaction",
    "nothing; it must create the account, otherwise the response is 500",
)

LOGIN_SUCCEEDED = Action(
    "login.succeeded",
    "Signed in",
    {"proofs": "the credentials: `password`, `provider`, …"},
    signal=LOGGED_IN,
    log_event="sign_in",
)
LOGIN_CHALLENGED = Action(
    "login.challenged", "MFA requested at sign-in", {"proofs": "the credentials so far"}
)
LOGIN_CODE_REQUESTED = Action(
    "login.code_requested", "Sign-in code requested by email", log_event="login_code_request"
)
SIGN_IN_LINK_CREATED = Action(
    "login.link_created", "Sign-in link created by an operator", log_event="sign_in_link"
)
LOGIN_FAILED = Action(
    "login.failed", "Sign-in failed", REJECTION_DATA, rejection_events=("sign_in",)
)
REAUTHENTICATION_SUCCEEDED = Action(
    "reauthentication.succeeded",
    "Re-authenticated",
    {"proofs": "the credentials: `password`, `totp`, …"},
    log_event="reauthentication",
)
REAUTHENTICATION_REFUSED = Action(
    "reauthentication.refused",
    "Re-authentication failed",
    REJECTION_DATA,
    rejection_events=("reauthentication",),
)
LOGOUT_SUCCEEDED = Action("logout.succeeded", "Signed out", signal=LOGGED_OUT, log_event="logout")
TOKENS_ENDED = Action(
    "tokens.ended",
    "Tokens revoked by an operator",
    {"accounts": "number of accounts, if the tokens of all were revoked"},
    signal=LOGGED_OUT,
    log_event="tokens_ended",
    describe=_describe_revocation,
)
SESSION_ENDED = Action(
    "session.ended",
    "Session ended",
    {
        "reason": "`owner`, `operator`, `replaced` by a sign-in of the same browser, or `provider`:"
        " signed out at the identity provider",
        "sessions": "number of sessions, if several ended",
    },
    log_event="session_end",
    describe=_describe_end,
)
SESSION_REUSED = Action(
    "session.reused",
    "Session ended because its refresh token was used twice",
    log_event="session_reuse",
)

PASSWORD_RESET_REQUESTED = Action(
    "password.reset_requested", "Password reset requested", log_event="recovery_request"
)
PASSWORD_RESET_REFUSED = Action(
    "password.reset_refused",
    "Password reset rejected",
    REJECTION_DATA,
    rejection_events=("recovery_request", "password_reset"),
)
PASSWORD_RESET = Action(
    "password.reset",
    "Password reset by email",
    signal=PASSWORD_RESET_SIGNAL,
    log_event="password_reset",
)
PASSWORD_CHANGED = Action(
    "password.changed",
    "Password changed",
    signal=PASSWORD_CHANGED_SIGNAL,
    log_event="account_change",
    log_fields={"changed": ["password"]},
)
EMAIL_CHANGE_REQUESTED = Action(
    "email.change_requested", "Change of email address requested", log_event="email_change_request"
)
EMAIL_CHANGE_UNDONE = Action(
    "email.change_undone", "Change of email address undone", log_event="email_undo"
)

IDENTITY_REQUESTED = Action(
    "identity.account_requested",
    "Account requested by an identity provider",
    signal=ACCOUNT_CREATE,
    is_audited=False,
)
IDENTITY_LINKED = Action(
    "identity.linked",
    "Identity provider linked",
    {"issuer": "the provider's issuer"},
    log_event="identity_link",
)
GRANT_KEPT = Action(
    "identity.grant_kept",
    "Last root or owner kept without the group",
    {"kept": "the role, or the type of the member"},
    log_event="grant_kept",
)
IDENTITY_UNLINKED = Action(
    "identity.unlinked",
    "Identity provider unlinked",
    {"issuer": "the provider's issuer, unless all were unlinked"},
    log_event="identity_unlink",
)

AUTHENTICATOR_ADDED = Action(
    "authenticator.added",
    "Authenticator added",
    _KIND,
    log_event="factor_change",
    log_fields={"change": "added"},
    **_by_kind(Title("Authenticator app added"), Title("Passkey added")),
)
AUTHENTICATOR_RENAMED = Action(
    "authenticator.renamed",
    "Authenticator renamed",
    _KIND,
    **_by_kind(Title("Authenticator app renamed"), Title("Passkey renamed")),
)
AUTHENTICATOR_REMOVED = Action(
    "authenticator.removed",
    "Authenticator removed",
    _KIND,
    log_event="factor_change",
    log_fields={"change": "removed"},
    **_by_kind(Title("Authenticator app removed"), Title("Passkey removed")),
)
PASSKEY_SUSPECTED = Action(
    "passkey.suspected",
    "Passkey with an old signature counter used (possibly a copy)",
    log_event="passkey_suspicion",
)
AUTHENTICATORS_RESET = Action(
    "authenticators.reset",
    "Two-factor authentication reset",
    {"authenticators": "number of authenticators"},
    log_event="factor_change",
    log_fields={"change": "reset"},
)
RECOVERY_CODES_CREATED = Action(
    "recovery_codes.created",
    "Recovery codes created",
    log_event="factor_change",
    log_fields={"change": "recovery_codes"},
)
RECOVERY_CODE_USED = Action(
    "recovery_code.used",
    "Recovery code used",
    {"left": "number of unused recovery codes"},
    log_event="recovery_code_use",
)
DEVICE_TRUSTED = Action(
    "device.trusted", "Device trusted", log_event="device_trust", log_fields={"change": "trusted"}
)
DEVICE_FORGOTTEN = Action(
    "device.forgotten",
    "Trusted device removed",
    log_event="device_trust",
    log_fields={"change": "forgotten"},
)

PROOF_REFUSED = Action(
    "proof.refused", "Emailed link or code rejected", REJECTION_DATA, rejection_events=("proof",)
)
ACCESS_REFUSED = Action(
    "access.refused", "Access denied", REJECTION_DATA, rejection_events=("entry",)
)
LIMIT_REACHED = Action(
    "limit.reached", "Rate limit or quota reached", REJECTION_DATA, rejection_events=("limit",)
)
AUTHENTICATOR_REFUSED = Action(
    "authenticator.refused",
    "Authenticator rejected",
    rejection_events=("factor_change",),
    is_audited=False,
)
CREDENTIAL_REFUSED = Action(
    "credential.refused", "Credentials rejected", rejection_events=("credential",), is_audited=False
)
INPUT_REFUSED = Action(
    "input.refused", "Invalid input", rejection_events=("input",), is_audited=False
)
