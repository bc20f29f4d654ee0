"""Every event that a listener may hear, in one list.

A listener is `(subject, options)`; `options["session"]` is the session of the transaction in which
the event happens, `options["origin"]` says who did it.
"""

from __future__ import annotations

from typing import NamedTuple

from ..accounts.service import DELETED, EMAIL_CHANGED, REGISTERED
from ..auth.idp.service import ACCOUNT_CREATE
from ..auth.passwords import PASSWORD_CHANGED
from ..auth.recovery import PASSWORD_RESET
from ..auth.sign_in.gate import LOGGED_IN
from ..auth.sign_in.log_out import LOGGED_OUT
from ..deletion.service import DELETION_REQUESTED, RESTORED
from ..registration.service import REQUESTED
from ..registration.verification import VERIFIED
from ..workspaces.invitations.received import ACCEPTANCE, REFUSAL
from ..workspaces.invitations.service import CREATED


class Event(NamedTuple):
    name: str
    subject: str
    when: str
    # What is expected of its listener, or what its raising does.
    returns: str = "nothing"


EVENTS = (
    Event(
        REGISTERED,
        "the account",
        "when an account was made (by the command line, `frontdesk.accounts.create`, a sign-up),"
        " inside its transaction; one whose address must be proven first: when it is",
    ),
    Event(
        REQUESTED,
        "the account, which is `pending`",
        "when somebody has registered and must prove the address first, inside the transaction",
    ),
    Event(
        VERIFIED,
        "the account",
        "when its address was proven by the mailed token or code, or vouched for by an"
        " administrator, inside the transaction",
    ),
    Event(
        DELETION_REQUESTED,
        "the account, which is `deleting`",
        "when its owner has asked for its end and days of grace begin, inside the transaction",
    ),
    Event(
        RESTORED,
        "the account",
        "when an account that was to be deleted is kept after all, inside the transaction",
    ),
    Event(DELETED, "the account", "when an account is deleted, inside the transaction"),
    Event(
        LOGGED_IN,
        "the account",
        "at each successful sign-in, before claims and payload, inside the transaction",
        "nothing. A `Problem` that it raises is the answer, and nothing is stored",
    ),
    Event(
        LOGGED_OUT,
        "the account",
        "at DELETE /logout, after the revocation, and when an operator ends an account's tokens",
    ),
    Event(
        PASSWORD_RESET,
        "the account",
        "when a password was set through a recovery, inside the transaction",
    ),
    Event(
        PASSWORD_CHANGED,
        "the account",
        "when its owner has changed the password, inside the transaction",
    ),
    Event(
        EMAIL_CHANGED,
        "the account, with its new address",
        "when the address of an account has become another one, by its owner, by an operator or"
        " back to the old one, inside the transaction",
    ),
    Event(
        ACCOUNT_CREATE,
        "`IdpUserInfo` (`email`, `auth_payload`, `subject`, `issuer`, …)",
        "at POST /idp/callback, when nobody is known by issuer and subject, no account has the"
        " provider's e-mail and `AUTH.ALLOW_IDP_OAUTH_SIGNUP` is on, inside the transaction",
        "nothing; it must have made the account, otherwise the answer is 500",
    ),
    Event(
        CREATED,
        "the `Invitation` (`workspace_id`, `inviter_id`, `email`, `type`, …)",
        "when an address is invited into a workspace, inside the transaction and before the mail",
    ),
    Event(
        ACCEPTANCE,
        "the `Invitation`",
        "when it was accepted, after its membership was made, inside the transaction",
    ),
    Event(REFUSAL, "the `Invitation`", "when it was declined, inside the transaction"),
)

NAMES = frozenset(event.name for event in EVENTS)
