"""What makes the second application of a process quicker than the first: SQLAlchemy keeps the text
of each statement for one engine, and every application has an engine of its own.
"""

from __future__ import annotations

from sqlalchemy import Engine

# By the dialect's name. What a dialect knows of its server it asks at its first connection, and so
# these have had one.
_KEPT: dict[str, Engine] = {}


def keep_statements(engine: Engine) -> None:
    _KEPT[engine.dialect.name] = engine


def share_statements(engine: Engine) -> None:
    """With an engine of the same kind and settings: what is kept goes by the dialect too."""
    kept = _KEPT.get(engine.dialect.name)
    if kept is not None:
        engine.dialect = kept.dialect
        engine.pool._dialect = kept.dialect
        engine._compiled_cache = kept._compiled_cache
