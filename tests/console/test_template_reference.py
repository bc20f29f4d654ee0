"""The documentation names all templates, blocks and components that an application can use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask, Response

from app import Frontdesk, active_account_required, anyone, blueprints
from app.accounts.account import Account
from app.accounts.service import Accounts
from app.core.context import service
from app.core.process.folders import templates_folder
from app.testing.people import PASSWORD

from ..rigs.hosts import plain_app
from .test_host_pages import OWN, Settings, signed_in

PAGE = (Path(__file__).parents[2] / "docs/console.md").read_text()
FOLDER = Path(templates_folder()) / "console"
LAYOUTS = ("layout.html", "desk.html", "entrance.html", "workspaces/room.html")


def section(title: str) -> str:
    found = PAGE.partition(f"\n### {title}\n")[2]
    assert found, title
    return re.split(r"\n##+ ", found)[0]


def test_documented_templates_are_the_shipped_pages() -> None:
    documented = {
        f"{folder}{name}.html"
        for folder, names in re.findall(
            r"^\| `console/([^`.]*)` \| [^|]* \| (.*) \|$", section("Templates and blocks"), re.M
        )
        for name in re.findall(r"`([^`]+)`", names)
    }
    shipped = {
        str(file.relative_to(FOLDER))
        for file in FOLDER.rglob("*.html")
        if '{% extends "console/' in file.read_text()
    }
    assert documented == shipped - {*LAYOUTS}


def test_documented_blocks_are_those_of_the_layouts() -> None:
    for layout in LAYOUTS:
        row = re.search(rf"^\| `console/{layout}` .*\| (.*) \|$", PAGE, re.M)
        assert row, layout
        outside = re.sub(r"\([^)]*\)", "", row[1])
        documented = {*re.findall(r"`([a-z]+)`", outside)}
        blocks = re.findall(r"\{% block ([a-z]+) ", (FOLDER / layout).read_text())
        # A layout fills the body of the outermost one.
        own = {*blocks} - ({"body"} if layout != "layout.html" else set())
        assert documented == own, layout


def test_documented_components_are_those_of_the_file() -> None:
    table = section("Forms and components").rpartition("| group |")[2]
    names = re.findall(r"`([a-z_]+)`", table)
    macros = re.findall(r"^\{% macro ([a-z]\w*)\(", (FOLDER / "ui.html").read_text(), re.M)
    assert sorted(names) == sorted(macros)


@pytest.fixture
def host(tmp_path: Path) -> Flask:
    """Return an application with the documented page."""
    [example] = re.findall(r"```jinja\n(.*?)```", section("Forms and components"), re.S)
    (tmp_path / "new_note.html").write_text(example)
    host, db = plain_app()
    host.debug = True
    host.template_folder = str(tmp_path)
    frontdesk = Frontdesk()

    @frontdesk.console.page("new_note")
    @active_account_required
    def new_note() -> Response:
        return frontdesk.console.render("new_note.html", count=3)

    @frontdesk.console.page("pin_note", methods=["POST"])
    @anyone
    def pin_note() -> str:
        return "pinned"

    frontdesk.init_app(host, db, settings=Settings(), account_model=Account)
    host.register_blueprint(blueprints.console, url_prefix="/desk")
    with host.app_context():
        db.create_all()
        service(Accounts).create("ada@example.com", PASSWORD)
    return host


def test_documented_page_has_the_form_and_the_texts(host: Flask) -> None:
    client = signed_in(host, "ada")
    page = client.get("/desk/new_note").text
    assert '<form method="post" action="/desk/pin_note"' in page
    assert re.search(r'<input[^>]* name="text"[^>]* maxlength="200"', page)
    assert re.search(r'<option value="y" selected>Yellow', page)
    assert "3 notes so far" in page
    assert client.post("/desk/pin_note", headers=OWN).text == "pinned"
