"""The structure of the code: unique class names, layers, no import cycles."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..rigs.servers import ROOT

APP = ROOT / "app"
# From the lowest to the highest layer. A package imports only from its own and lower layers.
LAYERS = (
    {"core"},
    {"delivery", "storage"},
    {"accounts"},
    {"auth"},
    {"audit", "workspaces"},
    {"health", "notifications", "profiles", "tasks", "tokens"},
    {"banners", "broadcasts"},
    {"administration", "deletion", "exports", "monitoring", "registration", "transfer"},
    {"extension"},
    {"doctor"},
    {"console"},
    {"cli"},
    {"blueprints", "factory", "frontdesk", "server", "testing"},
)
LEVELS = {package: level for level, packages in enumerate(LAYERS) for package in packages}


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(APP.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def test_class_names_are_unique() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path, tree in modules():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_every_package_belongs_to_a_layer() -> None:
    assert {name.split(".")[1] for name in import_graph() if name != "app"} == set(LEVELS)


def test_no_package_imports_from_a_higher_layer() -> None:
    graph = import_graph()
    assert [
        f"{name} imports {target}"
        for name in graph.keys() - {"app"}
        for target in graph[name] - {"app"}
        if LEVELS[target.split(".")[1]] > LEVELS[name.split(".")[1]]
    ] == []


def test_imports_have_no_cycle() -> None:
    graph = import_graph()
    reached = {name: _reachable(graph, name) for name in graph}
    cycles = {
        name: sorted(other for other in others if name in reached[other])
        for name, others in reached.items()
        if name in others
    }
    assert cycles == {}


def test_core_names_no_table_module_or_setting_of_a_feature() -> None:
    core = APP / "core"
    tables = {
        node.value.value
        for path, tree in modules()
        for node in ast.walk(tree)
        if not path.is_relative_to(core)
        and isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == "__tablename__"
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    } - {"accounts"}
    assert "frontdesk_profiles" in tables
    features = {
        name.removeprefix("app.") for name in import_graph() if not name.startswith("app.core")
    }
    assert [
        f"{path.relative_to(ROOT)} {node.value!r}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if path.is_relative_to(core)
        and isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (
            any(table in node.value for table in tables)
            or ("." in node.value and node.value.strip(".").removeprefix("app.") in features)
            or re.fullmatch("(?!CORE)[A-Z]+__[A-Z0-9_]+", node.value)
        )
    ] == []


def test_no_two_sub_packages_of_a_package_import_each_other() -> None:
    graph = import_graph()
    folders = {name.rpartition(".")[0] for name in graph}
    arrows = {
        pair
        for name, targets in graph.items()
        for target in targets
        for pair in _sub_packages(name, target, folders)
    }
    assert [f"{a} and {b}" for a, b in sorted(arrows) if a < b and (b, a) in arrows] == []


def _sub_packages(name: str, target: str, folders: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the two sub-packages, of one package and on one level, that an import connects."""
    one, other = name.split("."), target.split(".")
    for depth in range(3, min(len(one), len(other)) + 1):
        pair = ".".join(one[:depth]), ".".join(other[:depth])
        if one[: depth - 1] == other[: depth - 1] and pair[0] != pair[1] and folders >= set(pair):
            yield pair


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    found, waiting = set[str](), [start]
    while waiting:
        for target in graph[waiting.pop()] - found:
            found.add(target)
            waiting.append(target)
    return found


@cache
def import_graph() -> dict[str, set[str]]:
    """Map each module of `app` to its imports, also inside functions, except for type checking."""
    trees = {_dotted(path): (path, tree) for path, tree in modules()}
    return {
        name: {
            target if target in trees else target.rpartition(".")[0]
            for target in _imported(path, tree)
        }
        & trees.keys() - {name}
        for name, (path, tree) in trees.items()
    }


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, tree: ast.Module) -> Iterator[str]:
    package = path.relative_to(ROOT).parent.parts
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join([*base, *filter(None, [node.module])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def test_no_function_is_longer_than_sixty_lines() -> None:
    assert [
        f"{path.relative_to(ROOT)} {node.name}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= 60
    ] == []


def test_annotations_of_columns_are_not_strings() -> None:
    """SQLAlchemy would compile each string annotation when it maps the class."""
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
