"""A Flask blueprint with error handlers and checks of its requirements.

Its routes render errors as problem documents; the application's error handlers are unchanged.
Registering it before `Frontdesk.init_app` raises SetupError.
"""

from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
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
from .operation import Operation, View, note_needs, operation
from .problems import handlers

Assemble = Callable[[Context], None]


class RowId(BaseConverter):
    """Converts a row's id in ASCII digits; for an impossible id the lookup responds with a 404."""

    regex = INTEGER_IDS.pattern

    def to_python(self, value: str) -> int:
        return INTEGER_IDS.from_path(value)


@cache
def account_id_converter(kind: IdKind) -> type[BaseConverter]:
    """Return the converter for `<account_id:…>` in paths, for the application's kind of ids."""

    class AccountIdInPath(BaseConverter):
        regex = kind.pattern
        part_isolating = True

        def to_python(self, value: str) -> object:
            try:
                return kind.from_path(value)
            except ValueError:
                raise ValidationError from None

    return AccountIdInPath


class Blueprint(flask.Blueprint):
    """A blueprint of Frontdesk. Requests with a cookie that change data must be same-site."""

    def __init__(
        self,
        name: str,
        import_name: str,
        *,
        needs: type[object] | None = None,
        assemble: Assemble | None = None,
        about: str = "",
        flow: tuple[str, str] | None = None,
        remedy: str = "",
        has_pages: bool = False,
    ) -> None:
        """`needs` is the service that all routes require, and `remedy` how to enable it.

        `flow` is the title and the shell commands of an example with several requests; `{login}`
        is the path of the view `login`.

        `assemble` adds a feature that only applications with this blueprint have, with its table.
        `has_pages`: session cookies authenticate here even if other routes do not accept them, and
        the OpenAPI document has no route of the blueprint.
        """
        # Flask finds a template of the same name in the application's folder first.
        super().__init__(name, import_name, template_folder=str(templates_folder()))
        self.needs = needs
        self.assemble = assemble
        # For the OpenAPI document.
        self.about = about
        self.flow = flow
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
        context.assemble_feature_of(self.import_name)
        self._check_needs(context)
        if self.assemble is not None and self.name not in context.mounted.names:
            self.assemble(context)
        # No request waits for a service to be made.
        context.build()
        app.url_map.converters.setdefault("row_id", RowId)
        in_path = account_id_converter(context.tables.account_ids)
        app.url_map.converters.setdefault("account_id", in_path)
        # Flask prefixes the name with that of a parent blueprint.
        name = f"{options.get('name_prefix', '')}.{options.get('name', self.name)}"
        context.mounted.blueprints.add(name.lstrip("."))
        context.mounted.names.add(self.name)
        if self.has_pages:
            context.mounted.pages.add(name.lstrip("."))
        # Without a prefix, the empty rule of a collection would have no path.
        super().register(app, {**options, "url_prefix": options.get("url_prefix") or "/"})
        exempt_from_csrf(app)

    def _check_needs(self, context: Context) -> None:
        if self.needs is None or context.has(self.needs):
            return
        problem = context.unavailable_reason(self.needs)
        remedy = (
            getattr(problem, "remedy", None) or self.remedy or f"it needs {self.needs.__name__}."
        )
        raise SetupError(f"The blueprint '{self.name}' cannot be mounted: {remedy}")

    def add_url_rule(
        self,
        rule: str,
        *args: Any,
        only_with: type[object] | tuple[type[object], ...] = (),
        **options: Any,
    ) -> None:
        """With `only_with`, register the rule only if the application has these services."""
        # Every path works with and without a trailing slash, without a redirect.
        options.setdefault("strict_slashes", False)
        options.setdefault("merge_slashes", False)
        view = options.get("view_func") or (args[1] if len(args) > 1 else None)
        needed = only_with if isinstance(only_with, tuple) else (only_with,)
        note_needs(view, self.needs, *needed)
        if not needed:
            super().add_url_rule(rule, *args, **options)
            return

        def add(state: BlueprintSetupState) -> None:
            if all(map(state.app.extensions[EXTENSION].has, needed)):
                state.add_url_rule(rule, *args, **options)

        self.record(add)


def exempt_from_csrf(app: App) -> None:
    """Exempt Frontdesk's routes from Flask-WTF: API clients have no CSRF tokens.

    Requests with Frontdesk's cookie are checked for their origin instead. Called at registration
    and at the first request, because Flask-WTF can be initialized later.
    """
    protection = app.extensions.get("csrf")
    if protection is not None and hasattr(protection, "exempt"):
        for blueprint in app.blueprints.values():
            if isinstance(blueprint, Blueprint):
                protection.exempt(blueprint)


class LazyView:
    def __init__(self, reference: str, package: str) -> None:
        """`reference`: a module of the package and a function, such as `owner.inbox.dashboard`."""
        self.module, _, self.__name__ = reference.rpartition(".")
        self.package = package

    def __call__(self, *args: object, **values: object) -> Any:
        return self.view(*args, **values)

    @cached_property
    def view(self) -> View:
        found: View = getattr(import_module(f".{self.module}", self.package), self.__name__)
        return found

    @property
    def _frontdesk_operation(self) -> Operation:
        """The operation of the view, for tests and for documentation."""
        return operation(self.view)


def loaded(view: View) -> View:
    """Return the view, which is imported if it is lazy."""
    return view.view if isinstance(view, LazyView) else view
