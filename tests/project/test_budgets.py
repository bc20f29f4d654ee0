"""The size of each package, in lines of code: no blank lines, comments or docstrings.

A budget is the size that its package has. A package that shrinks gets a smaller budget, and a
feature that needs a larger one says so, with its reason, in the commit that raises it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator

from .test_structure import APP, modules

BUDGETS = {
    "accounts": 2_234,
    "administration": 1_390,
    "app": 481,
    "audit": 437,
    "auth": 11_242,
    "banners": 517,
    "broadcasts": 1_233,
    "cli": 1_172,
    "console": 7_759,
    "core": 7_435,
    "deletion": 297,
    "delivery": 3_560,
    "doctor": 459,
    "exports": 561,
    "extension": 1_729,
    "monitoring": 347,
    "notifications": 2_422,
    "profiles": 1_319,
    "registration": 428,
    "server": 422,
    "storage": 318,
    "tasks": 209,
    "testing": 400,
    "tokens": 1_010,
    "transfer": 1_217,
    "workspaces": 2_690,
}
# A package may be this much smaller than its budget before the budget has to follow.
SLACK = 20
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def test_packages_keep_their_budgets() -> None:
    sizes = package_sizes()
    assert {name: size for name, size in sizes.items() if size > BUDGETS.get(name, 0)} == {}


def test_budgets_follow_packages_that_shrink() -> None:
    sizes = package_sizes()
    assert {
        name: sizes[name] for name, budget in BUDGETS.items() if budget > sizes[name] + SLACK
    } == {}


def test_only_code_is_counted() -> None:
    text = '"""Docstring."""\n\n# Comment.\ndef f() -> str:\n    """Also."""\n    return """a\nb"""'
    assert code_lines(text) == 3


def package_sizes() -> Counter[str]:
    """Return the lines of code of each package of `app`; of its own modules under "app"."""
    sizes = Counter[str]()
    for path, _tree in modules():
        parts = path.relative_to(APP).parts
        sizes[parts[0] if len(parts) > 1 else "app"] += code_lines(path.read_text())
    return sizes


def code_lines(text: str) -> int:
    code = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code.difference(*docstrings(ast.parse(text))))


def docstrings(tree: ast.Module) -> Iterator[range]:
    """Yield the lines of each docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(ast.Constant(str())) as text, *_]:
                    yield range(text.lineno, (text.end_lineno or text.lineno) + 1)
