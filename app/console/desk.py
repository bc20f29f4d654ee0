"""What the console of one application has: its templates, its brand, and what is switched on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, Undefined

from ..accounts.service import Accounts
from ..auth.settings import AuthSettings
from ..core.context import Context
from ..core.process.folders import templates_folder
from ..delivery.mail.brand import BrandSettings
from ..delivery.mail.templates import Templates

if TYPE_CHECKING:
    from .persons import Persons


@dataclass(eq=False)
class Desk:
    context: Context

    @cached_property
    def environment(self) -> Environment:
        """The host's, whose own templates of the same name are found first; what pages know
        beside it is theirs alone."""
        from .page_globals import FILTERS, GLOBALS

        theirs = self.context.app.jinja_env
        loaders: list[BaseLoader] = [theirs.loader] if theirs.loader else []
        shipped = FileSystemLoader(templates_folder())
        # By this name a host's template extends ours of the same name, in whose place it stands.
        named = PrefixLoader({"ours": shipped})
        ours = theirs.overlay(
            loader=ChoiceLoader([*loaders, shipped, named]),
            # What a host expects of its own templates is nothing that ours promise.
            undefined=Undefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        ours.globals = {**theirs.globals, **GLOBALS}
        ours.filters = {**theirs.filters, **FILTERS}
        return ours

    @cached_property
    def persons(self) -> Persons:
        from .persons import Persons

        return Persons(self.context.session, self.context.get(Accounts).model)

    @property
    def brand(self) -> BrandSettings:
        return self.context.get(Templates).brand

    @cached_property
    def on(self) -> Switches:
        return Switches(self.context)


class Switches:
    """Which rooms there are, for pages that show what can be done here."""

    def __init__(self, context: Context) -> None:
        auth = context.settings.of(AuthSettings)
        self.registration = auth.REGISTRATION != "closed"
        self.provider = auth.ENABLE_IDP_OAUTH
        self.second_factors = auth.keeps_authenticators
        self.factors = auth.MFA != "off"
        self.passkeys = auth.takes_passkeys
        self.mailed_codes = auth.LOGIN_BY_CODE == "on"
        self.exports = auth.ACCOUNT_EXPORTS == "on"
        self.deletion = auth.ACCOUNT_DELETION == "on"
        self.verification = auth.EMAIL_VERIFICATION != "off"

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)
