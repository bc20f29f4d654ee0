"""The words for the recipients of a broadcast, and the choices of the form that selects them."""

from markupsafe import Markup

from ...accounts.models import DELETING, PENDING
from ...accounts.service import Accounts
from ...broadcasts.recipient_lists import INACTIVE, NO_ACCOUNT, NOT_AN_ADDRESS, RefusedLine
from ...core.context import service
from ...notifications.receivers import Audience
from ...workspaces.service import Workspaces
from ..owner.languages import language_choices
from ..texts import _, _n, mark
from .filters import roles, statuses

# Choices of the status that are no statuses, by whether the accounts are active, and verified.
VERIFIED, ACTIVE = "verified", "active"
BY_ACTIVITY = {
    (True, True): VERIFIED,
    (True, None): ACTIVE,
    (None, None): "",
    (None, True): "any_verified",
    (None, False): "unverified",
}
# The start of the choice of one of the active statuses.
EXACT = "="
_STATUSES = {
    VERIFIED: mark("Active and verified"),
    ACTIVE: mark("Active"),
    "": mark("Any status"),
    "any_verified": mark("Verified, any status"),
    "unverified": mark("Unverified, any status"),
}
_REFUSALS = {
    NOT_AN_ADDRESS: mark("Not an email address or an account ID"),
    NO_ACCOUNT: mark("No account"),
}
# By whether the accounts are active, and verified.
_ACTIVITY = {
    (True, True): mark("Active accounts with a verified email address"),
    (True, None): mark("Active accounts"),
    (True, False): mark("Active accounts with an unverified email address"),
    (None, True): mark("Accounts with a verified email address"),
    (None, False): mark("Accounts with an unverified email address"),
    (False, True): mark("Inactive accounts with a verified email address"),
    (False, None): mark("Inactive accounts"),
    (False, False): mark("Inactive accounts with an unverified email address"),
}


def refusal_text(line: RefusedLine) -> Markup:
    if line.reason == INACTIVE:
        [(_name, status)] = statuses([line.status])
        return _("The status of the account is: {status}", status=status)
    return _(_REFUSALS[line.reason])


def status_choices(chosen: str) -> list[tuple[str, str]]:
    accounts = service(Accounts)
    others = {*accounts.statuses(), PENDING, DELETING} - accounts.active_statuses
    special = [(name, _(title)) for name, title in _STATUSES.items()]
    if chosen.startswith(EXACT):
        [(_name, title)] = statuses([chosen.removeprefix(EXACT)])
        special.append((chosen, _("Status: {status}", status=title)))
    return [*special, *statuses(sorted(others - {ACTIVE}))]


def role_choices() -> list[tuple[str, str]]:
    return [("", _("Any role")), *roles(service(Accounts).roles)]


def languages() -> list[tuple[str, str]]:
    """Return the choice of languages; none if the accounts of the application have no language."""
    if getattr(service(Accounts).model, "locale", None) is None:
        return []
    return [("", _("Any language")), *language_choices(None)]


def describe(audience: Audience) -> list[Markup]:
    """Return the conditions of an audience in words."""
    found: list[Markup] = []
    if audience.ids is not None:
        found.append(_n("One selected account", "{n} selected accounts", len(audience.ids)))
    if audience == Audience():
        found.append(_("All accounts, regardless of status"))
    for (active, verified), text in _ACTIVITY.items():
        if (audience.active, audience.verified) == (active, verified):
            found.append(_(text))
    if audience.status is not None:
        [(_name, status)] = statuses([audience.status])
        found.append(_("Status: {status}", status=status))
    if audience.role is not None:
        [(_name, role)] = roles([audience.role])
        found.append(_("Role: {role}", role=role))
    if audience.workspace is not None:
        names = service(Workspaces).names([audience.workspace])
        name = names.get(audience.workspace) or _("Deleted workspace")
        found.append(_("Active members of the workspace {name}", name=name))
    if audience.language is not None:
        known = dict(language_choices(audience.language))
        found.append(_("Language: {language}", language=known[audience.language]))
    return found
