"""The page of one account, and the forms on it."""

from collections.abc import Callable, Mapping, Sequence

from flask import Response, request
from markupsafe import Markup
from sqlalchemy import select

from ...accounts.models import ROOT, AccountLike
from ...accounts.notes import AccountNotes
from ...accounts.service import Accounts
from ...administration import credential_routes
from ...administration import routes as administration_api
from ...administration.rules import may_manage_roles
from ...administration.service import OWNERLESS
from ...administration.view import AccountView
from ...auth.caller import caller
from ...auth.email_change.service import EmailChanges
from ...auth.errors import NotAuthorized
from ...auth.idp.identities import Identities
from ...auth.limits import Failures
from ...core.context import current_frontdesk, service
from ...core.keystore import KeystoreUnavailable
from ...core.types import AccountKey, JsonObject
from ...core.web.operation import View
from ...core.web.paging import Slice
from ...deletion.service import Deletion
from ...exports.service import Exports
from ...extension.console_pages import HostConsole
from ...profiles.models import Profile
from ...workspaces.ownership import Ownership
from ..api_calls import ApiCall, console_form, get_from_api
from ..audit_rows import build_entry_rows
from ..form_fields import own_details
from ..links import Undo, link_to, redirect_to
from ..pages import render_account_panel, render_page
from ..people import DisplayedPerson, build_person
from ..resources import ConsoleResources
from ..texts import _
from ..tokens import personal_tokens, token_list
from .accounts import AT, assignable_roles
from .filters import admins_only, roles


def account_details(account_id: AccountKey) -> JsonObject:
    found: JsonObject = get_from_api(administration_api.get_managed_account, account_id=account_id)
    return found


def change_page(template: str, account_id: AccountKey, **context: object) -> Response:
    """Return the page of a form that changes the account."""
    details = account_details(account_id)
    allowed = may_change(details, account_id)
    values: JsonObject = {"account": details, "may_change": allowed, **context}
    return render_page(template, at=AT, **values)


def may_change(details: JsonObject, account_id: AccountKey) -> bool:
    """Return whether the caller may change this account."""
    actor = caller().account
    return bool(actor.id != account_id and may_manage_roles(actor.role, details["role"]))


@admins_only
def managed_account_page(account_id: AccountKey) -> Response:
    details = account_details(account_id)
    account = service(Accounts).by_id(account_id)
    assert account is not None
    actor, is_changeable = caller().account, may_change(details, account_id)
    tabs = _tabs(is_own=actor.id == account_id)
    # A rejected note is shown in its form.
    given = request.args.get("tab", "notes" if request.path.endswith("/notes") else "")
    tab = given if given in tabs else tabs[0]
    related = related_data(account, tab)
    shows_tokens = actor.role == ROOT and tab == "sessions"
    return render_page(
        "admin/account.html",
        at=AT,
        account=details,
        person=_person(details["email"], related["profile"]),
        may_change=is_changeable,
        own=own_details(account_id, may_change=is_changeable),
        tabs=tabs,
        tab=tab,
        is_own=actor.id == account_id,
        is_root=actor.role == ROOT,
        roles=_roles(details["role"]),
        active=service(Accounts).active_status,
        **token_list(personal_tokens(account_id) if shows_tokens else ()),
        **related,
    )


def _person(email: str, profile: Profile | None) -> DisplayedPerson:
    if profile is None:
        return DisplayedPerson(email)
    return build_person(email, profile.first_name, profile.last_name, profile.avatar_file)


def _roles(current: str) -> list[tuple[str, str]]:
    """Return the roles to choose from, with the current one, which may be the application's."""
    assignable = assignable_roles()
    return roles(assignable if current in assignable else [current, *assignable])


def redirect_to_account(
    text: str, account_id: AccountKey, undo: Undo | None = None, tab: str | None = None
) -> Response:
    return redirect_to(".managed_account_page", text, undo=undo, account_id=account_id, tab=tab)


