"""Actions on accounts: created, changed, verified, deleted, exported, imported."""

from ..core.actions import Action, Signal, Title, Variant, changed, differs, find_changes
from ..core.security_log import REJECTION_DATA
from ..core.types import Values

# The areas of the audit log, with the first part of the names of their actions.
AREAS = {"Accounts": ("account", "accounts", "registration")}

_ROLE_AND_STATUS = "role and status, if they changed"
_DETAIL_TITLES = {
    "email": Title("Email address changed"),
    "password": Title("Password changed"),
    "phone": Title("Phone number changed"),
    "locale": Title("Language changed"),
    "time_zone": Title("Time zone changed"),
    "suspended_until": Title("End of the suspension changed"),
}
_VARIANTS = {
    "role": Variant("Role changed", differs("role")),
    "suspended": Variant("Account suspended", differs("status", after="suspended")),
    "reactivated": Variant("Account reactivated", differs("status", before="suspended")),
    **{name: Variant(title.text, changed(name)) for name, title in _DETAIL_TITLES.items()},
}


def _describe_update(data: Values) -> Title | None:
    """Return the title for the only change; the end of a suspension is part of its status."""
    changes = {each.name: each for each in find_changes(data)}
    if "status" in changes:
        changes.pop("suspended_until", None)
    if len(changes) != 1:
        return None
    [(name, change)] = changes.items()
    if name == "role":
        return Title("Role changed from {before} to {after}", change._asdict())
    if name == "status":
        return _describe_status(change.before, change.after)
    return _DETAIL_TITLES.get(name)


def _describe_status(before: str, after: str) -> Title:
    if after == "suspended":
        return Title("Account suspended")
    if before == "suspended":
        return Title("Account reactivated")
    return Title("Status changed from {before} to {after}", {"before": before, "after": after})


REGISTERED = Signal(
    "account-registered",
    "the account",
    "when an account is created (command line, `frontdesk.accounts.create`, registration), inside"
    " the transaction; an account that must verify its email address first: when it is verified",
)
REQUESTED = Signal(
    "registration-requested",
    "the account, which is `pending`",
    "when a user has registered and must verify the email address first, inside the transaction",
)
VERIFIED = Signal(
    "email-verified",
    "the account",
    "when the email address is verified by the emailed token or code, or by an admin, inside the"
    " transaction",
)
EMAIL_CHANGED = Signal(
    "email-changed",
    "the account, with its new address",
    "when the email address of an account changes, by its owner, by an operator or back to the"
    " former address, inside the transaction",
)
DELETION_REQUESTED = Signal(
    "account-deletion-requested",
    "the account, which is `deleting`",
    "when the owner requests the deletion and the grace period begins, inside the transaction",
)
RESTORED = Signal(
    "account-restored",
    "the account",
    "when the deletion of an account is canceled, inside the transaction",
)
DELETED = Signal(
    "account-deleted", "the account", "when an account is deleted, inside the transaction"
)

ACCOUNT_CREATED = Action(
    "account.created", "Account created", {"after": "role, status"}, log_event="account_creation"
)
ACCOUNT_REGISTERED = Action(
    "account.registered", "Account registered", signal=REGISTERED, is_audited=False
)
REGISTRATION_REQUESTED = Action(
    "registration.requested", "Registration requested", signal=REQUESTED, is_audited=False
)
REGISTRATION_IGNORED = Action(
    "registration.passed_over", "Registration attempted with an unavailable email address"
)
REGISTRATION_REFUSED = Action(
    "registration.refused",
    "Registration rejected",
    REJECTION_DATA,
    rejection_events=("account_creation",),
)
ACCOUNT_VERIFIED = Action("account.verified", "Email address verified", log_event="address_proof")
EMAIL_VERIFIED = Action(
    "email.verified", "Email address verified", signal=VERIFIED, is_audited=False
)
PASSWORD_REMOVED = Action(
    "password.removed",
    "Password from before the email verification removed",
    log_event="account_change",
    log_fields={"changed": ["password"]},
)
ACCOUNT_UPDATED = Action(
    "account.updated",
    "Account details changed",
    {"changed": "the names of the details", "before": _ROLE_AND_STATUS, "after": _ROLE_AND_STATUS},
    log_event="account_change",
    describe=_describe_update,
    variants=_VARIANTS,
)
EMAIL_CHANGE_COMPLETED = Action(
    "email.changed", "Email address changed", signal=EMAIL_CHANGED, is_audited=False
)
ACCOUNT_DELETION_REQUESTED = Action(
    "account.deletion_requested",
    "Account deletion requested",
    signal=DELETION_REQUESTED,
    log_event="account_deletion_request",
)
ACCOUNT_RESTORED = Action(
    "account.restored",
    "Account deletion canceled",
    signal=RESTORED,
    log_event="account_restoration",
)
ACCOUNT_DELETED = Action(
    "account.deleted", "Account deleted", signal=DELETED, log_event="account_deletion"
)
ACCOUNT_EXPORTED = Action("account.exported", "Data export requested", log_event="account_export")
ACCOUNT_UNLOCKED = Action(
    "account.unlocked", "Account unlocked by an operator", log_event="account_unlock"
)
ACCOUNTS_IMPORTED = Action(
    "accounts.imported",
    "Accounts imported",
    {"created": "number of new accounts", "updated": "number of changed accounts"},
)
ACCOUNT_NOTE_ADDED = Action("account.note_added", "Note about the account added")
ACCOUNT_NOTE_DELETED = Action("account.note_deleted", "Note about the account deleted")
ACCOUNTS_DOWNLOADED = Action(
    "accounts.downloaded",
    "List of accounts downloaded",
    {"format": "`csv` or `jsonl`", "filters": "names of the filters"},
)
ACCOUNTS_PRUNED = Action(
    "accounts.pruned", "Unverified accounts deleted", {"accounts": "number of accounts"}
)
