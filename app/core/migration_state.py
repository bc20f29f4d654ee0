"""What Alembic is asked, and told, about our tables. It is loaded by whoever asks, not before."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Engine

from .database import UtcDateTime


def render_item(kind: str, item: Any, context: Any) -> str | Literal[False]:
    """For `Migrate(app, db, render_item=…)`: our column types as plain ones, so that a migration
    made from our tables needs nothing but SQLAlchemy."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    return False


def pending_migrations(engine: Engine, folder: Path) -> list[str]:
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(folder))
    scripts = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        applied = MigrationContext.configure(connection).get_current_heads()
    known = {script.revision for script in scripts.walk_revisions()}
    done = {
        script.revision
        for head in applied
        if head in known
        for script in scripts.iterate_revisions(head, "base")
    }
    return sorted(known - done)
