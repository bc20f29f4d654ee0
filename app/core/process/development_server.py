"""Flask's development server, which has no hook for a worker that begins to serve."""

from __future__ import annotations

import click
from flask.cli import run_command
from flask.helpers import get_debug_flag
from werkzeug.serving import is_running_from_reloader


def is_serving_process() -> bool:
    """Whether `flask run` serves requests in this process. With the reloader a child process
    does, and its parent only watches the files."""
    command = click.get_current_context(silent=True)
    if command is None or command.command is not run_command:
        return False
    reloads = command.params.get("reload")
    if reloads is None:
        reloads = get_debug_flag()
    return is_running_from_reloader() or not reloads
