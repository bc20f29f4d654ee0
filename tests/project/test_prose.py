"""The prose of the whole tree: plain English by one table of terms, and correct spelling."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..rigs.servers import ROOT

# Terms that must not appear, and what to write instead.
PLAIN_TERMS = {
    r"whoever|whomever": "name the actor: user, admin, operator, developer, client",
    r"somebody|nobody": "name the actor, or 'no user', 'another user'",
    r"anew|once more": "again",
    r"lest|be it": "in case, whether",
    r"mend(?:s|ed|ing)?": "fix",
    r"deeds?": "action",
    r"lets? in|comes? in by|ways? in": "authenticate, sign in, sign-in method",
    r"moving in|moved in|moving out": "import users, export users",
    r"passed over": "ignored, skipped",
    r"(?-i:is none|are none)": "does not exist",
    r"of (?:yours|ours|theirs)": "your, our, their",
    r"days of grace|a way back": "grace period, undo",
    r"looked after|look(?:s|ing)? after": "manage",
    r"wherein|rightly": "in which, correctly",
    r"twins?": "fake, counterpart",
    r"beside": "next to, besides",
    r"proof of the address": "email verification",
    r"e-mails?": "email",
}
BANNED = re.compile(rf"\b(?:{'|'.join(PLAIN_TERMS)})\b", re.IGNORECASE)
# Terms that texts of the code must not have: details and messages of the API, logs, errors, pages.
MESSAGE_TERMS = {
    r"out of reach": "unavailable, unreachable",
    r"did not answer": "did not respond, returned an invalid response",
    r"keystore": "shared state store",
    r"prov(?:e|es|ed|en|ing)|unproven": "verify, verified, unverified",
    r"(?<!choose )(?<!enter )another one": "name it: a different value, the current value",
}
BANNED_IN_MESSAGES = re.compile(rf"\b(?:{'|'.join(MESSAGE_TERMS)})\b", re.IGNORECASE)
PROSE_SUFFIXES = {".html", ".md", ".py", ".txt"}
# Files with texts of others: data, package licenses, and the list of compromised passwords.
NOT_OURS = ("app/accounts/common/", "docs/licences.md", "migrations/versions/", "requirements")
# Strings with at least this many words are texts; shorter ones are names and values.
WORDS_OF_A_TEXT = 4
WORDS_OF_A_MESSAGE = 3


def prose_files() -> Iterator[str]:
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True)
    for name in listed.splitlines():
        own = Path(__file__).relative_to(ROOT).as_posix()
        if Path(name).suffix in PROSE_SUFFIXES and name != own and not name.startswith(NOT_OURS):
            yield name


def prose_lines(name: str) -> Iterator[tuple[int, str]]:
    """Return the numbered lines that a person reads as text."""
    source = (ROOT / name).read_text()
    if name.endswith(".py"):
        yield from _python_prose(source)
    elif name.endswith(".md"):
        yield from _markdown_prose(source)
    elif name.endswith(".html"):
        yield from _template_prose(source)
    else:
        yield from enumerate(source.splitlines(), start=1)


def _python_prose(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and _is_text(node.value):
            yield from enumerate(str(node.value).splitlines(), start=node.lineno)


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Return the texts of a module that its users read when it runs: all but docstrings."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            text = re.sub(r"`[^`]*`", "", str(node.value))
            if isinstance(node.value, str) and len(text.split()) >= WORDS_OF_A_MESSAGE:
                yield node.lineno, text


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value.split()) >= WORDS_OF_A_TEXT


def _markdown_prose(source: str) -> Iterator[tuple[int, str]]:
    in_code = False
    for number, line in enumerate(source.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, re.sub(r"`[^`]*`", "", line)


def _template_prose(source: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.splitlines(), start=1):
        yield number, re.sub(r"{%.*?%}|{{.*?}}", lambda tag: _quoted(tag[0]), line)


def _quoted(tag: str) -> str:
    return " ".join(re.findall(r'"[^"]*"', tag))


def hint(word: str) -> str:
    return next(
        plain
        for pattern, plain in PLAIN_TERMS.items()
        if re.fullmatch(pattern, word, re.IGNORECASE)
    )


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", "# Whoever signs in\nx = 1\n", [(1, "Whoever")]),
        ("a.py", 'def f():\n    return "mended"\n', []),
        ("a.py", 'x = "nobody is signed in"\n', [(1, "nobody")]),
        ("a.html", '{% if x is none %}{{ _("nobody") }} anew\n', [(1, "nobody"), (1, "anew")]),
        ("a.md", "One\n\nsee `anew`\n```\nanew\n```\nanew\n", [(7, "anew")]),
    ],
)
def test_words_are_found_in_texts_only(
    tmp_path: Path, name: str, text: str, found: list[tuple[int, str]]
) -> None:
    (tmp_path / name).write_text(text)
    lines = prose_lines(str(tmp_path / name))
    assert [(n, word) for n, line in lines for word in BANNED.findall(line)] == found


def test_every_text_uses_the_plain_term() -> None:
    assert [
        f"{name}:{number}: {word!r}, write: {hint(word)}"
        for name in prose_files()
        for number, line in prose_lines(name)
        for word in BANNED.findall(line)
    ] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('detail = "The keystore is out of reach"\n', ["keystore", "out of reach"]),
        ('return {"message": "Prove your email address"}\n', ["Prove"]),
        ('log.warning("%s did not answer: %s", name, error)\n', ["did not answer"]),
        ('x = f"Send {y} another one than before"\n', ["another one"]),
        ('"""The keystore did not answer."""\nx = "Too common. Choose another one."\n', []),
        ('x = "Checks: `keystore` and others"\ny = "keystore"\n', []),
    ],
)
def test_terms_are_found_in_messages_only(source: str, found: list[str]) -> None:
    texts = [text for _, text in messages(source)]
    assert [word for text in texts for word in BANNED_IN_MESSAGES.findall(text)] == found


def test_every_message_of_the_code_uses_the_plain_term() -> None:
    assert [
        f"{name}:{number}: {word!r}, write one of: {MESSAGE_TERMS}"
        for name in prose_files()
        if name.startswith("app/") and name.endswith(".py")
        for number, text in messages((ROOT / name).read_text())
        for word in BANNED_IN_MESSAGES.findall(text)
    ] == []


def test_every_text_is_spelled_correctly() -> None:
    names = [name for name in prose_files() if not name.endswith(".pot")]
    command = [sys.executable, "-m", "codespell_lib", *names]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (checked.stdout, checked.returncode) == ("", 0)