@console_form(administration_api.update_managed_account, page=managed_account_page)
def change_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    """Change the role, or a status without a date."""
    if "role" in request.form:
        return _change_role(call_api, account_id)
    changed = call_api()
    if changed["status"] in service(Accounts).active_statuses:
        return redirect_to_account(_("Reactivated {email}.", email=changed["email"]), account_id)
    text = _("Deactivated {email} and ended its sessions.", email=changed["email"])
    text = with_ownerless(text, changed[OWNERLESS])
    return redirect_to_account(text, account_id, undo_status(account_id))


def _change_role(call_api: ApiCall, account_id: AccountKey) -> Response:
    if request.form["role"] == ROOT and "confirmed" not in request.form:
        page: Response = _confirm_root_page(account_id)
        return page
    account = service(Accounts).by_id(account_id)
    former = account.role if account is not None else ""
    changed = call_api()
    url = link_to(".change_managed_account", account_id=account_id)
    return redirect_to_account(
        _("{email} now has the role {role}.", email=changed["email"], role=changed["role"]),
        account_id,
        Undo(url, {"role": former, "confirmed": "true"}),
    )


@admins_only
def _confirm_root_page(account_id: AccountKey) -> Response:
    details = account_details(account_id)
    if not may_manage_roles(caller().account.role, ROOT, details["role"]):
        raise NotAuthorized
    return render_page("admin/make_root.html", at=AT, account=details)


def with_ownerless(text: Markup, slugs: Sequence[str]) -> Markup:
    """Return the notice of a suspension, with the workspaces that it leaves without an owner."""
    if not slugs:
        return text
    links: Sequence[str] = slugs
    if service(ConsoleResources).features.has(".managed_workspaces_page"):
        paths = [link_to(".managed_workspaces_page", search=slug) for slug in slugs]
        links = [
            Markup('<a href="{}">{}</a>').format(path, slug)
            for path, slug in zip(paths, slugs, strict=True)
        ]
    return _(
        "{result} Without an active owner: {workspaces}. Appoint one on the workspace's page.",
        result=text,
        workspaces=Markup(", ").join(links),
    )


def undo_status(account_id: AccountKey) -> Undo:
    url = link_to(".change_managed_account", account_id=account_id)
    return Undo(url, {"status": service(Accounts).active_status})


@console_form(administration_api.update_managed_account, page=managed_account_page)
def change_managed_details(call_api: ApiCall, account_id: AccountKey) -> Response:
    """Change the application's columns."""
    call_api()
    return redirect_to_account(_("Details saved."), account_id)


@console_form(administration_api.recover_account, page=managed_account_page)
def mail_managed_account_password(call_api: ApiCall, account_id: AccountKey) -> Response:
    call_api()
    return redirect_to_account(_("Password reset email sent."), account_id)


@console_form(administration_api.sign_out_account, page=managed_account_page)
def sign_out_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    email = call_api()["email"]
    return redirect_to_account(_("Signed out {email} everywhere.", email=email), account_id)


@console_form(administration_api.unlock_account, page=managed_account_page)
def unlock_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    email = call_api()["email"]
    return redirect_to_account(_("Unlocked {email}.", email=email), account_id)


@console_form(administration_api.verify_account, page=managed_account_page)
def verify_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    email = call_api()["email"]
    return redirect_to_account(_("{email} is now verified.", email=email), account_id)


@console_form(credential_routes.reset_authenticators, page=managed_account_page)
def reset_managed_account_factors(call_api: ApiCall, account_id: AccountKey) -> Response:
    call_api()
    return redirect_to_account(
        _("Two-factor authentication was reset, and all sessions have ended."), account_id
    )


@admins_only
def delete_managed_account_page(account_id: AccountKey) -> Response:
    owned = service(Ownership).solely_owned(account_id)
    return change_page("admin/delete_account.html", account_id, owned=owned)


