from __future__ import annotations

from ...core.context import current_frontdesk, service
from ..caller import caller
from ..errors import ReauthenticationRequired
from ..guards import CREDENTIAL_PROBLEMS, guard
from ..settings import AuthSettings
from .errors import FactorsOff
from .freshness import FactorFreshness


@guard(FactorsOff, bearer=False)
def factors_required() -> None:
    """Second factors are switched on; where they are not, passkeys alone may be."""
    if current_frontdesk.settings.of(AuthSettings).MFA == "off":
        raise FactorsOff


@guard(*CREDENTIAL_PROBLEMS, ReauthenticationRequired)
def fresh_factor_required() -> None:
    """A sign-in of the last minutes, with a second factor where the account has one."""
    service(FactorFreshness).check(caller())
