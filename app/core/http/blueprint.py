"""A plain Flask blueprint that brings its own error documents and asks for its extension.

Mounted on any application, its routes answer errors in our form and leave the host's handlers
alone; mounted before `Frontdesk.init_app`, it says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flask
from flask.sansio.app import App
from werkzeug.routing import BaseConverter

from ..database import MAX_ID
from ..desk import EXTENSION, Desk
from ..errors import SetupError
from ..folders import templates_folder
from .problems import handlers

# Says what a blueprint misses in this application, or nothing.
Need = Callable[[Desk], str | None]
# Lays a service that only this blueprint uses.
Furnish = Callable[[Desk], object]


class RowId(BaseConverter):
    """A row's id in ASCII digits. One that no row can have is looked for all the same and not
    found, so that the answer is the resource's own 404."""

    regex = "-?[0-9]+"

    def to_python(self, value: str) -> int:
        return max(0, min(int(value[:20]), MAX_ID))


class Blueprint(flask.Blueprint):
    def __init__(
        self,
        name: str,
        import_name: str,
        *,
        needs: tuple[Need, ...] = (),
        brings: tuple[Furnish, ...] = (),
    ) -> None:
        # A template of the same name in the host's own folder is found first.
        super().__init__(name, import_name, template_folder=str(templates_folder()))
        self.needs = needs
        self.brings = brings
        for kind, handler in handlers():
            self.register_error_handler(kind, handler)

    def register(self, app: App, options: dict[str, Any]) -> None:
        desk = app.extensions.get(EXTENSION)
        if not isinstance(desk, Desk):
            raise SetupError(
                f"Call frontdesk.init_app(app, db) before registering the blueprint '{self.name}'."
            )
        for need in self.needs:
            if missing := need(desk):
                raise SetupError(f"The blueprint '{self.name}' cannot be mounted: {missing}")
        for furnish in self.brings:
            furnish(desk)
        app.url_map.converters.setdefault("row_id", RowId)
        # As Flask names it, which puts the name of a blueprint around it in front.
        name = f"{options.get('name_prefix', '')}.{options.get('name', self.name)}"
        desk.blueprints.add(name.lstrip("."))
        # Without a prefix, a collection that is written as nothing would have no path at all.
        super().register(app, {**options, "url_prefix": options.get("url_prefix") or "/"})

    def add_url_rule(self, rule: str, *args: Any, **options: Any) -> None:
        # Every path answers with and without a trailing slash, and never redirects.
        options.setdefault("strict_slashes", False)
        super().add_url_rule(rule, *args, **options)
