"""Audit log entries of the application's own actions."""

import re
from typing import Any

from ..core.actions import Action, Target
from ..core.audit_log.models import TYPE_LENGTH
from ..core.context import find_context
from ..core.errors import SetupError
from .actions import ACTIONS

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+", re.ASCII)


class Recording:
    def __init__(self) -> None:
        # Shared by all applications of this extension, so a type can be declared later.
        self._record_types: dict[str, Action] = {}

    def record_type(self, name: str, meaning: str, **data: str) -> str:
        """Declare an action of your application for the audit log.

        Args:
            name: Name of the action, such as `notes.exported`.
            meaning: Title of the action, in the past tense.
            data: Names that `data` can have, each with its description. Declare `before` and
                `after` to record changes.

        Returns:
            The name.

        Raises:
            SetupError: The name is malformed, or it is an action of Frontdesk.

        Example::

            EXPORTED = frontdesk.record_type("notes.exported", "Notes exported", count="Notes")
        """
        if not _NAME.fullmatch(name) or len(name) > TYPE_LENGTH:
            raise SetupError(f"A record's type is written as `notes.exported` is, not {name!r}.")
        if name in ACTIONS:
            raise SetupError(f"{name!r} is a type of Frontdesk's own audit log entries.")
        self._record_types[name] = Action(name, meaning, data)
        return name

    def record(
        self,
        name: str,
        *,
        account: Any = None,
        workspace: object = None,
        target: tuple[str, Any] | None = None,
        **data: object,
    ) -> None:
        """Write an audit log entry in the open transaction, or in the one that you commit.

        The actor and the IP address are those of the request.

        Args:
            name: Name of a declared action.
            account: The affected account, or its id.
            workspace: The affected workspace, or its id.
            target: Type and id of the affected object, such as `("board", 17)`.
            data: Further data of the action, under the declared names.

        Raises:
            SetupError: The action or a name in `data` is not declared.

        Example::

            frontdesk.record(EXPORTED, target=("board", board.id), count=12)
        """
        context = find_context()
        context.actions.record(
            context.session,
            context.actions.find(name),
            getattr(account, "id", account),
            getattr(workspace, "id", workspace),
            None if target is None else Target(*target),
            data,
        )
