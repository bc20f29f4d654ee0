"""Shortcuts through library internals: each returns what the library's public function returns.

docs/decisions/library-internals.md lists them.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import bindparam, select
from werkzeug.routing import Map, Rule

from app.core.context import EXTENSION
from app.core.db.rows import Rows
from app.core.db.transaction import has_begun, release, transaction
from app.core.web.application import LazyRule
from app.tasks.models import Task
from app.testing.people import Person

from ..rigs.servers import ROOT

OF_OWNER: Any = select(Task.id, Task.title, Task.done, Task.owner).where(
    Task.owner == bindparam("owner")
)


@pytest.fixture
def session(app: Flask) -> Any:
    with app.app_context():
        yield app.extensions[EXTENSION].session


def add_tasks(session: Any, *titles: str) -> None:
    for title in titles:
        session.add(Task(title=title, done=title == "b", priority="normal", owner="ada"))


def test_rows_equal_those_of_the_session(session: Any) -> None:
    with transaction(session):
        add_tasks(session, "a", "b", "Ünïcode")
    release(session)
    read = [tuple(row) for row in Rows(OF_OWNER).read(session, owner="ada")]
    assert not has_begun(session)
    assert read == [tuple(row) for row in session.execute(OF_OWNER, {"owner": "ada"})]
    assert len(read) == 3


def test_rows_include_what_the_open_transaction_wrote(session: Any) -> None:
    with transaction(session) as plain_session:
        add_tasks(plain_session, "a")
        plain_session.flush()
        assert len(Rows(OF_OWNER).read(session, owner="ada")) == 1


def test_account_rows_have_the_types_of_the_model(app: Flask, ada: Person) -> None:
    model: Any = app.extensions[EXTENSION].tables.account_model
    statement: Any = select(model.id, model.email, model.created_at)
    with app.app_context():
        session = app.extensions[EXTENSION].session
        (read,) = Rows(statement).read(session)
        assert tuple(read) == tuple(session.execute(statement).one())


def test_rule_compiles_its_url_builder_at_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    original = Rule._compile_builder

    def count(self: Rule, append_unknown: bool = True) -> Any:
        compiled.append(self)
        return original(self, append_unknown)

    monkeypatch.setattr(Rule, "_compile_builder", count)
    routes = Map([LazyRule("/<slug>/tasks/<int:task_id>", endpoint="task")]).bind("example.com")
    assert routes.match("/team/tasks/3") == ("task", {"slug": "team", "task_id": 3})
    assert compiled == []
    values = {"slug": "tëam", "task_id": 3, "page": 2}
    plain = Map([Rule("/<slug>/tasks/<int:task_id>", endpoint="task")]).bind("example.com")
    assert routes.build("task", values) == plain.build("task", values)


def test_page_names_existing_modules_and_tests() -> None:
    page = (ROOT / "docs" / "decisions" / "library-internals.md").read_text()
    paths = set(re.findall(r"`((?:app|tests)/[\w/]+\.py|wsgi\.py)`", page))
    assert len(paths) > 10
    assert [path for path in sorted(paths) if not (ROOT / path).is_file()] == []
