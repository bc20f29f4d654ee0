"""What a form shows again when it was refused: what was typed, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flask import request
from markupsafe import Markup

from ..core.errors import Fault, Problem
from .texts import _, words_of

_REFUSED = "frontdesk_refused"


@dataclass(frozen=True)
class RefusedForm:
    # The endpoint of the form's action, without the blueprint's name.
    action: str
    problem: Problem


def note_refusal(problem: Problem) -> None:
    setattr(request, _REFUSED, RefusedForm(_own_name(request.endpoint or ""), problem))


def form_state(action: str) -> FormState:
    refused: RefusedForm | None = getattr(request, _REFUSED, None)
    is_this = refused is not None and refused.action == _own_name(action)
    return FormState(refused.problem if refused is not None and is_this else None)


def _own_name(endpoint: str) -> str:
    return endpoint.rpartition(".")[2]


@dataclass
class FormState:
    problem: Problem | None

    def __post_init__(self) -> None:
        self._shown: set[str] = set()

    def value(self, name: str, default: object = "") -> Any:
        if self.problem is None:
            return "" if default is None else default
        return request.form.get(name, "")

    def values(self, name: str, default: Any = ()) -> list[Any]:
        return list(default) if self.problem is None else request.form.getlist(name)

    def error(self, name: str) -> str | None:
        """Of a field by its name, and of what lies within it."""
        self._shown.add(name)
        found = [fault.message for fault in self._faults() if _is_of(fault, name)]
        return Markup(" ").join(_(text) for text in found) or None

    @property
    def message(self) -> str | None:
        """What is wrong with all of it; a form shows it once and above its fields."""
        if self.problem is None:
            return None
        if self.problem.faults:
            return _("Check the fields below.")
        return words_of(self.problem)

    @property
    def code(self) -> str:
        """The API's word for it, for pages that offer what to do about it."""
        return "" if self.problem is None else self.problem.code

    @property
    def elsewhere(self) -> list[str]:
        """Faults of what the form has no field for: asked for below its fields."""
        return [
            Markup("{}: {}").format(fault.field, _(fault.message))
            if fault.field
            else _(fault.message)
            for fault in self._faults()
            if not any(_is_of(fault, name) for name in self._shown)
        ]

    def _faults(self) -> Iterator[Fault]:
        yield from self.problem.faults if self.problem is not None else ()


def _is_of(fault: Fault, name: str) -> bool:
    return fault.field == name or fault.field.startswith(f"{name}.")
