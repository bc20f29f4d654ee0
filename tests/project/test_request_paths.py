"""How many files and calls of the code a request passes through, and the page that shows it.

The goals: at most 27 files, 81 changes of file and 231 calls for a login, 15/24/47 for an account
read, 29/74/183 for a broadcast and 19/35/85 for an inbox page.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ..conftest import SECRET
from ..rigs.servers import ROOT, checkout_environment

# Files, changes of file, and calls.
BOUNDS = {
    "login": (27, 81, 231),
    "account read": (15, 24, 47),
    "admin send": (29, 74, 183),
    "inbox page": (19, 35, 85),
}


PAGE = ROOT / "docs" / "architecture.md"


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("walks")
    done = subprocess.run(
        [sys.executable, "-m", "tests.rigs.call_traces"],
        cwd=folder,
        env=checkout_environment(
            SECRET_KEY=SECRET,
            CORE__DATABASE_URL=f"sqlite:///{folder / 'walks.db'}",
            CORE__LOG_LEVEL="ERROR",
            AUTH__BCRYPT_ROUNDS="4",
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_requests_stay_within_their_bounds_of_files_and_calls(walks: Any) -> None:
    measured = walks["measured"]
    assert measured.keys() == BOUNDS.keys()
    assert {
        name: found
        for name, found in measured.items()
        if any(value > bound for value, bound in zip(found, BOUNDS[name], strict=True))
    } == {}


def test_architecture_page_shows_the_calls_of_a_login_in_order(walks: Any) -> None:
    called = [tuple(each) for each in walks["login"]]
    shown = re.findall(r"^\| \d+ \| `(.+?)` \| `(.+?)` \|", PAGE.read_text(), re.MULTILINE)
    assert len(shown) >= 15
    assert [step for step in shown if step not in called] == []
    assert shown == sorted(shown, key=called.index)


def test_architecture_page_names_existing_files_and_symbols() -> None:
    rows = re.findall(r"^\| .+? \| `(.+?\.py)` \| `(\w+)", PAGE.read_text(), re.MULTILINE)
    assert len(rows) > 30
    missing = [
        f"{file} {symbol}" for file, symbol in rows if symbol not in _top_level(ROOT / "app" / file)
    ]
    assert missing == []


def test_every_file_and_code_name_of_the_architecture_page_exists() -> None:
    app = ROOT / "app"
    named = set(re.findall(r"`([^`\n]+)`", PAGE.read_text()))
    paths = {each for each in named if re.fullmatch(r"[\w/]+(\.py|/)", each)}
    assert len(paths) > 30
    missing = {each for each in paths if not any((at / each).exists() for at in (app, ROOT))}
    # `actions.py` is the file of that name in several packages.
    assert {each for each in missing if not any(app.rglob(each))} == set()
    nodes = [node for file in app.rglob("*.py") for node in ast.walk(ast.parse(file.read_text()))]
    known = {each.name for each in nodes if isinstance(each, ast.ClassDef | ast.FunctionDef)}
    known |= {each.id for each in nodes if isinstance(each, ast.Name)}
    known |= {each.stem for each in app.iterdir()} | {"flask_frontdesk"}
    words = {each for each in named - paths if re.fullmatch(r"[\w.]+", each)}
    assert len(words) > 60
    assert {part for each in words for part in each.split(".")} - known == set()


def _top_level(file: Path) -> set[str]:
    """Return the classes, functions and constants of a module."""
    body = ast.parse(file.read_text()).body
    named = {node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    targets = (node.target for node in body if isinstance(node, ast.AnnAssign))
    return named | {target.id for target in targets if isinstance(target, ast.Name)}
