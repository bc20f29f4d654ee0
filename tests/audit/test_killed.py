"""Killed processes: each committed action has one entry, and no other action has one."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

from flask import Flask
from sqlalchemy import select

from app.accounts.account import Account
from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk
from app.workspaces.models import Workspace

from ..conftest import Backend
from ..rigs.servers import checkout_environment

TIMES = 100


def test_each_committed_action_has_one_entry_when_processes_are_killed(
    app: Flask, backend: Backend
) -> None:
    command = [sys.executable, "-m", "tests.rigs.killed_actions", backend.database_url, str(TIMES)]
    subprocess.run(command, env=checkout_environment(), check=True, timeout=300)
    with app.app_context():
        # Counted in one query: the server may still process requests of a killed client.
        session = current_frontdesk.session
        session.connection(execution_options={"isolation_level": "SERIALIZABLE"})
        accounts = {account.id: account.phone for account in session.scalars(select(Account))}
        workspaces = set(session.scalars(select(Workspace.id)))
        found = session.scalars(select(AuditEntry)).all()
    done = Counter((each.type, each.account_id) for each in found)
    rooms = Counter((each.type, each.workspace_id) for each in found if each.workspace_id)
    assert len(found) > TIMES
    created = {id for name, id in done if name == "account.created"}
    deleted = {id for name, id in done if name == "account.deleted"}
    assert created - deleted == accounts.keys()
    assert {done[name, id] for name, id in done if name != "account.updated"} == {1}
    made = {id for name, id in rooms if name == "workspace.created"}
    assert made - {id for name, id in rooms if name == "workspace.deleted"} == workspaces
    assert set(rooms.values()) == {1}
    for id, phone in accounts.items():
        assert done["account.updated", id] == int(phone[-4:] if phone else 0)
