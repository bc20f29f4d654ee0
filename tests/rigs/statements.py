"""What makes the second application of a process quicker than the first: SQLAlchemy keeps the text
of each statement for one engine, and every application has an engine of its own.
"""

from __future__ import annotations

from sqlalchemy import Engine

# The first engine of each database, by the dialect's name.
_FIRST: dict[str, Engine] = {}


def share_statements(engine: Engine) -> None:
    """With an engine of the same kind and settings: what is kept goes by the dialect too."""
    first = _FIRST.setdefault(engine.dialect.name, engine)
    if first is not engine:
        engine.dialect = first.dialect
        engine.pool._dialect = first.dialect
        engine._compiled_cache = first._compiled_cache
