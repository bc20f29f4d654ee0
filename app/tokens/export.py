"""An account's personal tokens in its data export, without what their digests are of."""

from collections.abc import Iterator

from sqlalchemy import select

from ..core.data_export import DataSubject, ExportReader
from ..workspaces.models import Workspace
from .models import PersonalToken


def export_tokens(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    if reader.has(PersonalToken, Workspace):
        names = "name prefix scopes networks created_at expires_at last_used_at ended_at"
        columns = (getattr(PersonalToken, name) for name in names.split())
        tokens = (
            select(PersonalToken.id, *columns, Workspace.slug.label("workspace"))
            .outerjoin(Workspace, Workspace.id == PersonalToken.workspace_id)
            .where(PersonalToken.account_id == subject.id)
        )
        yield "personal_tokens.jsonl", reader.rows(tokens)
