import logging
from functools import partial

from ..core.context import Context, DoctorChecks, WhenServing
from ..core.data_export import DataExporter
from ..core.errors import SetupError
from ..core.web.operation import PathVariable, RouteCheck, find_unknown_roles
from ..delivery.mail.templates import PasswordUse
from .actions import DELETED
from .breaches import Breaches
from .details import Details
from .errors import AccountModelMissing
from .models import AccountLike
from .notes import AccountNotes, export_notes
from .password_rules import PasswordRules
from .passwords import Passwords
from .service import Accounts, Reclaimer
from .settings import AccountSettings

log = logging.getLogger(__name__)


def assemble(context: Context) -> None:
    model = context.tables.account_model
    if model is None:
        context.mark_unavailable(AccountModelMissing)
        log.warning("%s", AccountModelMissing.remedy)
        return
    context.provide(Accounts, _accounts)
    context.provide(Details, lambda known: Details(known.session, known.get(Accounts)))
    context.provide(AccountNotes, lambda known: AccountNotes(known.session, model, known.clock))
    context.contribute(
        DataExporter(export_notes),
        DoctorChecks(f"{__package__}.doctor"),
        PasswordUse(context.settings.of(AccountSettings).PASSWORDS == "on"),
        PathVariable("account_id", "ID of the account."),
        RouteCheck(partial(_check_roles, context)),
        WhenServing(partial(_check_roles, context)),
    )
    context.actions.on(DELETED.name, partial(_erase, context))


def _check_roles(context: Context) -> None:
    if found := find_unknown_roles(context.app, context.settings.of(AccountSettings).ROLES):
        raise SetupError(" ".join(found))


def _erase(context: Context, account: AccountLike, _options: object) -> None:
    """Delete what the application stores about a deleted account."""
    context.hooks.eraser(account, context.session)


def _accounts(context: Context) -> Accounts:
    settings, model = context.settings.of(AccountSettings), context.tables.account_model
    assert model is not None
    asks = settings.BREACHED_PASSWORDS == "refuse"
    passwords = Passwords(
        settings.BCRYPT_ROUNDS,
        settings.LOGINS_AT_ONCE,
        [pepper.get_secret_value() for pepper in settings.FOREIGN_PEPPERS],
        PasswordRules(
            settings.PASSWORD_MIN_LENGTH,
            refuses_common=settings.COMMON_PASSWORDS == "refuse",
            breaches=Breaches(settings.BREACHED_PASSWORDS_URL) if asks else None,
            words=[context.settings.core.PROJECT_NAME, *settings.PASSWORD_WORDS],
        ),
        enabled=settings.PASSWORDS == "on",
    )
    return Accounts(
        context.session, model, passwords, context.clock, settings, context.contributions(Reclaimer)
    )
