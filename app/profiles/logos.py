"""Logos of workspaces: decoded and stored as avatars are, in the same file store."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from sqlalchemy import select

from ..core.data_export import DataSubject, ExportReader
from ..core.db.transaction import release, transaction
from ..storage import FileMissing, FileStore
from ..workspaces.models import OWNER, Member, Workspace
from ..workspaces.service import Workspaces
from .avatars import Avatars
from .decoding import check_decoder


@dataclass(eq=False)
class WorkspaceLogos:
    """The logos of workspaces, which owners set and remove."""

    workspaces: Workspaces
    avatars: Avatars

    def set(self, actor: Member, sent: IO[bytes]) -> Workspace:
        """Set the logo of the actor's workspace. The former one is deleted after the commit."""
        check_decoder()
        session = self.workspaces.session
        release(session)
        picture = self.avatars.decode(sent)
        with self.avatars.stored(picture) as name, transaction(session):
            return self.workspaces.set_logo_file(actor, name)

    def remove(self, actor: Member) -> Workspace:
        return self.workspaces.set_logo_file(actor, None)


def export_logos(
    files: FileStore, subject: DataSubject, reader: ExportReader
) -> Iterator[tuple[str, object]]:
    """The logos of the workspaces that an account owns, in its data export."""
    if not reader.has(Member, Workspace):
        return
    owned = (
        select(Member.id, Workspace.slug, Workspace.logo_file)
        .join(Workspace, Workspace.id == Member.workspace_id)
        .where(
            Member.account_id == subject.id, Member.type == OWNER, Workspace.logo_file.is_not(None)
        )
    )
    for row in reader.rows(owned):
        name = str(row["logo_file"])
        try:
            logo = files.read(name)
        except FileMissing:
            continue
        yield f"logo-{row['slug']}.{name.rpartition('.')[2]}", logo
