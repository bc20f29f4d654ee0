"""`flask accounts import`: checks, reports, updates and interrupted imports."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.accounts.service import Accounts
from app.auth.idp.models import Identity
from app.core.context import service
from app.profiles.models import Profile
from app.testing.client import Api
from app.transfer.formats import FORMATS
from app.workspaces.models import Member, Workspace

from ..auth.test_login import listen_to, log_in
from ..cli.test_command_line import run
from ..conftest import PASSWORD, SECRET, Backend, Person
from ..rigs.servers import ROOT, checkout_environment

WERKZEUG = "scrypt:2:1:1$salt$dcb5c5d5b3bb3a1ee5c8cd7a3ba9b9db4b2d1ac9b9ca0ac1d0e6f4c6ff0a1c11"
HASH = "$2b$04$" + "." * 53


def import_lines(app: Flask, lines: list[Any], *options: str) -> dict[str, Any]:
    """Import lines, of which strings are written unchanged, and return the printed counts."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    Path("file").write_text("".join(f"{text}\n" for text in texts))
    return run_import(app, "file", *options)


def run_import(app: Flask, *arguments: str) -> dict[str, Any]:
    """Return the printed counts; the exit code is 3 if a row was refused."""
    result = app.test_cli_runner().invoke(args=["accounts", "import", *arguments])
    counts: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (3 if counts["refused"] else 0), result.output
    return counts


def report() -> list[dict[str, str]]:
    with open("file.report.csv", newline="") as file:
        return list(csv.DictReader(file))


def stored(app: Flask, email: str) -> Any:
    with app.app_context():
        account: Any = service(Accounts).get(email)
        return account


def count(app: Flask, model: Any) -> int:
    with app.app_context():
        return int(service(Accounts).session.scalar(select(func.count(model.id))) or 0)


def test_account_is_imported_with_all_its_data(app: Flask) -> None:
    moment = "2024-05-01T12:00:00.123456+00:00"
    line = {
        "id": 41,
        "email": "Ada@Example.com",
        "password_hash": HASH,
        "role": "admin",
        "status": "online",
        "phone": "+1 500 555 0006",
        "created_at": moment,
        "last_login_date": moment,
        "current_workspace": "acme",
        "workspaces": [
            {"slug": "home", "name": "Home", "type": "owner"},
            {"slug": "acme", "name": "Acme", "type": "guest", "status": "away"},
        ],
        "identities": [{"issuer": "https://id.example.com", "subject": "ada"}],
        "profile": {"first_name": "Ada", "nickname": "The Countess"},
    }
    assert import_lines(app, [line])["imported"] == 1
    with app.app_context():
        session = service(Accounts).session
        ada: Any = service(Accounts).get("ada@example.com")
        assert (ada.id, ada.role, ada.status, ada.phone) == (41, "admin", "online", "+15005550006")
        assert ada.created_at.isoformat() == ada.last_login_date.isoformat() == moment
        members = session.execute(
            select(Workspace.slug, Member.type, Member.status)
            .join(Member, Member.workspace_id == Workspace.id)
            .order_by(Member.id)
        ).all()
        assert [tuple(row) for row in members] == [
            ("home", "owner", "active"),
            ("acme", "guest", "away"),
        ]
        current: Any = session.get(Workspace, ada.current_workspace_id)
        assert current.slug == "acme"
        assert session.scalar(select(Identity.account_id)) == 41
        profile: Any = session.scalar(select(Profile))
        assert (profile.account_id, profile.first_name) == (41, "Ada")
        assert profile.extra == {"nickname": "The Countess"}


def test_imported_account_signs_in_and_its_hash_is_replaced(app: Flask) -> None:
    from werkzeug.security import generate_password_hash

    imported_hash = generate_password_hash(PASSWORD, "scrypt:1024:8:1")
    import_lines(app, [{"email": "ada@example.com", "password_hash": imported_hash}])
    log_in(Api(app), "ada@example.com", PASSWORD)
    assert stored(app, "ada@example.com").password_hash.startswith("$2b$04$")


def test_ids_are_kept_and_new_ids_follow_them(app: Flask) -> None:
    import_lines(app, [{"id": 41, "email": "ada@example.com"}, {"email": "bob@example.com"}])
    assert stored(app, "ada@example.com").id == 41
    import_lines(app, [{"email": "cyd@example.com"}])
    with app.app_context():
        dan = service(Accounts).create("dan@example.com", PASSWORD)
        assert dan.id > 41


