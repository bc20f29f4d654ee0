"""Finds a mail's template: the host's own of that name first, then ours."""

from __future__ import annotations

from flask import Flask
from jinja2 import Environment, FileSystemLoader, Template, TemplateNotFound, select_autoescape

from ..core.folders import templates_folder


class Templates:
    def __init__(self, app: Flask) -> None:
        self._app = app
        self._ours: Environment | None = None

    def get(self, name: str) -> Template:
        try:
            return self._app.jinja_env.get_template(name)
        except TemplateNotFound:
            return self._fallback().get_template(name)

    def find(self, name: str) -> Template | None:
        try:
            return self.get(name)
        except TemplateNotFound:
            return None

    def _fallback(self) -> Environment:
        """For a host that mounts none of our blueprints, which bring our folder with them."""
        if self._ours is None:
            loader = FileSystemLoader(templates_folder())
            self._ours = Environment(loader=loader, autoescape=select_autoescape())
        return self._ours
