"""What docs/asvs.md states about the code as a whole, checked in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.profiles.picture import MAX_BYTES, MAX_JPEG_PIXELS, MAX_PIXELS

from ..rigs.servers import ROOT

STANDARD = ROOT / "docs" / "asvs.md"
SCRIPTS = {
    path.name: path.read_text()
    for path in (ROOT / "app" / "console" / "static").glob("*.js")
    if path.name != "htmx.min.js"
}
# Modules with regular expressions or formats that are not literals in the call. They are constants,
# settings or translated texts, never parts of a request.
PATTERNS = {
    "accounts/locales.py",
    "accounts/search.py",
    "administration/search.py",
    "auth/application_credential.py",
    "auth/sessions/management.py",
    "auth/sessions/refresh_token.py",
    "console/audit_filter.py",
    "console/recovery_codes.py",
    "core/config/field_types.py",
    "core/db/account_ids.py",
    "core/db/first_schema.py",
    "core/web/fields.py",
    "delivery/mail/smtp.py",
    "delivery/personal.py",
    "extension/production.py",
    "broadcasts/recipient_lists.py",
    "workspaces/slugs.py",
}
FORMATS = {
    "cli/groups.py",
    "console/texts.py",
    "core/coded_messages.py",
    "core/db/search_indexes.py",
    "core/translations.py",
    "core/web/faults.py",
    "delivery/mail/markup.py",
}
RE_FUNCTIONS = {
    "compile",
    "match",
    "fullmatch",
    "search",
    "sub",
    "subn",
    "findall",
    "finditer",
    "split",
}
CRYPTOGRAPHY = {
    "PyJWT": "jwt",
    "bcrypt": "bcrypt",
    "itsdangerous": "itsdangerous",
    "joserfc": "joserfc",
    "AES-256-GCM": "cryptography",
}


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in (ROOT / "app").rglob("*.py"):
        yield path.relative_to(ROOT / "app").as_posix(), ast.parse(path.read_text())


def calls() -> Iterator[tuple[str, ast.Call]]:
    for name, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield name, node


def constants_of(name: str) -> set[str]:
    """Return the names of a module's constants."""
    return {
        ast.unparse(target)
        for node in ast.parse((ROOT / "app" / name).read_text()).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
    }


def test_regular_expressions_and_formats_contain_no_user_input() -> None:
    patterns, formats = set(), set()
    for name, call in calls():
        if not isinstance(call.func, ast.Attribute):
            continue
        on, method = call.func.value, call.func.attr
        if isinstance(on, ast.Name) and on.id == "re" and method in RE_FUNCTIONS:
            patterns |= set() if isinstance(call.args[0], ast.Constant) else {name}
        elif method in ("format", "format_map"):
            is_markup = isinstance(on, ast.Call) and ast.unparse(on.func) == "Markup"
            is_text = isinstance(on, ast.Constant) or ast.unparse(on) in constants_of(name)
            formats |= set() if is_markup or is_text else {name}
    assert patterns <= PATTERNS
    assert formats <= FORMATS


def test_only_row_readers_are_generated_code() -> None:
    """responses.py generates code from the column names of a query."""
    makers = {"eval", "exec", "__import__"}
    found = {name for name, call in calls() if ast.unparse(call.func) in makers}
    assert found <= {"core/web/responses.py"}


def test_random_values_come_from_the_operating_system() -> None:
    """The exceptions are the delays before a message or a request is tried again."""
    found = {
        name
        for name, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import) and any(each.name == "random" for each in node.names)
    }
    assert found == {"core/web/repeats.py", "delivery/worker/batch.py"}


def test_service_and_image_contain_no_test_helpers() -> None:
    assert "app/testing" in (ROOT / ".dockerignore").read_text().splitlines()
    testing_import = re.compile(r"^\s*(?:from|import) [\w.]*\btesting\b", re.MULTILINE)
    found = {
        path.relative_to(ROOT / "app").parts[0]
        for path in (ROOT / "app").rglob("*.py")
        if testing_import.search(path.read_text())
    }
    assert found <= {"testing"}