def test_id_of_another_type_is_replaced_and_reported(app: Flask) -> None:
    line = {"id": "a6f9d3f2-6c7b-4e50-9b1d-1f0c2a3b4c5d", "email": "ada@example.com"}
    assert import_lines(app, [line], "--dry-run")["new_ids"] == 1
    assert import_lines(app, [line])["new_ids"] == 1
    row = report()[0]
    assert row["id"] == str(stored(app, "ada@example.com").id)
    assert (row["code"], row["reason"]) == ("new_id", f"The id was {line['id']}.")


REFUSED: list[tuple[Any, str]] = [
    ("not json", "broken_line"),
    ("[1]", "broken_line"),
    ('{"email": "a@example.com", "profile": {"x": NaN}}', "broken_line"),
    ('{"email": "\udcff@example.com"}', "broken_line"),
    ({}, "missing_field"),
    ({"email": 7}, "wrong_field"),
    ({"email": "no address"}, "invalid_email"),
    ({"email": "a b@example.com"}, "invalid_email"),
    ({"email": f"x@{'y' * 400}.com"}, "too_long"),
    ({"email": "a\x00@example.com"}, "invalid_email"),
    ({"email": "a@example.com", "created_at": "yesterday"}, "wrong_field"),
    ({"email": "a@example.com", "email_verified": "perhaps"}, "wrong_field"),
    ({"email": "a@example.com", "role": "king"}, "unknown_role"),
    ({"email": "a@example.com", "status": "  "}, "wrong_field"),
    ({"email": "a@example.com", "status": "x" * 51}, "too_long"),
    ({"email": "a@example.com", "phone": "12"}, "invalid_phone"),
    ({"email": "a@example.com", "password_hash": "plain text"}, "unknown_hash"),
    ({"email": "a@example.com", "password_hash": "x" * 256}, "too_long"),
    ({"email": "a@example.com", "password_hash": "$2b$20$" + "." * 53}, "hash_too_costly"),
    ({"email": "a@example.com", "workspaces": [{"slug": "nowhere"}]}, "unknown_workspace"),
    ({"email": "a@example.com", "workspaces": [{"slug": "No!", "name": "N"}]}, "wrong_workspace"),
    ({"email": "a@example.com", "workspaces": [{"slug": "ok", "type": "king"}]}, "unknown_type"),
    ({"email": "a@example.com", "workspaces": {}}, "wrong_field"),
    ({"email": "a@example.com", "current_workspace": "there"}, "wrong_workspace"),
    ({"email": "a@example.com", "identities": [{"issuer": "x"}]}, "missing_field"),
    ({"email": "a@example.com", "profile": {"first_name": 7}}, "wrong_profile"),
    ({"email": "a@example.com", "profile": {"avatar_file": "../x"}}, "wrong_profile"),
    ({"email": "ada@example.com", "id": 999}, "email_taken"),
    ({"email": "b@example.com", "id": "ada's"}, "id_taken"),
    ({"email": "first@example.com"}, "repeated_email"),
    ({"email": "c@example.com", "id": 500}, "repeated_id"),
]


def test_invalid_rows_are_reported_and_do_not_stop_the_import(app: Flask, ada: Person) -> None:
    first = {"email": "first@example.com", "id": 500}
    last = {"email": "last@example.com", "password_hash": HASH}
    wrong = [{**line, "id": ada.id} if code == "id_taken" else line for line, code in REFUSED]
    Path("file").write_bytes(b"")
    result = import_bytes(app, [first, *wrong, last])
    found = sorted((int(row["line"]), row["code"]) for row in report())
    assert found == [(at, code) for at, (_, code) in enumerate(REFUSED, 2)]
    assert (result["imported"], result["refused"]) == (2, len(REFUSED))
    assert all(row["outcome"] == "refused" and row["reason"] for row in report())
    assert "plain text" not in Path("file.report.csv").read_text()


def import_bytes(app: Flask, lines: list[Any]) -> dict[str, Any]:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    Path("file").write_bytes("".join(f"{t}\n" for t in texts).encode(errors="surrogateescape"))
    return run_import(app, "file")


def test_refusal_by_the_database_is_reported(app: Flask) -> None:
    """Two rows name one picture, which only the database detects."""
    picture = {"avatar_file": f"{'a' * 32}.png"}
    lines: list[Any] = [{"email": f"{n}@example.com"} for n in range(20)]
    lines[3]["profile"] = lines[11]["profile"] = picture
    assert import_lines(app, lines)["imported"] == 19
    assert [(row["line"], row["code"]) for row in report()] == [("12", "conflict")]
    assert count(app, Profile) == 1


def test_identity_of_another_account_is_refused(app: Flask) -> None:
    identities = [{"issuer": "https://id.example.com", "subject": "ada"}]
    import_lines(app, [{"email": "ada@example.com", "identities": identities}])
    import_lines(app, [{"email": "bob@example.com", "identities": identities}])
    assert report()[0]["code"] == "identity_taken"


