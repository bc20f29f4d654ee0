"""Alembic's entry. In this repository the package is `app`; installed, it has another name."""

from __future__ import annotations

from importlib import import_module

from flask import current_app

package = type(current_app.extensions["frontdesk"]).__module__.partition(".")[0]
import_module(f"{package}.core.db.migrations").run_migrations()
