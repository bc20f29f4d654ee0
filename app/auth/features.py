"""The optional features of authentication, as the sign-in services use them.

An enabled feature is in the application's context before the sign-in services are built.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..accounts.models import AccountLike
from ..core.errors import Problem
from ..core.types import AccountKey
from .caller import CredentialReader
from .sign_in.policy import SignInResult, Stage
from .step_up.service import Renew, StepUp

if TYPE_CHECKING:
    from .sessions.service import Sessions


class CookieFeature(NamedTuple):
    """The functions that read and set the session cookie."""

    read: CredentialReader
    set: Callable[[SignInResult], object]


@dataclass(frozen=True)
class SessionFeature:
    """AUTH.SESSIONS and AUTH.COOKIE_SESSIONS."""

    sessions: Sessions
    # Off: only sign-ins by cookie have a session.
    for_every_sign_in: bool
    renew: Renew
    cookie: CookieFeature | None


@dataclass(frozen=True)
class FactorFeature:
    """AUTH.MFA and AUTH.PASSKEYS: the authenticators of accounts."""

    has_factor: Callable[[AccountLike], bool]
    # None where passkeys only sign in by themselves.
    stage: Stage | None
    stage_refusals: tuple[type[Problem], ...]
    step_up: StepUp | None
    # Resets the rate limits of an account by its id.
    reset_limits: Callable[[AccountKey], object]


@dataclass(frozen=True)
class PasskeyFeature:
    check_factor: Callable[[AccountLike, object], str | None]
    step_up: StepUp


@dataclass(frozen=True)
class LoginCodeFeature:
    step_up: StepUp


# The type of an account that is no member.
NO_MEMBERSHIP = ""


class MembershipFeature(NamedTuple):
    """The memberships that groups of identity providers change."""

    # Returns the ids of the workspaces by slug.
    find_workspaces: Callable[[Collection[str]], Mapping[str, int]]
    # Locks a workspace and returns the type of a member; None if the workspace does not exist, or
    # the membership is deactivated.
    lock_member: Callable[[int, AccountKey], str | None]
    # Adds a member, sets its type, or removes it for NO_MEMBERSHIP. Returns False for the last
    # owner.
    set_type: Callable[[int, AccountLike, str], bool]


class TokenFeature(NamedTuple):
    """AUTH.PERSONAL_TOKENS: the tokens of programs."""

    # Returns None for a header of another form.
    read: CredentialReader
    # Whether the token of a workspace with this id is valid, for use within a transaction.
    is_valid: Callable[[int], bool] = lambda _: False
