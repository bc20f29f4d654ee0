"""Every action and every signal of Frontdesk, collected from the packages."""

from collections.abc import Mapping

from ..accounts import actions as accounts
from ..auth import actions as auth
from ..banners import actions as banners
from ..core.actions import Action, Signal
from ..notifications import actions as notifications
from ..profiles import actions as profiles
from ..tokens import actions as tokens
from ..workspaces import actions as workspaces

PACKAGES = (auth, accounts, profiles, workspaces, notifications, banners, tokens)
_VALUES = [each for package in PACKAGES for each in vars(package).values()]

DECLARED = [each for each in _VALUES if isinstance(each, Action)]
# The actions of the audit log.
ACTIONS: Mapping[str, Action] = {each.name: each for each in DECLARED if each.is_audited}
# The area of the audit log that an action belongs to, by the first part of the action's name.
AREAS: Mapping[str, str] = {
    subject: area
    for package in PACKAGES
    for area, subjects in package.AREAS.items()
    for subject in subjects
}
SIGNALS: Mapping[str, Signal] = {each.name: each for each in _VALUES if isinstance(each, Signal)}
# The action of a rejected request, by the security log's event.
REJECTIONS: Mapping[str, Action] = {
    event: action for action in ACTIONS.values() for event in action.rejection_events
}
