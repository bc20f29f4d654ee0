"""The security check-up: the one next step for an account, the most urgent first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from markupsafe import Markup

from ..resources import Features
from ..texts import _, _n

# With this number of recovery codes or fewer, the check-up advises to create new ones.
FEW_CODES = 3
# A session or a passkey that was not used for so long.
UNUSED = timedelta(days=60)


class Device(NamedTuple):
    """A session of another browser, or a passkey."""

    name: str
    created_at: datetime
    used_at: datetime | None

    def is_unused(self, now: datetime) -> bool:
        return now - (self.used_at or self.created_at) > UNUSED


class SecurityState(NamedTuple):
    is_verified: bool
    has_factor: bool
    # Whether the account must have a second factor.
    needs_factor: bool
    # None without a second factor.
    codes_left: int | None
    passkeys: Sequence[Device]
    other_sessions: Sequence[Device]


class Step(NamedTuple):
    kind: str
    title: Markup
    why: Markup
    button: Markup
    # The endpoint of the page.
    page: str


def next_step(state: SecurityState, on: Features, now: datetime) -> Step | None:
    """Return the most urgent step, or None if nothing is to do."""
    return next(_steps(state, on, now), None)


def _steps(state: SecurityState, on: Features, now: datetime) -> Iterator[Step]:
    if not state.is_verified:
        yield Step(
            "warn",
            _("Confirm your email address"),
            _("You need a confirmed email address to reset a forgotten password."),
            _("Confirm email address"),
            ".email_page",
        )
    if on.second_factors and not state.has_factor:
        yield _add_factor(state, on)
    if state.codes_left is not None and state.codes_left <= FEW_CODES:
        yield Step(
            "warn",
            _("Create new recovery codes"),
            _few_codes(state.codes_left),
            _("Create new codes"),
            ".recovery_codes_page",
        )
    unused = [each for each in state.other_sessions if each.is_unused(now)]
    if unused:
        yield Step(
            "info",
            _("Check your sessions"),
            _n(
                "One device is still signed in but has not been used for two months.",
                "{n} devices are still signed in but have not been used for two months.",
                len(unused),
            ),
            _("Check sessions"),
            ".sessions_page",
        )
    for passkey in state.passkeys:
        if passkey.is_unused(now):
            yield Step(
                "info",
                _("Check your passkeys"),
                _(
                    "The passkey {name} has not been used for two months. Remove the passkey if you"
                    " no longer have the device.",
                    name=passkey.name,
                ),
                _("Check passkeys"),
                ".passkeys_page",
            )


def _add_factor(state: SecurityState, on: Features) -> Step:
    if on.passkeys and not state.needs_factor:
        return Step(
            "info",
            _("Add a passkey"),
            _("Sign in with your fingerprint, face or screen lock. Passkeys cannot be phished."),
            _("Add a passkey"),
            ".new_passkey_page",
        )
    return Step(
        "warn" if state.needs_factor else "info",
        _("Set up two-factor authentication"),
        _("Your role requires two-factor authentication.")
        if state.needs_factor
        else _("A stolen password alone is then not enough to sign in."),
        _("Set up"),
        ".factors_page" if on.factors else ".passkeys_page",
    )


def _few_codes(left: int) -> Markup:
    if not left:
        return _("No recovery codes left. You cannot sign in if you lose your device.")
    return _n(
        "One recovery code left. Without recovery codes, you cannot sign in if you lose your"
        " device.",
        "{n} recovery codes left. Without recovery codes, you cannot sign in if you lose your"
        " device.",
        left,
    )
