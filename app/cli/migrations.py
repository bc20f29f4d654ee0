"""`flask frontdesk migrations …`: prepares an application's folder of migrations."""

from __future__ import annotations

import re
from pathlib import Path

import click
from flask import current_app

from ..core.db.migrations import check_is_own
from .groups import CommandGroup
from .terminal import json_option, print_text

group = CommandGroup("migrations", help="Prepare your migrations for Frontdesk's.")

_ENV = """from flask_frontdesk import run_migrations

run_migrations()
"""
# An entry a line, because a path may contain spaces.
_LOCATIONS = """version_locations =
    %(here)s/versions
    flask_frontdesk:migrations/versions
path_separator = newline
revision_environment = true
"""
_FIRST = '''"""The start of the application's own migrations, after Frontdesk's first migration."""

revision = "0001_{label}"
down_revision = None
branch_labels = ("{label}",)
depends_on = "0031_shared_broadcasts"


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
'''


@group.command(short_help="Keep Frontdesk's migrations next to yours.")
@json_option
@click.option("--label", default="app", show_default=True, help="Branch label of your migrations.")
def init(label: str) -> None:
    """Run Frontdesk's migrations next to yours, in a separate history.

    Run `flask db init` first. The command completes migrations/alembic.ini and migrations/env.py,
    and writes a first migration for your own history if it has none. It does not change a file that
    you have changed: it prints what to add. It can run again.

    \b
    Examples:
      flask frontdesk migrations init
      flask frontdesk migrations init --label pinboard
    """
    extension = current_app.extensions.get("migrate")
    folder = Path(extension.directory if extension else "migrations")
    ini, env, versions = folder / "alembic.ini", folder / "env.py", folder / "versions"
    if extension is None or not ini.is_file():
        raise click.ClickException(
            "Call Migrate(app, db) in your application, and run `flask db init`."
        )
    check_is_own(versions)
    todo = []
    settings = ini.read_text(encoding="utf-8")
    if "flask_frontdesk:migrations" not in settings:
        if re.search(r"^(version_locations|.*path_separator|revision_env\w+) *=", settings, re.M):
            todo.append(f"Add to [alembic] in {ini}:\n\n{_LOCATIONS}")
        else:
            settings = settings.replace("[alembic]\n", f"[alembic]\n{_LOCATIONS}", 1)
            ini.write_text(settings, encoding="utf-8")
    original = Path(extension.migrate.get_config().get_template_directory(), "flask", "env.py")
    if env.read_bytes() == original.read_bytes():
        env.write_text(_ENV, encoding="utf-8")
    elif "flask_frontdesk" not in env.read_text(encoding="utf-8"):
        todo.append(f"Replace the contents of {env}:\n\n{_ENV}")
    if not any(versions.glob("*.py")):
        (versions / f"0001_{label}.py").write_text(_FIRST.format(label=label), encoding="utf-8")
    print_text("\n".join([*todo, "Run `flask db upgrade heads`."]), {"todo": todo})
