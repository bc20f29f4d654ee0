"""Exporter and eraser hooks of the application."""

from __future__ import annotations

import logging
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app import Frontdesk
from app.accounts.service import Accounts
from app.core.context import service
from app.core.errors import Conflict, SetupError
from app.core.hooks import Hooks
from app.testing.clock import SteppingClock

from ..conftest import Person
from ..rigs.manual_engine import ManualEngine
from .conftest import Fetch, ask, document, state

NUMBER = UUID(int=7)


def test_exporters_files_are_in_their_own_folder(ada: Person, fetch: Fetch, hooks: Hooks) -> None:
    def orders(account: Any, session: Any) -> Any:
        yield "orders.json", [{"id": NUMBER, "of": account.email, "on": date(2030, 1, 2)}]
        yield "bill.pdf", b"%PDF-"
        yield "price.json", {"price": Decimal("9.50")}

    hooks.add("exporter", orders, "orders")
    archive = fetch(ada.api())
    (order,) = document(archive, "orders/orders.json")
    assert order == {"id": str(NUMBER), "of": ada.email, "on": "2030-01-02"}
    assert archive.read("orders/bill.pdf") == b"%PDF-"
    assert document(archive, "orders/price.json") == {"price": "9.50"}


@pytest.mark.parametrize(
    ("folder", "name", "expected"),
    [
        ("orders", "../account.json", "orders/account.json"),
        ("orders", "../../etc/passwd", "orders/etc_passwd"),
        ("orders", "..\\..\\boot.ini", "orders/boot.ini"),
        ("orders", "/abs/olute.txt", "orders/abs_olute.txt"),
        ("orders", "C:\\x.txt", "orders/C__x.txt"),
        ("orders", "a\x00b\n.txt", "orders/a_b_.txt"),
        ("orders", "..", "orders/file"),
        ("orders", "", "orders/file"),
        ("orders", "\udcff.txt", "orders/_.txt"),
        ("orders", f"{'x' * 300}.json", f"orders/{'x' * 90}.json"),
        ("../up", "a.txt", "_up/a.txt"),
        ("account.json", "a.txt", "account_json/a.txt"),
        ("", "a.txt", "_/a.txt"),
    ],
)
def test_file_names_cannot_leave_the_folder_or_replace_other_files(
    ada: Person, fetch: Fetch, hooks: Hooks, folder: str, name: str, expected: str
) -> None:
    hooks.add("exporter", lambda account, session: [(name, b"from the hook")], folder)
    archive = fetch(ada.api())
    (added,) = [each for each in archive.namelist() if archive.read(each) == b"from the hook"]
    assert added == expected.replace("_.txt", "?.txt") if "\udcff" in name else added == expected
    assert document(archive, "account.json")["email"] == ada.email


def test_files_with_the_same_name_are_all_exported(ada: Person, fetch: Fetch, hooks: Hooks) -> None:
    files = [
        ("a.txt", b"1"),
        ("A.TXT", b"2"),
        ("x/../a.txt", b"3"),
        ("plain", b"4"),
        ("plain", b"5"),
    ]
    hooks.add("exporter", lambda account, session: files, "orders")
    archive = fetch(ada.api())
    names = [name for name in archive.namelist() if name.startswith("orders/")]
    assert len({name.casefold() for name in names}) == 5
    assert [archive.read(name) for name in names] == [b"1", b"2", b"3", b"4", b"5"]


def test_failing_exporter_is_logged_and_retried(
    ada: Person,
    engine: ManualEngine,
    clock: SteppingClock,
    hooks: Hooks,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(account: Any, session: Any) -> Any:
        raise ZeroDivisionError("the exporter failed")

    hooks.add("exporter", broken, "broken")
    export_id = ask(ada.api())
    with caplog.at_level(logging.WARNING, logger="app.delivery.worker.jobs"):
        engine.deliver()
    assert "the exporter failed" in caplog.text
    assert state(ada.api(), export_id) == "pending"
    hooks.add("exporter", lambda account, session: (), "broken")
    clock.step(seconds=60)
    engine.deliver()
    assert state(ada.api(), export_id) == "ready"


def delete(app: Flask, person: Person) -> None:
    with app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get(person.email))


def test_erasers_run_before_the_account_is_deleted(app: Flask, ada: Person, hooks: Hooks) -> None:
    erased: list[str] = []
    for name in ("orders", "reviews"):

        def erase(account: Any, session: Any, name: str = name) -> None:
            assert service(Accounts).find(account.email) is not None
            erased.append(f"{name} of {account.email}")

        hooks.add("eraser", erase)
    delete(app, ada)
    assert erased == ["orders of ada@example.com", "reviews of ada@example.com"]


def test_failing_eraser_undoes_the_deletion(app: Flask, ada: Person, hooks: Hooks) -> None:
    class HasOpenOrders(Conflict):
        code = "has_open_orders"

    def reject(account: Any, session: Any) -> None:
        raise HasOpenOrders

    hooks.add("eraser", reject)
    with pytest.raises(HasOpenOrders):
        delete(app, ada)
    assert ada.api().get("/account").json["email"] == ada.email


def test_invalid_hooks_are_rejected_at_registration() -> None:
    frontdesk = Frontdesk()
    with pytest.raises(SetupError, match="exporter takes a name: "):
        frontdesk.exporter(lambda account, session: ())  # type: ignore[arg-type]
    with pytest.raises(SetupError, match="eraser is called with"):
        frontdesk.eraser(lambda account: None)  # type: ignore[arg-type, misc]
