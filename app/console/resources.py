"""The console's templates, brand, pages and enabled features in one application."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, Undefined

from ..accounts.service import Accounts
from ..auth.settings import AuthSettings
from ..core.context import Context
from ..core.process.folders import templates_folder
from ..delivery.mail.brand import BrandSettings
from ..delivery.mail.templates import Templates
from ..extension.console_pages import HostConsole
from ..profiles.service import Profiles
from .routes import ROUTES

if TYPE_CHECKING:
    from .open_items import OpenItemCounter
    from .people import People

# Not a blueprint: an identity provider is configured.
PROVIDERS = "providers"
# The blueprints that pages need, by the start of their paths; the longest start applies. The pages
# of all other paths belong to the console itself: sign-in, account, security, and the first start.
NEEDS = {
    "/register": {"registration"},
    "/dashboard": {"notifications"},
    "/banners": {"banners"},
    "/unsubscribe": {"unsubscribe"},
    "/profile": {"profiles"},
    "/sign-in/provider": {PROVIDERS},
    "/security/identities": {PROVIDERS},
    "/account/activity": {"events"},
    "/account/notifications": {"notifications"},
    "/account/exports": {"exports"},
    "/account/delete": {"deletion"},
    "/security/tokens": {"tokens"},
    "/invitation": {"invitations"},
    "/invitations": {"invitations"},
    "/workspaces": {"workspaces"},
    "/workspaces/<workspace_slug>/invitations": {"workspaces", "invitations"},
    "/workspaces/<workspace_slug>/activity": {"workspaces", "events"},
    "/workspaces/<workspace_slug>/tokens": {"workspaces", "tokens"},
    "/admin": {"administration"},
    "/admin/accounts/<account_id:account_id>/tokens": {"administration", "tokens"},
    "/admin/accounts/selected/add": {"administration", "workspaces"},
    "/admin/accounts/selected/email": {"administration", "admin_notifications"},
    "/admin/workspaces": {"administration", "workspaces"},
    "/admin/events": {"events"},
    "/admin/banners": {"banners"},
    "/admin/broadcasts": {"admin_notifications"},
    "/admin/deliveries": {"admin_notifications"},
}
# The end of the endpoint of a page at another path, see `add_email_paths`.
ELSEWHERE = "_elsewhere"
# The first of these pages that exists is the page after a sign-in.
HOMES = (".dashboard", ".profile_page", ".account_page")


def longest_start(path: str, starts: Iterable[str]) -> str:
    """Return the longest of these paths at or above a path, or an empty string."""
    found = [start for start in starts if f"{path}/".startswith((f"{start}/", f"{start}."))]
    return max(found, key=len, default="")


# The paths of all pages and forms, by the names of their views.
PATHS = {view.rpartition(".")[2]: path for _method, path, view in ROUTES}
_BY_NAME = {name: NEEDS.get(longest_start(path, NEEDS), set()) for name, path in PATHS.items()}


def is_mounted(endpoint: str, mounted: Collection[str]) -> bool:
    """Return whether the application mounts all blueprints of a page or form.

    Args:
        endpoint: The endpoint, such as `.dashboard` or `console.dashboard`. An endpoint of the
            application's own is always mounted.
        mounted: The names of the mounted blueprints.
    """
    return all(each in mounted for each in _BY_NAME.get(_name_of(endpoint), ()))


def _name_of(endpoint: str) -> str:
    return endpoint.rpartition(".")[2].removesuffix(ELSEWHERE)


@dataclass(eq=False)
class ConsoleResources:
    context: Context
    # The pages and forms that the application hides.
    hidden: Collection[str] = ()

    @cached_property
    def templates(self) -> Environment:
        """The templates: the application's own first, then the shipped ones.

        The globals and filters of the pages are added to a copy, not to the application's own.
        """
        from .page_globals import FILTERS, GLOBALS

        application = self.context.app.jinja_env
        loaders: list[BaseLoader] = [application.loader] if application.loader else []
        shipped = FileSystemLoader(templates_folder())
        # An application's template that replaces a shipped one extends it as `ours/…`.
        named = PrefixLoader({"ours": shipped})
        templates = application.overlay(
            loader=ChoiceLoader([*loaders, shipped, named]),
            # The shipped templates read undefined names, which an application may forbid.
            undefined=Undefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        templates.globals = {**application.globals, **GLOBALS}
        templates.filters = {**application.filters, **FILTERS}
        return templates

    @cached_property
    def people(self) -> People:
        from .people import People

        model, profiles = self.context.get(Accounts).model, self.context.get(Profiles)
        has_profiles = self.features.has(".profile_page")
        return People(self.context.session, model, profiles.visibility, has_profiles)

    @cached_property
    def open_items(self) -> OpenItemCounter:
        from .open_items import OpenItemCounter

        return OpenItemCounter(self.context.get(Accounts), self.features)

    @property
    def brand(self) -> BrandSettings:
        return self.context.get(Templates).brand

    @cached_property
    def features(self) -> Features:
        return Features(self.context, self.hidden)


class Features:
    """The features that are enabled, and the pages that exist; templates read them as `on`."""

    def __init__(self, context: Context, hidden: Collection[str]) -> None:
        self._hidden, self._home = hidden, context.get(HostConsole).home
        auth = context.settings.of(AuthSettings)
        self._mounted = {*context.mounted.names, *([PROVIDERS] if auth.has_providers else [])}
        self.passwords = auth.PASSWORDS == "on"
        self.registration = auth.REGISTRATION != "closed" and self.has(".register_page")
        self.provider = auth.has_providers
        self.second_factors = auth.keeps_authenticators
        self.factors = auth.MFA != "off"
        self.passkeys = auth.takes_passkeys
        self.mailed_codes = auth.LOGIN_BY_CODE == "on"
        self.exports = auth.ACCOUNT_EXPORTS == "on" and self.has(".ask_export")
        self.deletion = auth.ACCOUNT_DELETION == "on" and self.has(".deletion_page")
        self.verification = auth.EMAIL_VERIFICATION != "off"

    @property
    def home(self) -> str:
        """The endpoint of the page after a sign-in."""
        return self._home or next(filter(self.has, HOMES), ".security_page")

    def has(self, endpoint: str) -> bool:
        """Return whether a page exists: the application mounts all blueprints that it needs, and
        does not hide it."""
        return _name_of(endpoint) not in self._hidden and is_mounted(endpoint, self._mounted)
