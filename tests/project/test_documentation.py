from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import app as flask_frontdesk
from app import blueprints
from app.accounts.password_rules import DOCUMENTED
from scripts import audit_log, hooks
from scripts.snippets import ROOT, pages, rewritten

from ..conftest import MakeApp, only_on
from ..core.test_state_file import FEATURES
from ..rigs.backends import missing

PAGES = [page.relative_to(ROOT) for page in pages()]
# Files with samples: pages, and the files that pages quote.
SAMPLES = [
    *PAGES,
    *(Path(name) for name in ("compose.yaml", ".env.example", "CHANGELOG.md")),
    *sorted(
        path.relative_to(ROOT)
        for path in (ROOT / "examples").rglob("*")
        if path.suffix in (".py", ".sh", ".js", ".html")
    ),
]
# A password as a quoted value, form field, option, variable or part of a URL. $ and {NAME} mark
# variables, and … stands for the reader's password.
LITERAL_PASSWORD = re.compile(
    r"""(?ix) (?: password["']? \s? [:=] \s? b? ["'] (?![$…"'/]) [^"'\n]{3,} ["']
    | (?: -d | --data-urlencode ) \s ["']? \w*password= ["']? (?![$…"'])
    | --password [ =] ["']? (?! [$…"'`] | \{[A-Z_]+\} | or\b )
    | ^ [#\s]* (?: export\s )? \w*password (?: =["']? | :\s ) (?! [$…\s"'] ) [\w-]+ $
    | :// [^/\s:@]* : (?! [$…] ) [\w.-]+ @
    | correct\ horse | battery\ staple )""",
    re.MULTILINE,
)
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_code_on_a_page_equals_its_source_file(page: Path) -> None:
    text = (ROOT / page).read_text()
    assert rewritten(text) == text, "run `make snippets`"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_page_links_to_existing_files(page: Path) -> None:
    links = _LINK.findall((ROOT / page).read_text())
    assert [link for link in links if not (ROOT / page.parent / link).exists()] == []


def parse(language: str, code: str) -> None:
    """Raise an error if a code sample is malformed. The tests run the samples that have a file."""
    if language == "python":
        ast.parse(code)
    elif language == "json":
        json.loads(re.sub(r"…(?=[}\]])", '"": 0', code))
    elif language == "toml":
        tomllib.loads(code)
    elif language in ("sh", "js"):
        command = {"sh": ["sh", "-n"], "js": ["node", "--check", "--input-type=module"]}[language]
        if shutil.which(command[0]) is None:
            missing(f"{command[0]} is not installed")
        subprocess.run(command, input=code, text=True, check=True, capture_output=True)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_code_samples_are_well_formed(page: Path) -> None:
    blocks = re.findall(r"^( *)```(\w+)\n(.*?)^\1```$", (ROOT / page).read_text(), re.M | re.S)
    for indent, language, code in blocks:
        parse(language, re.sub(f"^{indent}", "", code, flags=re.M))


@pytest.mark.parametrize("page", SAMPLES, ids=str)
def test_samples_have_no_literal_passwords(page: Path) -> None:
    text = (ROOT / page).read_text()
    found = [each[0] for each in LITERAL_PASSWORD.finditer(text)]
    assert found == [], "take it from a variable"


@pytest.mark.parametrize(
    "sample",
    [
        "curl $API/login -d username=ada -d 'password=correct horse'",
        "curl $API/login --data-urlencode password='correct horse'",
        '{"email": "ada@example.com", "new_password": "a new one"}',
        "flask accounts create ada@example.com --password secret",
        "export FIRST_SUPERUSER_PASSWORD=changethis",
        "      POSTGRES_PASSWORD: frontdesk",
        "postgresql://frontdesk:frontdesk@127.0.0.1/frontdesk",
        'ada = Person(app, 1, "ada@example.com", password="battery staple")',
    ],
)
def test_literal_password_is_recognized(sample: str) -> None:
    assert LITERAL_PASSWORD.search(sample)


