from __future__ import annotations

from ..core.context import Context
from ..core.process.folders import migrations_folder
from .service import Readiness


def assemble(context: Context) -> None:
    context.add(
        Readiness(
            context.session,
            context.keystore,
            context.metadata,
            context.accounts,
            migrations_folder(),
            context.owns_application,
        )
    )
