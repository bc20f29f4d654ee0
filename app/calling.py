"""What each hook is called with: one that cannot be is refused where it is registered, rather than
at the first request that it would serve."""

from __future__ import annotations

import inspect
from typing import Any

from .core.errors import SetupError

ARGUMENTS = {
    "claims": ("account", "session"),
    "payload": ("payload", "session"),
    "workspace_resolver": ("session", "account", "path_params", "headers"),
    "recovery_mail": ("email_to=", "username=", "token=", "code="),
    "receivers": ("accounts", "session"),
    "channel": ("message", "receiver"),
    "on": ("subject", "options"),
}


def check_hook(kind: str, hook: Any, shown: str = "") -> None:
    shown = shown or f"@frontdesk.{kind}"
    arguments = ", ".join(ARGUMENTS[kind])
    if not callable(hook):
        raise SetupError(f"{shown} takes a function of ({arguments}), and not {hook!r}.")
    try:
        # A wrapper may call what it wraps with more than it is given itself.
        signature = inspect.signature(hook, follow_wrapped=False)
    except (TypeError, ValueError):
        return  # written in C: it does not say
    by_name = {name[:-1]: "" for name in ARGUMENTS[kind] if name.endswith("=")}
    in_order = () if by_name else ARGUMENTS[kind]
    try:
        signature.bind(*in_order, **by_name)
    except TypeError as error:
        given = f"{getattr(hook, '__qualname__', type(hook).__qualname__)}{signature}"
        raise SetupError(
            f"{shown} is called with ({arguments}), which {given} does not take: {error}."
        ) from None