@only_on("sqlite")
def test_passwords_of_the_openapi_document_cannot_be_chosen(make_app: MakeApp) -> None:
    """The document cannot use variables, so the passwords it shows must be rejected."""
    document = make_app(**FEATURES).test_client().get("/api/v1/openapi.json").json
    shown = set(passwords_in(document))
    assert len(shown) > 1
    assert shown <= DOCUMENTED


def passwords_in(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for name, value in part.items():
            if "password" in name.lower() and isinstance(value, str):
                yield value
            yield from passwords_in(value)
    elif isinstance(part, list):
        for each in part:
            yield from passwords_in(each)


@pytest.mark.parametrize("page", hooks.entries(), ids=lambda page: page.name)
def test_hooks_and_signals_are_documented_as_declared(page: Path) -> None:
    text, listed = page.read_text(), hooks.entries()[page]
    assert hooks.rewritten(text, listed) == text, "run `make hooks`"
    assert list(hooks.examples(text)) == [each.name for each in listed]


@pytest.mark.parametrize("page", hooks.entries(), ids=lambda page: page.name)
def test_each_hook_and_signal_has_an_example_that_registers_it(page: Path) -> None:
    examples, listed = hooks.examples(page.read_text()), hooks.entries()[page]
    decorators = {each.name: each.rows["register with"].strip("`") for each in listed}
    for name, decorator in decorators.items():
        assert f"\n{decorator.removesuffix('(name)')}" in examples[name], name


def test_page_of_audit_actions_is_current() -> None:
    text = audit_log.PAGE.read_text()
    assert audit_log.rewritten(text) == text, "run `make audit-log`"
    assert "`login.succeeded`" in text


def test_reference_lists_every_public_name() -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    names: list[str] = vars(flask_frontdesk)["__all__"]
    assert [name for name in names if not re.search(rf"\b{name}\b", page)] == []


def first_cells(page: str, heading: str) -> list[str]:
    """Return the names in the first column of the table that follows a heading of a page."""
    section = (ROOT / "docs" / page).read_text().partition(f"{heading}\n")[2]
    table = section.partition("|---|")[2].partition("\n\n")[0]
    return [
        name for row in table.splitlines()[1:] for name in re.findall(r"`(.+?)`", row.split("|")[1])
    ]


def test_extras_table_lists_the_extras_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [f"[{name}]" for name in project["optional-dependencies"]]
    assert sorted(first_cells("installation.md", "## Extras")) == sorted(extras)


def test_mounting_table_lists_all_blueprints() -> None:
    assert sorted(first_cells("existing-app.md", "## Mount the blueprints")) == sorted(
        blueprints.__all__
    )


def test_readme_badges_state_what_the_package_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name = "Programming Language :: Python :: 3."
    versions = [each.removeprefix(name[:-2]) for each in project["classifiers"] if name in each]
    assert badge("python") == f"python: {' | '.join(versions)}"
    assert badge("licence") == f"licence: {project['license']}"
    assert (
        f"Development Status :: 4 - {badge('status').removeprefix('status: ').title()}"
        in (project["classifiers"])
    )
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert (badge("typing"), tools["mypy"]["strict"]) == ("typing: mypy strict", True)


def badge(name: str) -> str:
    """Return the text of a badge that the README shows."""
    file = f"badge-{name}.svg"
    assert f"docs/_static/{file}" in (ROOT / "README.md").read_text()
    [text] = re.findall(r'aria-label="(.*?)"', (ROOT / "docs" / "_static" / file).read_text())
    return str(text)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_curl_commands_fit_a_line_of_ninety_characters(page: Path) -> None:
    lines = re.findall(r"^ *(curl .*)$", (ROOT / page).read_text(), re.MULTILINE)
    assert [line for line in lines if len(line) > 90] == []
