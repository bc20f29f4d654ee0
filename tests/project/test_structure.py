"""The house as it is meant to be: one word for one thing, imports that point one way."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from ..rigs.servers import ROOT

APP = ROOT / "app"
# From the ground up; who stands on a floor may import from those below it.
FLOORS = (
    {"core"},
    {"storage", "delivery"},
    {"accounts"},
    {"auth"},
    {"workspaces"},
    {"profiles", "notifications", "tasks", "audit", "health"},
    {"monitoring", "transfer", "administration"},
    {"extension", "cli", "doctor", "console"},
    {"factory", "blueprints", "testing"},
)
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(APP.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def test_no_two_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path, tree in modules():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_imports_point_from_the_upper_floors_to_the_lower() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {target}"
        for path, tree in modules()
        for target in _rooms_imported(path, tree)
        if _room(path) in LEVEL and LEVEL[target] > LEVEL[_room(path)]
    ]
    assert wrong == []


def _room(path: Path) -> str:
    return path.relative_to(APP).parts[0].removesuffix(".py")


def _rooms_imported(path: Path, tree: ast.Module) -> Iterator[str]:
    """Also those that are imported inside a function, for their weight."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [*base, *(node.module or "").split(".")]
            room = next((name for name in names[1:] if name), None)
            rooms = [room] if room else [alias.name for alias in node.names]
            yield from (room for room in rooms if room in LEVEL and room != _room(path))


def test_annotations_of_columns_are_not_text() -> None:
    """SQLAlchemy reads them as it maps a class: each text is compiled for that, twice."""
    texts = [
        str(path.relative_to(ROOT))
        for path, tree in modules()
        if any(_is_mapped(node) for node in tree.body)
        and any(
            isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body
        )
    ]
    assert texts == []


def _is_mapped(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        isinstance(base, ast.Name) and base.id == "Base" for base in node.bases
    )
