"""The state of a form: the input and the errors that a rejected form shows again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from flask import request
from markupsafe import Markup

from ..core.errors import Fault, Problem, TooLarge
from ..workspaces.errors import SlugTaken
from .error_texts import field_error, labeled_error, message_for
from .texts import _

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
    if isinstance(problem, SlugTaken):
        problem.faults = [Fault("json", "slug", message_for(problem))]
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

    def value(self, name: str, default: object = "") -> object:
        default = "" if default is None else default
        if self.problem is None:
            return request.form.get(name, default) if self.is_kept else default
        return request.form.get(name, "")

    def values(self, name: str, default: Iterable[object] = ()) -> Sequence[object]:
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


@contextmanager
def picture_errors(name: str) -> Iterator[None]:
    """Report all errors of an upload at the field of this name, the only one of the form."""
    try:
        yield
    except Problem as problem:
        if problem.faults:
            # The service names the field of an avatar.
            problem.faults = [fault._replace(field=name) for fault in problem.faults]
        else:
            is_too_large = problem.status == TooLarge.status
            text = _("The picture is larger than 5 MiB.") if is_too_large else message_for(problem)
            problem.faults = [Fault("files", name, text)]
        raise
