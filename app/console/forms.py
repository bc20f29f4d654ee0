"""The state of a form: the input and the errors that a rejected form shows again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flask import request
from markupsafe import Markup

from ..core.errors import Fault, Problem
from .texts import _, mark, message_for

_SENT = "frontdesk_sent_form"


@dataclass(frozen=True)
class SentForm:
    # The endpoint of the form's action without the name of the blueprint, and its path.
    action: str
    path: str
    # None for a form that was kept while the user signed in.
    problem: Problem | None
    # Whether a kept form was sent without a session, and not before a re-authentication.
    after_sign_out: bool = False


def remember_rejection(problem: Problem, action: str = "") -> None:
    """Show the error at the form of this request, or at the form with another action."""
    sent = SentForm(endpoint_name(action or request.endpoint or ""), sent_path(), problem)
    setattr(request, _SENT, sent)


def show_kept_form(action: str, path: str, *, after_sign_out: bool) -> None:
    setattr(request, _SENT, SentForm(action, path, None, after_sign_out))


def kept_form() -> SentForm | None:
    """Return the form that was kept while the user signed in, if the page shows one."""
    sent: SentForm | None = getattr(request, _SENT, None)
    return sent if sent is not None and sent.problem is None else None


def form_state(action: str, address: str = "") -> FormState:
    """Return the state of a form. Of several forms with the same action, only the one that sends to
    `address` is filled in and has errors."""
    sent: SentForm | None = getattr(request, _SENT, None)
    if sent is None or sent.action != endpoint_name(action):
        return FormState(None)
    if address and address.partition("?")[0] != sent.path:
        return FormState(None)
    return FormState(sent.problem, is_kept=sent.problem is None)


def sent_path() -> str:
    return request.root_path + request.path


def endpoint_name(endpoint: str) -> str:
    return endpoint.rpartition(".")[2]


@dataclass
class FormState:
    problem: Problem | None
    is_kept: bool = False

    def __post_init__(self) -> None:
        self._shown: set[str] = set()

    @property
    def is_unsaved(self) -> bool:
        """Whether the form shows input that was not saved."""
        return self.is_kept or self.problem is not None

    def value(self, name: str, default: object = "") -> Any:
        default = "" if default is None else default
        if self.problem is None:
            return request.form.get(name, default) if self.is_kept else default
        return request.form.get(name, "")

    def values(self, name: str, default: Any = ()) -> list[Any]:
        return request.form.getlist(name) if self.is_unsaved else list(default)

    def error(self, name: str) -> str | None:
        """Return the errors of a field and of the fields within it."""
        self._shown.add(name)
        found = [field_error(fault) for fault in self._faults() if _belongs_to(fault, name)]
        return Markup(" ").join(found) or None

    @property
    def message(self) -> str | None:
        """The error above the fields of the form."""
        if self.problem is None:
            return None
        if not self.problem.faults:
            return message_for(self.problem)
        if len(self.other_errors) == len(self.problem.faults):
            return _("Some values are invalid.")
        return _("Check the fields below.")

    @property
    def code(self) -> str:
        """The code of the error, for pages that offer a solution."""
        return "" if self.problem is None else self.problem.code

    @property
    def other_errors(self) -> list[str]:
        """The errors of fields that the form does not show; read it after the fields."""
        return [
            labeled_error(fault)
            for fault in self._faults()
            if not any(_belongs_to(fault, name) for name in self._shown)
        ]

    def _faults(self) -> Iterator[Fault]:
        yield from self.problem.faults if self.problem is not None else ()


def _belongs_to(fault: Fault, name: str) -> bool:
    return fault.field == name or fault.field.startswith(f"{name}.")


_PHONE = "+44 20 7946 0000"
# Messages of the API's schemas, and what a page says instead.
_ERRORS = (
    (
        re.compile(r"(Missing data for required field|Field may not be null|Must not be blank)\."),
        mark("This field is required."),
    ),
    (
        re.compile(r"Length must be between (?P<min>\d+) and (?P<max>\d+)\."),
        mark("Enter {min} to {max} characters."),
    ),
    (
        re.compile(r"Longer than maximum length (?P<max>\d+)\."),
        mark("Enter at most {max} characters."),
    ),
    (
        re.compile(r"Shorter than minimum length (?P<min>\d+)\."),
        mark("Enter at least {min} characters."),
    ),
    (re.compile(r"Not a valid ([a-z]+ )?(date|datetime)\."), mark("Enter a valid date.")),
    (re.compile(r"Not a valid (integer|number)\."), mark("Enter a number.")),
    (re.compile(r"Not a valid email address\.?"), mark("Enter a valid email address.")),
    (
        re.compile(r"Not a valid phone number.*"),
        mark("Enter a phone number with + and the country code, such as {example}."),
    ),
    (re.compile(r"Not a valid UUID\."), mark("Enter a valid ID.")),
    (re.compile(r"Not a valid URL\."), mark("Enter a valid URL.")),
    (re.compile(r"Not a valid boolean\."), mark("Choose yes or no.")),
    (
        re.compile(r"(Not a valid string|Invalid type|Not a valid list)\."),
        mark("The value is invalid."),
    ),
    (
        re.compile(
            r"Must be greater than or equal to (?P<min>\S+)"
            r" and less than or equal to (?P<max>\S+)\."
        ),
        mark("Enter a number from {min} to {max}."),
    ),
    (re.compile(r"Must be (greater|less) than .*"), mark("The number is out of range.")),
    (re.compile(r"Must be one of: .*"), mark("Choose one of the options.")),
    (re.compile(r"String does not match expected pattern\."), mark("The format is invalid.")),
    (re.compile(r"The list is empty\..*"), mark("Select at least one account.")),
    (
        re.compile(r"Not the email address of the account\."),
        mark("This is not the account's email address."),
    ),
    (re.compile(r"Not the workspace's name\."), mark("This is not the name of the workspace.")),
    (re.compile(r"Must be in the future\."), mark("Choose a date in the future.")),
    (re.compile(r"Lies in the future\."), mark("Enter a date in the past.")),
    (re.compile(r"Must be another one than before\."), mark("Enter a new value.")),
    (
        re.compile(r"Not while the account has an unverified .*"),
        mark("This is not possible before the email address is verified."),
    ),
    (
        re.compile(r"The accounts of this application have no .*"),
        mark("The accounts of this application do not support this."),
    ),
    (
        re.compile(r"At least (?P<min>\d+) characters are needed\."),
        mark("Enter at least {min} characters."),
    ),
    (
        re.compile(r"This is among the passwords that are tried first.*"),
        mark("This password is too common. Choose another one."),
    ),
    (
        re.compile(r"This password appeared in a data breach.*"),
        mark("This password appeared in a data breach. Choose another one."),
    ),
    (
        re.compile(r"Must not be the email address\."),
        mark("The password must differ from the email address."),
    ),
    (
        re.compile(r"Use (?P<min>\d+) to (?P<max>\d+) lower-case letters, digits and hyphens\."),
        mark("Use {min} to {max} lowercase letters, digits and hyphens."),
    ),
    (re.compile(r"This slug is reserved\."), mark("This address is reserved. Choose another one.")),
    (re.compile(r"Not a place in this list\."), mark("Start again on the first page of the list.")),
    (
        re.compile(r"The audit log has no action with this name\."),
        mark("Choose one of the options."),
    ),
)
# Errors of fields that users do not fill in: the whole sentence.
_HIDDEN_FIELDS = {
    **dict.fromkeys(
        ("token", "mfa_token", "login_id", "code", "state", "redirect_uri", "invitation"),
        mark("This page is incomplete or has expired. Start again."),
    ),
    "credential": mark("The browser sent no valid passkey. Try again."),
}
# The labels of fields in errors outside of the field itself.
_LABELS = {
    "account": mark("Account"),
    "account_receiver_ids": mark("Recipients"),
    "actor": mark("Actor"),
    "avatar": mark("Picture"),
    "created_after": mark("Created after"),
    "data.channels": mark("Channels"),
    "data.message": mark("Message"),
    "data.title": mark("Title"),
    "email": mark("Email"),
    "emails": mark("Email addresses"),
    "last_login_after": mark("Last signed in after"),
    "last_login_before": mark("Last signed in before"),
    "language": mark("Language"),
    "list": mark("List"),
    "locale": mark("Language"),
    "logo": mark("Logo"),
    "mfa": mark("Two-factor authentication"),
    "name": mark("Name"),
    "otp": mark("Code from the app"),
    "password": mark("Password"),
    "phone": mark("Phone"),
    "recovery_code": mark("Recovery code"),
    "role": mark("Role"),
    "search": mark("Search"),
    "since": mark("From"),
    "slug": mark("Address"),
    "sort": mark("Sort order"),
    "status": mark("Status"),
    "suspended_reason": mark("Reason"),
    "suspended_until": mark("Until"),
    "target": mark("Target"),
    "time_zone": mark("Time zone"),
    "type": mark("Type"),
    "typed": mark("Number of recipients"),
    "until": mark("To"),
    "verified": mark("Verified"),
    "workspace": mark("Workspace"),
}


def field_error(fault: Fault) -> Markup:
    """Return what a page says about an invalid value, without the name of the field."""
    if isinstance(fault.message, Markup):
        # A text of the console, already translated.
        return fault.message
    for pattern, text in _ERRORS:
        if found := pattern.fullmatch(fault.message):
            return _(text, example=_PHONE, **found.groupdict())
    return _(fault.message)


def labeled_error(fault: Fault) -> Markup:
    """Return what a page says about an invalid value of a field that it does not show."""
    root = fault.field.partition(".")[0]
    if root in _HIDDEN_FIELDS:
        return _(_HIDDEN_FIELDS[root])
    if not fault.field:
        return field_error(fault)
    known = _LABELS.get(fault.field) or _LABELS.get(root)
    label = _(known) if known else fault.field.rpartition(".")[2].replace("_", " ").capitalize()
    return _("{field}: {error}", field=label, error=field_error(fault))
