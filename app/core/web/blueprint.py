"""A plain Flask blueprint that brings its own error documents and asks for its extension.

Mounted on any application, its routes answer errors in our form and leave the host's handlers
alone; mounted before `Frontdesk.init_app`, it says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import flask
from flask.blueprints import BlueprintSetupState
from flask.sansio.app import App
from werkzeug.routing import BaseConverter, ValidationError

from ..context import EXTENSION, Context
from ..db.account_ids import INTEGER_IDS, IdKind
from ..errors import SetupError
from ..process.folders import templates_folder
from ..types import SignalOptions
from .operation import note_needs
from .problems import handlers

Assemble = Callable[[Context], None]


class RowId(BaseConverter):
    """A row's id in ASCII digits. One that no row can have is looked for all the same and not
    found, so that the answer is the resource's own 404."""

    regex = INTEGER_IDS.pattern

    def to_python(self, value: str) -> int:
        return INTEGER_IDS.from_path(value)


@cache
def account_id_converter(kind: IdKind) -> type[BaseConverter]:
    """For `<account_id:…>` in a path: the id of an account, of the kind that this application's
    have."""

    class AccountIdInPath(BaseConverter):
        regex = kind.pattern
        part_isolating = True

        def to_python(self, value: str) -> Any:
            try:
                return kind.from_path(value)
            except ValueError:
                raise ValidationError from None

    return AccountIdInPath


class Blueprint(flask.Blueprint):
    """Its routes take a bearer token or none; where they take a cookie too, whatever would change
    something is refused to another site's page."""

    def __init__(
        self,
        name: str,
        import_name: str,
        *,
        needs: type[Any] | None = None,
        assemble: Assemble | None = None,
        about: str = "",
        remedy: str = "",
        has_pages: bool = False,
    ) -> None:
        """`needs` is the service without which none of its routes works, and `remedy` what to do
        where it is not there. `assemble` puts in a slice
        that is no application's before it is mounted, since a host may have such a table itself.
        `has_pages`: a browser is known there by its cookie also where other routes take none."""
        # A template of the same name in the host's own folder is found first.
        super().__init__(name, import_name, template_folder=str(templates_folder()))
        self.needs = needs
        self.assemble = assemble
        # For the OpenAPI document.
        self.about = about
        self.remedy = remedy
        self.has_pages = has_pages
        for kind, handler in handlers():
            self.register_error_handler(kind, handler)

    def register(self, app: App, options: SignalOptions) -> None:
        context = app.extensions.get(EXTENSION)
        if not isinstance(context, Context):
            raise SetupError(
                f"Call frontdesk.init_app(app, db) before registering the blueprint '{self.name}'."
            )
        self._check_needs(context)
        if self.assemble is not None and self.name not in context.mounted.names:
            self.assemble(context)
        app.url_map.converters.setdefault("row_id", RowId)
        in_path = account_id_converter(context.tables.account_ids)
        app.url_map.converters.setdefault("account_id", in_path)
        # As Flask names it, which puts the name of a blueprint around it in front.
        name = f"{options.get('name_prefix', '')}.{options.get('name', self.name)}"
        context.mounted.blueprints.add(name.lstrip("."))
        context.mounted.names.add(self.name)
        if self.has_pages:
            context.mounted.pages.add(name.lstrip("."))
        # Without a prefix, a collection that is written as nothing would have no path at all.
        super().register(app, {**options, "url_prefix": options.get("url_prefix") or "/"})
        exempt_from_csrf(app)

    def _check_needs(self, context: Context) -> None:
        if self.needs is None or context.has(self.needs):
            return
        problem = context.unavailable_reason(self.needs)
        found = getattr(problem, "remedy", None) or self.remedy
        remedy = found or f"it needs {self.needs.__name__}."
        raise SetupError(f"The blueprint '{self.name}' cannot be mounted: {remedy}")

    def add_url_rule(
        self, rule: str, *args: Any, only_with: type[Any] | None = None, **options: Any
    ) -> None:
        """`only_with`: where an application does not have this service, it has no such route."""
        # Every path answers with and without a trailing slash, and never redirects.
        options.setdefault("strict_slashes", False)
        options.setdefault("merge_slashes", False)
        note_needs(options.get("view_func") or (args[1] if len(args) > 1 else None), self.needs)
        if only_with is None:
            super().add_url_rule(rule, *args, **options)
            return

        def add(state: BlueprintSetupState) -> None:
            if state.app.extensions[EXTENSION].has(only_with):
                state.add_url_rule(rule, *args, **options)

        self.record(add)


def exempt_from_csrf(app: App) -> None:
    """Flask-WTF's protection of a whole application asks every form for a token of its own; a
    client with a bearer token has no such form, and one with our cookie is asked for the page that
    it comes from. It may be there before us or come later."""
    protection = app.extensions.get("csrf")
    if protection is not None and hasattr(protection, "exempt"):
        for blueprint in app.blueprints.values():
            if isinstance(blueprint, Blueprint):
                protection.exempt(blueprint)