def test_weak_hash_functions_are_used_only_where_a_protocol_requires_them() -> None:
    """The exceptions are RFC 6238 (authenticator apps) and the service for breached passwords."""
    weak = re.compile(r"\bhashlib\.(?:md5|sha1|new)\b")
    found = {
        path.relative_to(ROOT / "app").as_posix()
        for path in (ROOT / "app").rglob("*.py")
        if weak.search(path.read_text()) and "foreign" not in path.parts
    }
    assert found == {"accounts/breaches.py", "auth/mfa/totp.py"}


def test_page_names_the_cryptography_libraries() -> None:
    page = (ROOT / "docs" / "security" / "cryptography.md").read_text()
    imported = {
        node.module.partition(".")[0] if isinstance(node, ast.ImportFrom) and node.module else ""
        for _, tree in trees()
        for node in ast.walk(tree)
    }
    assert "cryptography" in imported
    assert [name for name in CRYPTOGRAPHY if name not in page] == []


def test_console_scripts_store_only_a_preference_and_insert_no_html() -> None:
    """The preference is whether single keys are shortcuts."""
    forbidden = [
        "localStorage",
        "sessionStorage",
        "indexedDB",
        "postMessage",
        "HTML = ",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
    ]
    found = {(name, word) for name, text in SCRIPTS.items() for word in forbidden if word in text}
    assert found == {("palette.js", "localStorage")}
    stored = re.findall(r"localStorage\.\w+\(.*?\)", SCRIPTS["palette.js"])
    assert stored == ["localStorage.getItem(name)", 'localStorage.setItem(name, on ? "on" : "off")']


def test_console_scripts_set_no_property_by_an_external_name() -> None:
    """The exception is three fixed names of a passkey's fields."""
    computed = re.compile(r"\w\[[A-Za-z_.]+\]\s*=[^=]|__proto__")
    found = {name: computed.findall(text) for name, text in SCRIPTS.items()}
    assert {name: len(each) for name, each in found.items() if each} == {"passkeys.js": 1}


def test_page_states_the_size_limits_of_pictures() -> None:
    page = (ROOT / "docs" / "profiles.md").read_text()
    sizes = (MAX_BYTES >> 20, MAX_PIXELS // 10**6, MAX_JPEG_PIXELS // 10**6)
    assert "at most {} MiB and {} megapixels, or {} megapixels as a JPEG".format(*sizes) in page


def rows() -> list[tuple[str, str, str, str]]:
    """Return number, verdict, reason and tests of each requirement that applies."""
    row = re.compile(
        r"^\| (\d+\.\d+\.\d+) \| [12] \| ([a-z ]+) \| ([^|]*)\| ([^|]*)\|$", re.MULTILINE
    )
    return row.findall(STANDARD.read_text())


def test_every_verdict_names_a_test() -> None:
    """Only an operator can test what an operator has to do."""
    untested = [number for number, verdict, _, tests in rows() if "`test_" not in tests]
    assert [each for each in rows() if each[0] in untested and each[1] != "operator"] == []


def test_deviations_of_the_contract_are_listed_in_their_section() -> None:
    found = [number for number, verdict, _, _ in rows() if verdict == "contract"]
    after = STANDARD.read_text().partition("## Deviations of the API contract")[2]
    listed = after.partition("\n## ")[0]
    assert re.findall(r"^\| (\d+\.\d+\.\d+) \|", listed, re.MULTILINE) == found


@pytest.mark.parametrize("word", ["met", "operator", "contract", "not yet"])
def test_verdict_refers_to_existing_pages(word: str) -> None:
    for number, verdict, reason, _ in rows():
        for target in re.findall(r"\]\(([^)#]+)", reason if verdict == word else ""):
            path: Path = STANDARD.parent / target
            assert path.is_file(), f"{number}: {target}"
            for heading in re.findall(rf"{re.escape(target)}\), \"([^\"]+)\"", reason):
                assert heading in path.read_text(), f"{number}: {heading}"
