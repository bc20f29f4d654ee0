"""The design system: every component is shown, and every icon and property exists."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from jinja2 import StrictUndefined

from app.console.assets import FOLDER
from app.console.navigation import SECTIONS

from ..conftest import MakeApp
from ..rigs.servers import ROOT

TEMPLATES = ROOT / "templates" / "console"
UI = (TEMPLATES / "ui.html").read_text()
DESIGN = (TEMPLATES / "design.html").read_text()
LAYOUTS = "".join((TEMPLATES / f"{name}.html").read_text() for name in ("layout", "desk"))


def test_design_page_needs_debug_mode(make_app: MakeApp) -> None:
    app = make_app()
    app.testing = False
    assert app.test_client().get("/design").status_code == 404
    app.debug = True
    assert app.test_client().get("/design").status_code == 200


def test_pages_work_with_strict_undefined_in_the_application(make_app: MakeApp) -> None:
    app = make_app()
    app.jinja_env.undefined = StrictUndefined
    assert app.test_client().get("/design").status_code == 200
    assert app.test_client().get("/sign-in").status_code == 200


def test_every_component_is_shown() -> None:
    """Each macro is on the design page or part of another macro; forms are on other pages."""
    made = set(re.findall(r"{% macro ([a-z]\w*)", UI))
    shown = set(re.findall(r"ui\.(\w+)\(", DESIGN + LAYOUTS))
    within = set(re.findall(r"(?:{{|{% call|%}) ?(\w+)\(", UI))
    assert made - shown - within == {"form"}


def test_every_component_has_a_comment() -> None:
    uncommented = re.findall(r"(?<!#})\n{% macro ([a-z]\w*)", UI)
    assert set(uncommented) <= {"fault", "options_of", "menu_link"}


def test_every_used_icon_exists() -> None:
    drawn = set(re.findall(r'^  "(\w+)":', (TEMPLATES / "icons.html").read_text(), re.M))
    texts = [path.read_text() for path in TEMPLATES.rglob("*.html")]
    asked = {name for text in texts for name in re.findall(r'icon(?:=|\()"(\w+)"', text)}
    asked |= {entry.icon for section in SECTIONS for entry in section.entries}
    assert asked - drawn == set()


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_templates_comply_with_the_content_security_policy(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"<[^>]*\s(style|on[a-z]+)=", text)
    assert "<style" not in text
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)


def test_every_used_custom_property_is_defined() -> None:
    sheets = "".join(path.read_text() for path in FOLDER.glob("*.css"))
    used = set(re.findall(r"var\((--[\w-]+)", sheets))
    assert used - set(re.findall(r"(--[\w-]+):", sheets)) == set()


def test_class_is_styled_in_one_place() -> None:
    """With two rules for one class, the last one would apply to both uses."""
    sheet = re.sub(r"/\*.*?\*/", "", (FOLDER / "console.css").read_text(), flags=re.S)
    styled = re.findall(r"^(\.[\w-]+) \{", sheet, re.M)
    assert {name for name in styled if styled.count(name) > 1} == set()


def test_files_of_every_page_are_small() -> None:
    modules = ("console", "forms", "moments", "popups")
    sizes = {name: len(gzip.compress((FOLDER / f"{name}.js").read_bytes(), 9)) for name in modules}
    assert sum(sizes.values()) <= 5_400, sizes
    assert len(gzip.compress((FOLDER / "console.css").read_bytes(), 9)) <= 12_600


def test_field_passes_extra_attributes_to_its_input(make_app: MakeApp) -> None:
    page = make_app().test_client().get("/design").text
    field = next(line for line in page.splitlines() if 'id="good-email"' in line)
    assert 'autocomplete="off"' in field
    assert 'value="ada@example.com"' in field
    assert " required" in field
