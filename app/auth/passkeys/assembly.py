from __future__ import annotations

from ...core.context import Context


def assemble(context: Context) -> None: ...
