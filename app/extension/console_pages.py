"""`frontdesk.console`: the application's own pages in the console, which adds them when mounted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
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
_LINK = re.compile(r"(https?:/)?/[^\s/\\]\S*|/")


@dataclass(frozen=True)
class HostPage:
    name: str
    path: str
    view: AnyFunction
    methods: Sequence[str]
    # The fields of its form that are stored if the session has ended.
    keep: frozenset[str] = frozenset()


@dataclass(frozen=True)
class NavEntry:
    """An entry in the navigation of the console."""

    title: str
    # The endpoint without the name of the blueprint.
    endpoint: str
    icon: str
    # Counts the open items for the signed-in account.
    count: Callable[[Any], int] | None = None
    # The roles that see the entry; empty: all roles of the section.
    roles: tuple[str, ...] = ()
    # Of a link that is not a page of the console.
    url: str = ""
    # The place in its section, from 1; 0: at the end.
    position: int = 0


# Returns the content for an account, or a template with its variables.
AccountPanel = Callable[[Any], "str | tuple[str, Mapping[str, Any]]"]


class PageRenderer(NamedTuple):
    """The console's: renders a template with its layout, and redirects to a page."""

    render: Callable[..., Response]
    redirect: Callable[..., Response]


@dataclass(eq=False)
class HostConsole:
    """`frontdesk.console`: the application adds its pages here before it mounts the console."""

    pages: list[HostPage] = field(default_factory=list)
    # The entries in the navigation, with the titles of their sections.
    entries: list[tuple[str, NavEntry]] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    # The tabs on the admin's page of an account, by their titles.
    panels: dict[str, AccountPanel] = field(default_factory=dict)
    # The endpoint of the page after a sign-in, such as `.notes`.
    home: str = ""

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
        position: int = 0,
        count: Callable[[Any], int] | None = None,
    ) -> Callable[[V], V]:
        """Add a page at a path below the console's path; the default is `/NAME`.

        With a `title` the page is in the navigation, under the heading `section`, for accounts
        with one of these `roles` or for all. `position` is the place in the section, from 1; by
        default the page is the last one. `count` gets the account and returns the number next to
        the title; it is called for each page that the account opens. Templates link to the page as
        `url(".NAME")`. An authorization decorator below this one declares who may open the page.
        `keep` names the form's fields that are stored for 30 minutes if the form is sent after the
        session ended; never name a secret.

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
            self.pages.append(HostPage(name, address, view, tuple(methods), frozenset(keep)))
            if title:
                entry = NavEntry(title, name, icon, count, tuple(roles), "", position)
                self.entries.append((section, entry))
            return view

        return add

    def link(
        self,
        title: str,
        url: str,
        *,
        icon: str = "external",
        section: str = "",
        roles: Sequence[str] = (),
        position: int = 0,
        count: Callable[[Any], int] | None = None,
    ) -> None:
        """Add a link to the navigation: the URL of another site, or a path of your application.

        `section`, `roles`, `position` and `count` are those of `page`.

        Raises:
            SetupError: The URL is neither a path nor an HTTP URL.
        """
        if not _LINK.fullmatch(url):
            raise SetupError(f"{url!r} is not a valid link: use a path or https://…")
        entry = NavEntry(title, "", icon, count, tuple(roles), url, position)
        self.entries.append((section, entry))

    def hide(self, *names: str) -> None:
        """Remove entries from the navigation, and respond 404 to their pages and forms.

        Names are endpoints of entries, such as `mail_templates_page`, or titles of sections in
        English, such as `Workspaces`. The pages below the path of an entry are hidden too, unless
        another entry has a longer path. The API is not changed.
        """
        self.hidden.update(names)

    def account_panel(self, title: str) -> Callable[[V], V]:
        """Add a tab to the page of an account in the administration, for admins and root.

        When the tab is opened, the function gets the account. It returns the content as `Markup`
        (other text is escaped), or a template with a mapping of its variables.
        """

        def add(view: V) -> V:
            self.panels[title] = view
            return view

        return add

    def redirect(
        self, endpoint: str, message: str = "", *, kind: str = "success", **values: object
    ) -> Response:
        """Redirect to a page after a form, with a message that this page shows once.

        `endpoint` is `.NAME` for a page of the console, and `values` are variables of its path.
        The `kind` of the message is `success`, `info`, `warning` or `danger`.

        Raises:
            SetupError: The console is not mounted.
        """
        return _renderer("redirect").redirect(endpoint, message, kind=kind, **values)

    def render(self, template: str, **context: object) -> Response:
        """Render a page from an application's template that extends `console/desk.html`.

        Raises:
            SetupError: The console is not mounted.
        """
        return _renderer("render").render(template, **context)


def _renderer(used: str) -> PageRenderer:
    renderers = find_context().contributions(PageRenderer)
    if not renderers:
        raise SetupError(
            f"frontdesk.console.{used} needs the console: mount it with"
            " app.register_blueprint(blueprints.console)."
        )
    return renderers[0]
