"""Admins change the email address of an account and unlink its identities."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import expect

from app.auth.idp.models import Identity
from app.core.context import current_frontdesk
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..auth.passkey_holder import Holder
from ..conftest import PASSWORD, MakeApp
from ..rigs.authenticator import SoftAuthenticator
from ..rigs.console.site import FEATURES, Site, Visitors
from ..rigs.console.world import World
from ..rigs.cookie_browsers import HOST
from ..rigs.manual_engine import ManualEngine
from .test_admin_accounts import MALLORY, AdminClient, account_path, details

NEW = "countess@example.com"
ISSUER = "https://id.example.com"


@pytest.fixture
def admin(world: World) -> AdminClient:
    return AdminClient(world, "admin")


def email_path(world: World) -> str:
    return account_path(world.ada.id, "/email")


def token(world: World, email: str) -> str:
    found = re.search(r"\?token=(\S+)", world.site.mails.last(email).text)
    assert found
    return found[1]


def events(world: World, kind: str) -> list[dict[str, Any]]:
    return list(world.bosses.get(f"/admin/events?type={kind}&account={world.ada.id}").json)


def test_address_that_an_admin_sets_is_verified_and_the_old_address_undoes_it(
    world: World, admin: AdminClient
) -> None:
    old, api = world.ada.email, world.ada.api()
    admin.send(email_path(world), email="Countess@Example.com", method="verified")
    found = details(world, world.ada.id)
    assert (found["email"], found["email_verified"]) == (NEW, True)
    api.get("/account", 404)
    [entry] = events(world, "account.updated")
    assert (entry["actor_id"], entry["data"]["changed"]) == (world.people["admin"].id, ["email"])
    visitor = Api(world.site.app, "/api/v1")
    visitor.post("/account/email/undo", json={"token": token(world, old)})
    assert details(world, world.ada.id)["email"] == old


def test_address_by_confirmation_changes_when_the_owner_confirms_it(
    world: World, admin: AdminClient
) -> None:
    admin.send(email_path(world), email=NEW)
    assert details(world, world.ada.id)["email"] == world.ada.email
    assert f"A change to {NEW} waits" in re.sub("[\u2068\u2069]", "", admin.get(email_path(world)))
    [entry] = events(world, "email.change_requested")
    assert entry["actor_id"] == world.people["admin"].id
    assert token(world, world.ada.email)
    body = {"token": token(world, NEW), "password": PASSWORD}
    Api(world.site.app, "/api/v1").post("/account/email/confirm", json=body)
    assert details(world, world.ada.id)["email"] == NEW


def test_invalid_address_is_reported_at_its_field(world: World, admin: AdminClient) -> None:
    for method in ("confirm", "verified"):
        for email, status, text in (
            ("ada", 422, "Enter a valid email address."),
            (world.ada.email, 422, "Enter a new value."),
            (MALLORY, 409, "An account with this email address already exists."),
        ):
            assert text in admin.send_rejected(
                email_path(world), status, email=email, method=method
            )
    assert not events(world, "email.change_requested")


def test_change_of_an_address_needs_a_recent_sign_in_and_the_right_to_change_the_account(
    world: World, admin: AdminClient
) -> None:
    for who in ("root", "admin"):
        path = account_path(world.people[who].id, "/email")
        assert "You can view this account but not change it." in admin.get(path)
        admin.send(path, 403, email=NEW, method="verified")
    world.site.clock.step(hours=1)
    admin.get(email_path(world), 303)
    answer = admin.send(email_path(world), 303, email=NEW, method="verified")
    assert answer.headers["Location"].startswith("/confirm")
    found = world.people["admin"].api().get(account_path(world.ada.id)).json
    assert found["email"] == world.ada.email


def link_identity(
    world: World, subject: str, issuer: str = ISSUER, email: str = "first@example.com"
) -> int:
    now = datetime.now(UTC)
    with world.site.app.app_context(), transaction(current_frontdesk.session) as session:
        identity = Identity(
            account_id=world.ada.id,
            provider="default",
            issuer=issuer,
            subject=subject,
            email=email,
            linked_at=now,
            last_used_at=now,
        )
        session.add(identity)
        session.flush()
        return identity.id


def unlink_path(world: World, identity_id: int) -> str:
    return account_path(world.ada.id, f"/identities/{identity_id}/unlink")


def replace_password_hash(world: World, value: str | None) -> str | None:
    """Replace the password hash of the account, and return the former one."""
    with world.site.app.app_context(), transaction(current_frontdesk.session) as session:
        account: Any = session.get(current_frontdesk.tables.account_model or object, world.ada.id)
        former: str | None = account.password_hash
        account.password_hash = value
        return former


@pytest.fixture
def no_codes(
    make_app: MakeApp, mails: MailOutbox, clock: SteppingClock, engine: ManualEngine
) -> World:
    """Without sign-in by emailed codes, an account without a password needs another method."""
    settings = {**FEATURES, "AUTH__LOGIN_BY_CODE": "off", "CORE__CLIENT_HOST": HOST}
    provider = {
        "AUTH__ENABLE_IDP_OAUTH": "true",
        "IDP_OAUTH_CLIENT_ID": "frontdesk",
        "IDP_METADATA_URL": f"{ISSUER}/.well-known/openid-configuration",
    }
    return World(Site(make_app(**settings, **provider), HOST, mails, clock, engine))


def test_identity_is_unlinked_unless_it_is_the_only_way_to_sign_in(no_codes: World) -> None:
    world, admin = no_codes, AdminClient(no_codes, "admin")
    first, second = link_identity(world, "first"), link_identity(world, "second")
    # The provider of this identity is not configured any more.
    link_identity(world, "former", "https://former.example.com")
    password_hash = replace_password_hash(world, None)
    admin.send(unlink_path(world, first))
    admin.send(unlink_path(world, first), 404)
    [entry] = events(world, "identity.unlinked")
    assert (entry["actor_id"], entry["data"]) == (world.people["admin"].id, {"issuer": ISSUER})
    page = admin.send_rejected(unlink_path(world, second), 409)
    assert "This is the only way to sign in to the account." in page
    replace_password_hash(world, password_hash)
    admin.send(unlink_path(world, second))
    assert len(events(world, "identity.unlinked")) == 2


def test_only_identity_of_an_account_with_a_passkey_is_unlinked(no_codes: World) -> None:
    identity = link_identity(no_codes, "first")
    Holder(no_codes.ada.api(), SoftAuthenticator(HOST)).add(status=200)
    replace_password_hash(no_codes, None)
    AdminClient(no_codes, "admin").send(unlink_path(no_codes, identity))
    assert len(events(no_codes, "identity.unlinked")) == 1


def test_identity_without_an_address_is_named_by_its_subject(no_codes: World) -> None:
    """The owner linked a user who has no address at the provider."""
    world, admin = no_codes, AdminClient(no_codes, "admin")
    link_identity(world, "subject-7", email="")
    page = admin.get(account_path(world.ada.id))
    assert '<div class="who">subject-7</div>' in page
    assert "Unlink subject-7?" in re.sub("[\u2068\u2069]", "", page)


def test_identity_of_another_account_and_of_root_is_not_unlinked(
    world: World, admin: AdminClient
) -> None:
    identity = link_identity(world, "first")
    other = world.site.person("carol")
    admin.send(account_path(other.id, f"/identities/{identity}/unlink"), 404)
    root = world.people["root"].id
    admin.send(account_path(root, f"/identities/{identity}/unlink"), 403)
    assert not events(world, "identity.unlinked")


def test_admin_changes_an_address_in_the_browser(site: Site, visitors: Visitors) -> None:
    ada, boss = site.person("ada"), visitors(site.person("boss", role="admin"))
    page = boss.page
    boss.open(f"/admin/accounts/{ada.id}")
    page.get_by_label("More actions").click()
    page.get_by_role("link", name="Change email address…").click()
    page.get_by_label("New email address").fill(NEW)
    page.get_by_text("Now", exact=True).click()
    page.get_by_role("button", name="Change the address").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(NEW)
    expect(page.get_by_text("All sessions have ended.")).to_be_visible()
