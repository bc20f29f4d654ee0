"""`frontdesk.console`: the application's own pages in the console, which adds them when mounted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..core.context import find_context
from ..core.errors import SetupError
from ..core.types import AnyFunction
from ..core.web.operation import find_operation, operation

if TYPE_CHECKING:
    from flask import Response

V = TypeVar("V", bound=Callable[..., Any])

_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class HostPage:
    name: str
    path: str
    view: AnyFunction
    methods: Sequence[str]
    # The title in the navigation; without a title the page is not in the navigation.
    title: str
    icon: str
    section: str
    roles: tuple[str, ...]
    # The fields of its form that are stored if the session has ended.
    keep: frozenset[str] = frozenset()


class PageRenderer(NamedTuple):
    """The console's: renders a template with its layout."""

    render: Callable[..., Response]


@dataclass(eq=False)
class HostConsole:
    """`frontdesk.console`: the application adds its pages here before `init_app`."""

    pages: list[HostPage] = field(default_factory=list)

    def page(
        self,
        name: str,
        path: str = "",
        *,
        title: str = "",
        icon: str = "book",
        section: str = "",
        roles: Sequence[str] = (),
        methods: Sequence[str] = ("GET",),
        keep: Collection[str] = (),
    ) -> Callable[[V], V]:
        """Add a page at a path below the console's path; the default is `/NAME`.

        With a `title` the page is in the navigation, under the heading `section`, for accounts
        with one of these `roles` or for all. Templates link to it as `url(".NAME")`. An
        authorization decorator below this one declares who may open the page. `keep` names the
        form's fields that are stored for 30 minutes if the form is sent after the session ended;
        never name a secret.

        Raises:
            SetupError: The name is invalid, or the view has no authorization decorator.
        """
        if not _NAME.fullmatch(name):
            raise SetupError(f"{name!r} is not a valid page name: use a name such as `billing`.")

        def add(view: V) -> V:
            described = find_operation(view)
            if described is None or described.guard is None:
                raise SetupError(
                    f"The page '{name}' has no authorization decorator: add one below"
                    " @frontdesk.console.page, such as @active_account_required or @anyone."
                )
            operation(view).hidden = True
            address = path or f"/{name}"
            where = title, icon, section, tuple(roles), frozenset(keep)
            self.pages.append(HostPage(name, address, view, tuple(methods), *where))
            return view

        return add

    def render(self, template: str, **context: object) -> Response:
        """Render a page from an application's template that extends `console/desk.html`.

        Raises:
            SetupError: The console is not mounted.
        """
        renderers = find_context().contributions(PageRenderer)
        if not renderers:
            raise SetupError(
                "frontdesk.console.render needs the console: mount it with"
                " app.register_blueprint(blueprints.console)."
            )
        return renderers[0].render(template, **context)