@console_form(administration_api.delete_managed_account, page=delete_managed_account_page)
def delete_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    # The API deletes nothing unless the admin has entered the email address.
    deleted = call_api(query={"email": request.form.get("email", "")})
    return redirect_to(f".{AT}", _("Deleted the account {email}.", email=deleted["email"]))


EVENTS_SHOWN = 8
# Accounts with more sessions or workspaces see only the first ones.
LIST_LIMIT = 50


def _events(account_id: AccountKey) -> object:
    return build_entry_rows(_newest(administration_api.list_account_events, account_id))


def _sessions(account_id: AccountKey) -> object:
    query, view = {"limit": LIST_LIMIT}, credential_routes.list_account_sessions
    return get_from_api(view, query=query, account_id=account_id)


def _memberships(account_id: AccountKey) -> object:
    return service(AccountView).memberships(account_id, offset=0, limit=LIST_LIMIT)


def _deliveries(account_id: AccountKey) -> object:
    return _newest(administration_api.list_account_deliveries, account_id)


# The tabs, each with the name of the variable that only its template uses, and its query.
TABS: Mapping[str, tuple[str, Callable[[AccountKey], object]]] = {
    "activity": ("events", _events),
    "sessions": ("sessions", _sessions),
    "workspaces": ("memberships", _memberships),
    "messages": ("deliveries", _deliveries),
    "notes": ("notes", lambda account_id: service(AccountNotes).list(account_id)),
}


def _tabs(*, is_own: bool) -> list[str]:
    """Return the tabs of the page, with the application's own. Admins do not see the notes about
    themselves."""
    has_workspaces = service(ConsoleResources).features.has(".managed_workspace_page")
    hidden = {"notes": is_own, "workspaces": not has_workspaces}
    shown = [tab for tab in TABS if not hidden.get(tab)]
    return [*shown, *service(HostConsole).panels]


def related_data(account: AccountLike, tab: str) -> JsonObject:
    features = service(ConsoleResources).features
    account_id = account.id
    own = "panel", lambda _key: render_account_panel(tab, account)
    name, query = TABS.get(tab, own)
    found: JsonObject = {
        "profile": _profile(account_id) if features.has(".profile_page") else None,
        "locked_minutes": _locked_minutes(account.email),
        "waiting": service(EmailChanges).waiting(account_id),
        "notes_count": service(AccountNotes).count(account_id),
        name: query(account_id),
        "origins": {},
    }
    if features.provider:
        found["identities"] = service(Identities).list(account_id)
        found["origins"] = _origins(account_id)
    if features.second_factors:
        found["factors"] = _factors(account_id)
    if features.exports:
        found["export"] = service(Exports).latest(account_id)
    if features.deletion:
        found["deletes_at"] = service(Deletion).deletes_at(account_id)
    return found


def _profile(account_id: AccountKey) -> Profile | None:
    found: Profile | None = current_frontdesk.session.scalar(
        select(Profile).where(Profile.account_id == account_id)
    )
    return found


def _newest(view: View, account_id: AccountKey) -> Sequence[JsonObject]:
    found: Slice = get_from_api(view, query={"limit": EVENTS_SHOWN}, account_id=account_id)
    return found.rows


def _origins(account_id: AccountKey) -> dict[tuple[int | None, str], str]:
    """Return the titles of the providers that have given a role or memberships."""
    # Imported only if a provider is configured.
    from ...auth.idp.grants import ProviderGrants

    origins = service(ProviderGrants).origins(account_id)
    return {(each.workspace_id, each.granted): each.provider for each in origins}


def _factors(account_id: AccountKey) -> Sequence[object]:
    # Imported only if the feature is enabled.
    from ...auth.mfa.authenticators import Authenticators

    return service(Authenticators).list(account_id)


def _locked_minutes(email: str) -> int | None:
    """Return for how long sign-in is blocked; None if the state store is unavailable."""
    try:
        seconds = service(Failures).locked_seconds(email)
    except KeystoreUnavailable:
        return None
    return -(-seconds // 60)
