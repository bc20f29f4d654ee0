"""Pages of the host's own, beside ours and like them in look, navigation, errors and policy."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from flask.sansio.app import App

from ..core.errors import SetupError
from ..core.types import AnyFunction, SignalOptions
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
    # In the navigation; without a title it is only reached from other pages.
    title: str
    icon: str
    section: str
    roles: tuple[str, ...]


@dataclass(eq=False)
class HostConsole:
    """`frontdesk.console`: what a host adds, before its application is made."""

    # Renders a page; given, since this file is loaded where no page is.
    render_page: Callable[..., Response]
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
    ) -> Callable[[V], V]:
        """Add a page at a path below the console's own, `/NAME` unless said otherwise.

        With a `title` it stands in the navigation, for these `roles` or for every account, under
        the heading `section`. Templates link to it as `url(".NAME")`. Who may open it is said by a
        guard below this decorator.
        """
        if not _NAME.fullmatch(name):
            raise SetupError(f"A page is named as `billing` is, not {name!r}.")

        def add(view: V) -> V:
            described = find_operation(view)
            if described is None or described.guard is None:
                raise SetupError(
                    f"The page '{name}' does not say who may open it: write a guard below"
                    " @frontdesk.console.page, such as @active_account_required, or @anyone."
                )
            operation(view).hidden = True
            address = path or f"/{name}"
            where = title, icon, section, tuple(roles)
            self.pages.append(HostPage(name, address, view, tuple(methods), *where))
            return view

        return add

    def render(self, template: str, **context: object) -> Response:
        """A page made of a template of the host's own, which extends `console/desk.html`."""
        return self.render_page(template, **context)


def add_host_pages(app: App, console: HostConsole, blueprint: str, options: SignalOptions) -> None:
    """In the console's own blueprint, so that its errors, headers and checks hold for them."""
    prefix = str(options.get("url_prefix") or "").rstrip("/")
    for page in console.pages:
        endpoint = f"{options.get('name', blueprint)}.{page.name}"
        if endpoint in app.view_functions:
            raise SetupError(f"The console has a page '{page.name}' itself: choose another name.")
        app.add_url_rule(
            f"{prefix}{page.path}",
            endpoint,
            page.view,
            methods=list(page.methods),
            strict_slashes=False,
        )
