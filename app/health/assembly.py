from __future__ import annotations

from ..core.context import Context
from .service import Readiness


def assemble(context: Context) -> None:
    context.add(Readiness(context.session, context.keystore))