def test_import_does_not_add_an_owner_to_another_workspace_with_the_same_slug(app: Flask) -> None:
    """Two installations each have a workspace `ada`, with different creation times."""
    run(app, "workspaces", "create", "ada", "--name", "Ada's")
    workspace = {
        "slug": "ada",
        "name": "Another",
        "type": "owner",
        "workspace_created_at": "2020-01-01T00:00:00+00:00",
    }
    import_lines(app, [{"email": "eve@example.com", "workspaces": [workspace]}])
    assert report()[0]["code"] == "slug_taken"
    assert count(app, Member) == 0


def test_repeated_import_skips_existing_accounts(app: Flask) -> None:
    lines = [{"id": n, "email": f"{n}@example.com", "password_hash": HASH} for n in range(1, 51)]
    import_lines(app, lines[:30])
    result = import_lines(app, lines)
    assert (result["imported"], result["present"], result["refused"]) == (20, 30, 0)
    assert count(app, service_model(app)) == 50


def service_model(app: Flask) -> Any:
    with app.app_context():
        return service(Accounts).model


def test_killed_import_can_be_repeated(app: Flask, backend: Backend, tmp_path: Path) -> None:
    total = 5_000
    with (tmp_path / "file").open("w") as file:
        for n in range(1, total + 1):
            line = {
                "id": n,
                "email": f"{n}@example.com",
                "workspaces": [{"slug": "all", "name": "A"}],
            }
            file.write(json.dumps(line) + "\n")
    environment = checkout_environment(SECRET_KEY=SECRET, CORE__DATABASE_URL=backend.database_url)
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "accounts", "import", "-"]
    # An endless stream: the import cannot finish before the kill.
    with subprocess.Popen(
        ["tail", "-f", "-n", "+1", tmp_path / "file"], stdout=subprocess.PIPE
    ) as endless:
        process = subprocess.Popen(
            [*command, "--report", str(tmp_path / "killed.csv")],
            env=environment,
            stdin=endless.stdout,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        model = service_model(app)
        while count(app, model) == 0:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        endless.kill()
    before = count(app, model)
    assert 0 < before < total
    # Imported accounts are complete.
    assert count(app, Member) == before
    result = run_import(app, "file")
    assert (result["imported"], result["present"]) == (total - before, before)
    assert count(app, Member) == total


def test_dry_run_reports_the_same_and_changes_nothing(app: Flask, ada: Person) -> None:
    lines: list[Any] = [
        {"id": 41, "email": "bob@example.com", "workspaces": [{"slug": "acme", "name": "Acme"}]},
        {"email": "no address"},
        {"email": ada.email, "role": "admin"},
        {"email": "bob@example.com"},
    ]
    options = ("--update",)
    result = import_lines(app, lines, *options, "--dry-run")
    dry_report = report()
    assert count(app, service_model(app)) == 1
    assert count(app, Workspace) == count(app, Member)
    assert stored(app, ada.email).role == "user"
    assert result["dry_run"] is True
    assert import_lines(app, lines, *options) == {**result, "dry_run": False}
    assert report() == dry_report
    assert (result["imported"], result["updated"], result["refused"]) == (1, 1, 2)


def test_update_changes_only_the_documented_data(app: Flask, ada: Person) -> None:
    before = stored(app, ada.email)
    line = {
        "email": ada.email,
        "password_hash": HASH,
        "role": "admin",
        "phone": "+15005550006",
        "created_at": "2001-01-01T00:00:00Z",
        "workspaces": [{"slug": "acme", "name": "Acme"}],
        "identities": [{"issuer": "https://id.example.com", "subject": "ada"}],
        "profile": {"city": "London", "likes": "trains"},
    }
    assert import_lines(app, [line], "--update")["updated"] == 1
    after = stored(app, ada.email)
    assert (after.role, after.phone) == ("admin", "+15005550006")
    assert (after.id, after.created_at) == (before.id, before.created_at)
    assert after.password_hash == before.password_hash
    log_in(Api(app), ada.email, PASSWORD)
    changed = {
        **line,
        "profile": {"city": "Paris"},
        "workspaces": [{"slug": "acme", "type": "admin"}],
    }
    assert import_lines(app, [changed], "--update")["updated"] == 1
    assert import_lines(app, [changed], "--update")["present"] == 1
    with app.app_context():
        session = service(Accounts).session
        profile: Any = session.scalar(select(Profile))
        assert (profile.city, profile.extra) == ("Paris", {"likes": "trains"})
        acme = select(Member.type).join(Workspace, Member.workspace_id == Workspace.id)
        assert session.scalar(acme.where(Workspace.slug == "acme")) == "admin"
        assert session.scalar(select(func.count(Identity.id))) == 1


def test_update_adds_a_missing_password(app: Flask) -> None:
    import_lines(app, [{"email": "ada@example.com"}])
    import_lines(app, [{"email": "ada@example.com", "password_hash": HASH}], "--update")
    assert stored(app, "ada@example.com").password_hash == HASH


def test_registered_signal_is_emitted_only_with_the_option(app: Flask) -> None:
    emails: list[str] = []
    listen_to(app, "account-registered", lambda account, _: emails.append(account.email))
    import_lines(app, [{"email": "ada@example.com"}])
    assert emails == []
    import_lines(app, [{"email": "bob@example.com"}], "--emit")
    assert emails == ["bob@example.com"]
    # The service's own listener creates a workspace for each registered account.
    assert count(app, Workspace) == 1


def test_unverified_email_is_marked_unless_addresses_are_trusted(app: Flask, api: Api) -> None:
    import_lines(app, [{"email": "ada@example.com", "email_verified": False}])
    assert stored(app, "ada@example.com").email_unverified_since is not None
    for name, option in (("bob", "--trust-emails"), ("eve", "--trust-addresses")):
        import_lines(app, [{"email": f"{name}@example.com", "email_verified": False}], option)
        assert stored(app, f"{name}@example.com").email_unverified_since is None


def test_file_of_another_format_is_imported(app: Flask) -> None:
    samples = Path(__file__).with_name("samples")
    options = ("--format", "django", "--report", "refused.csv")
    assert run_import(app, str(samples / "django.json"), *options)["imported"] == 2
    assert stored(app, "ada@example.com").role == "admin"


def test_broken_document_is_imported_up_to_the_error(app: Flask) -> None:
    user = '{"model": "auth.user", "pk": 1, "fields": {"email": "a@example.com", "password": ""}}'
    Path("file").write_text(f"[{user}, oh]")
    result = run_import(app, "file", "--format", "django")
    assert (result["imported"], result["reasons"]) == (1, {"broken_file": 1})


def test_lists_in_csv_are_json(app: Flask) -> None:
    with open("file", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["email", "role", "workspaces"])
        writer.writerow(["ada@example.com", "admin", '[{"slug": "acme", "name": "Acme"}]'])
        writer.writerow(["bob@example.com"])
    result = run_import(app, "file")
    assert (result["imported"], result["reasons"]) == (1, {"broken_line": 1})
    assert stored(app, "ada@example.com").role == "admin"


def test_refused_rows_are_an_error_that_names_the_report(app: Flask) -> None:
    Path("file").write_text('{"email": "ada@example.com"}\n{"email": "no address"}\n')
    result = app.test_cli_runner().invoke(args=["accounts", "import", "file"])
    assert result.exit_code == 3
    assert result.stderr == (
        "Error: Rows with errors: 1 of 2. The reasons are in file.report.csv.\n"
    )
    assert count(app, service_model(app)) == 1


@pytest.mark.parametrize(
    "command",
    [("import", "file", "--report", "/nowhere/report.csv"), ("export", "/nowhere/report.csv")],
)
def test_output_that_cannot_be_written_is_one_error_message(
    app: Flask, command: tuple[str, ...]
) -> None:
    Path("file").write_text('{"email": "ada@example.com"}\n')
    output = run(app, "accounts", *command, code=1)
    assert output == "Error: /nowhere/report.csv cannot be written: No such file or directory\n"


def test_report_never_overwrites_the_file(app: Flask) -> None:
    Path("file").write_text('{"email": "ada@example.com"}\n')
    output = run(app, "accounts", "import", "file", "--report", "./file", code=2)
    assert "Write the report to a file other than FILE." in output
    assert Path("file").read_text() == '{"email": "ada@example.com"}\n'


def test_report_is_readable_only_by_its_owner(app: Flask) -> None:
    import_lines(app, [{"email": "ada@example.com"}])
    assert os.stat("file.report.csv").st_mode & 0o077 == 0


def test_example_of_the_documentation_is_imported(app: Flask) -> None:
    page = (ROOT / "docs" / "import-users.md").read_text()
    example = json.loads(page.partition("```json\n")[2].partition("```")[0])
    assert import_lines(app, [example])["imported"] == 1


def test_documentation_names_every_format_and_reason(app: Flask) -> None:
    page = (ROOT / "docs" / "import-users.md").read_text()
    reasons = {code for _, code in REFUSED} | {"unverified", "conflict", "not_an_account"}
    assert [word for word in sorted(reasons | {*FORMATS}) if f"`{word}`" not in page] == []
