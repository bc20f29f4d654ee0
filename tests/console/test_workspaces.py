"""Workspaces on the pages: members, invitations and settings."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.core.keystore import KeystoreUnavailable
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person
from ..profiles.test_profiles import ADA
from ..rigs.console.requests import check_pages
from ..rigs.console.site import FEATURES
from ..rigs.cookie_browsers import HOST, CookieBrowser
from .form_client import FormClient
from .page_reader import notice_of, visible_text

GARDEN = "/workspaces/garden"


@pytest.fixture
def settings() -> dict[str, str]:
    return {}


@pytest.fixture
def app(make_app: MakeApp, settings: dict[str, str]) -> Flask:
    return make_app(**FEATURES, **settings)


@pytest.fixture
def pages(app: Flask, ada: Person) -> FormClient:
    """The client of the owner of a workspace."""
    made = FormClient(app, ada)
    made.post("/workspaces/new", name="Garden")
    return made


@pytest.fixture
def bob(person: MakePerson) -> Person:
    return person("bob")


def joins(app: Flask, person: Person, kind: str = "member") -> FormClient:
    joined = ["workspaces", "add", "garden", person.email, "--type", kind]
    assert app.test_cli_runner().invoke(args=joined).exit_code == 0
    return FormClient(app, person)


PATHS = ("", "/members/1", "/invitations", "/activity", "/settings")


@pytest.mark.parametrize("path", PATHS)
def test_anonymous_visitor_is_redirected_to_sign_in(
    pages: FormClient, app: Flask, path: str
) -> None:
    answer = CookieBrowser(app).client.get(GARDEN + path, base_url=HOST)
    assert answer.headers["Location"].startswith("/sign-in?next=")


@pytest.mark.parametrize("path", PATHS)
def test_only_members_see_the_workspace(
    pages: FormClient, app: Flask, bob: Person, path: str
) -> None:
    assert "Garden" not in FormClient(app, bob).get(GARDEN + path, 403)


def test_workspace_is_created_listed_and_made_current(pages: FormClient) -> None:
    shown = pages.get("/workspaces")
    assert "Garden" in shown
    assert 'value="garden"' in shown
    assert "Garden is now your current workspace" in pages.post_and_follow(
        "/workspaces", slug="garden"
    )
    assert 'value="garden"' not in pages.get("/workspaces")


def test_invalid_slug_is_reported_and_shown_again(pages: FormClient) -> None:
    refused = pages.post("/workspaces/new", 422, name="Two", slug="Not This").text
    assert 'value="Not This"' in refused
    assert 'aria-invalid="true"' in refused
    pages.post("/workspaces/new", 409, name="Two", slug="garden")
    pages.post("/workspaces", 404, slug="nowhere")


def test_members_are_listed_and_searched(pages: FormClient, app: Flask, person: MakePerson) -> None:
    for name in ("bob", "bobby", "grace"):
        joins(app, person(name))
    shown = pages.get(GARDEN)
    assert all(f"{name}@example.com" in shown for name in ("ada", "bob", "bobby", "grace"))
    shown = pages.get(f"{GARDEN}?search=BOB")
    assert "bobby@example.com" in shown
    assert "grace@example.com" not in shown
    assert "No members found" in pages.get(f"{GARDEN}?search=%25")


@pytest.mark.parametrize(
    ("settings", "hidden", "before"),
    [
        ({}, [], []),
        ({"PROFILES__VISIBILITY": "workspaces"}, [], ["Ada", "Lovelace"]),
        ({"PROFILES__VISIBILITY": "private"}, ["Ada", "Lovelace"], ["Ada", "Lovelace"]),
        ({"PROFILES__PUBLIC_FIELDS": '["first_name"]'}, ["Lovelace"], ["Lovelace"]),
    ],
    ids=["everyone", "workspaces", "private", "public fields"],
)
def test_pages_of_members_and_invitations_show_visible_names_only(
    pages: FormClient,
    app: Flask,
    ada: Person,
    bob: Person,
    mails: MailOutbox,
    hidden: list[str],
    before: list[str],
) -> None:
    ada.api().post("/profiles", json=ADA)
    link = mailed(pages, mails, bob.email)
    for client, path in ((FormClient(app), link), (FormClient(app, bob), "/invitations")):
        shown = client.get(path)
        assert [name for name in ("Ada", "Lovelace") if name not in shown] == before
        assert ada.email in shown
    bobs = joins(app, bob, "admin")
    for path in (GARDEN, f"{GARDEN}/members/{ada.id}"):
        shown = bobs.get(path)
        assert [name for name in ("Ada", "Lovelace") if name not in shown] == hidden
        assert ada.email in shown
    assert "Ada Lovelace" in pages.get(GARDEN)


def test_members_are_listed_in_pages(pages: FormClient, app: Flask, person: MakePerson) -> None:
    for number in range(25):
        invited = person(f"member{number:02}")
        app.test_cli_runner().invoke(args=["workspaces", "add", "garden", invited.email])
    first = pages.get(GARDEN)
    assert "member23@example.com" in first
    assert "member24@example.com" not in first
    older = re.search(r'href="([^"]+offset=25[^"]*)"', first)
    assert older is not None
    assert "member24@example.com" in pages.get(older[1].replace("&amp;", "&"))


def test_member_is_changed_and_removed(pages: FormClient, app: Flask, bob: Person) -> None:
    bobs = joins(app, bob)
    member = f"{GARDEN}/members/{bob.id}"
    assert "bob@example.com" in pages.get(member)
    assert "Changed " in pages.post_and_follow(member, type="admin", status="active")
    assert bobs.get(f"{GARDEN}/activity")
    pages.post(member, 422, type="emperor")
    assert "Removed " in pages.post_and_follow(f"{member}/remove")
    pages.get(member, 404)
    bobs.get(GARDEN, 403)


def test_member_cannot_manage_the_workspace(
    pages: FormClient, app: Flask, ada: Person, bob: Person
) -> None:
    bobs = joins(app, bob)
    shown = bobs.get(GARDEN)
    assert f"{GARDEN}/invitations" not in shown
    assert f"{GARDEN}/members/" not in shown
    assert "Delete" not in bobs.get(f"{GARDEN}/settings")
    for path in ("/members/1", "/invitations", "/activity"):
        bobs.get(GARDEN + path, 403)
    bobs.post(f"{GARDEN}/members/{ada.id}", 403, type="guest")
    bobs.post(f"{GARDEN}/members/{ada.id}/remove", 403)
    bobs.post(f"{GARDEN}/invitations", 403, emails="x@example.com", type="member")
    bobs.post(f"{GARDEN}/settings", 403, name="Mine")
    bobs.post(f"{GARDEN}/delete", 403, name="Garden")


def test_workspace_admin_cannot_change_an_owner(
    pages: FormClient, app: Flask, ada: Person, bob: Person
) -> None:
    bobs = joins(app, bob, "admin")
    shown = bobs.get(f"{GARDEN}/members/{ada.id}")
    assert "Only owners can change owners" in shown
    assert f'action="{GARDEN}/members' not in shown


def test_several_people_are_invited_at_once(pages: FormClient, mails: MailOutbox) -> None:
    typed = "grace@example.com, olga@example.com\r\nzoe@example.com"
    shown = pages.post_and_follow(
        f"{GARDEN}/invitations", emails=typed, type="guest", message="We grow\r\nbeans."
    )
    assert "3 invitations sent" in shown
    assert "We grow" in mails.assert_sent("zoe@example.com").text


def test_error_names_the_invalid_email_address(pages: FormClient, mails: MailOutbox) -> None:
    mails.clear()
    typed = "grace@example.com ada@, not an address\r\ninvalid"
    sent = {"emails": typed, "type": "member", "message": "Hello"}
    refused = pages.post(f"{GARDEN}/invitations", 422, **sent).text
    for name in ("ada@", "not an address", "invalid"):
        assert f"{name}: Enter a valid email address." in refused
    assert "grace@example.com: " not in refused
    assert "Hello</textarea>" in refused
    assert (
        "Enter 1 to 50 email addresses."
        in pages.post(f"{GARDEN}/invitations", 422, type="member").text
    )
    mails.assert_empty()


def test_error_names_the_existing_member(pages: FormClient, app: Flask, bob: Person) -> None:
    joins(app, bob)
    refused = pages.post(f"{GARDEN}/invitations", 409, emails=bob.email, type="member").text
    assert f"Already in this workspace: {bob.email}" in refused


def test_invitation_is_sent_again_and_revoked(
    pages: FormClient, mails: MailOutbox, clock: SteppingClock
) -> None:
    pages.post(f"{GARDEN}/invitations", emails="grace@example.com", type="member")
    [again] = re.findall(
        rf'action="({GARDEN}/invitations/[0-9]+/resend)"', pages.get(f"{GARDEN}/invitations")
    )
    assert 'role="alert"' in pages.post(again, 429).text
    clock.step(minutes=2)
    assert "Sent the invitation to" in pages.post_and_follow(again)
    assert len(mails.to("grace@example.com")) == 2
    assert "Revoked the invitation to" in pages.post_and_follow(again.replace("resend", "revoke"))
    assert "Pending" not in pages.get(f"{GARDEN}/invitations?state=revoked").split("Sent")[-1]


def revoke(pages: FormClient) -> TestResponse:
    """Revoke an invitation; the notice contains the email address."""
    pages.post(f"{GARDEN}/invitations", emails="grace@example.com", type="member")
    listed = pages.get(f"{GARDEN}/invitations")
    [path] = re.findall(rf'action="({GARDEN}/invitations/[0-9]+/revoke)"', listed)
    return pages.post(path)


TAKEN_BACK = "Revoked the invitation to grace@example.com."


def test_notice_is_shown_once_and_no_cookie_holds_its_text(pages: FormClient) -> None:
    answer = revoke(pages)
    [cookie] = answer.headers.getlist("Set-Cookie")
    assert re.fullmatch(r"__Host-fd-said=[\w-]{43}; .*Max-Age=60; .*HttpOnly.*", cookie)
    shown = pages.browser.client.get(answer.headers["Location"], base_url=HOST)
    assert TAKEN_BACK in shown.text
    assert "__Host-fd-said=; " in shown.headers["Set-Cookie"]
    assert TAKEN_BACK not in pages.get(answer.headers["Location"])


@pytest.mark.parametrize("value", ["x", "A" * 43, "1" * 4000])
def test_cookie_of_an_unknown_notice_is_ignored(pages: FormClient, value: str) -> None:
    pages.browser.client.set_cookie("__Host-fd-said", value, domain="localhost", secure=True)
    assert notice_of(pages.get("/workspaces")) == ""


@pytest.mark.parametrize("method", ["put", "get"])
def test_form_works_without_a_notice_while_the_keystore_is_down(
    pages: FormClient, app: Flask, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    keystore = app.extensions["frontdesk"].keystore
    working = getattr(keystore, method)

    def fail(key: str, *values: Any) -> Any:
        if key.startswith("notice:"):
            raise KeystoreUnavailable
        return working(key, *values)

    monkeypatch.setattr(keystore, method, fail)
    answer = revoke(pages)
    assert notice_of(pages.get(answer.headers["Location"])) == ""
    assert "grace@example.com" in pages.get(f"{GARDEN}/invitations?state=revoked")


def test_activity_is_shown_to_managers_only(pages: FormClient, app: Flask, bob: Person) -> None:
    bobs = joins(app, bob, "admin")
    pages.post(f"{GARDEN}/invitations", emails="grace@example.com", type="member")
    pages.post(f"{GARDEN}/members/{bob.id}", type="member")
    shown = " ".join(re.sub(r"<[^>]+>", " ", pages.get(f"{GARDEN}/activity")).split())
    assert "Workspace created ada@example.com" in shown
    assert "Workspace member added as admin · bob@example.com An operator" in shown
    assert "Invitation created · grace@example.com ada@example.com" in shown
    assert "Workspace role changed from admin to member · bob@example.com ada@example.com" in shown
    bobs.get(f"{GARDEN}/activity", 403)
    pages.get(f"{GARDEN}/activity?after=invalid")


def test_activity_links_to_the_next_and_previous_page(
    pages: FormClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.console.audit_log.ROWS", 2)
    for name in "abcd":
        pages.post_and_follow(f"{GARDEN}/invitations", emails=f"{name}@example.com", type="member")
    check_pages(pages.get, f"{GARDEN}/activity")


def test_name_and_slug_can_be_changed(pages: FormClient) -> None:
    assert "Orchard" in pages.post_and_follow(f"{GARDEN}/settings", name="Orchard", slug="orchard")
    pages.get(GARDEN, 404)
    for form in ("/workspaces/orchard/settings", "/workspaces/new"):
        refused = pages.post(form, 409, name="Orchard", slug="ada").text
        [field] = re.findall(r'<input[^>]* name="slug" type="text"[^>]*>', refused)
        assert 'aria-invalid="true"' in field
        assert refused.count("Another workspace has this address.") == 1


def test_workspace_is_deleted_after_its_name_is_entered(pages: FormClient) -> None:
    refused = pages.post(f"{GARDEN}/delete", 422, name="Gardem").text
    assert 'aria-invalid="true"' in refused
    pages.post(f"{GARDEN}/delete", 422)
    assert "Deleted Garden" in pages.post_and_follow(f"{GARDEN}/delete", name="Garden")
    pages.get(GARDEN, 404)


def test_deletion_needs_a_recent_sign_in(pages: FormClient, clock: SteppingClock) -> None:
    clock.step(minutes=16)
    asked = pages.post(f"{GARDEN}/delete", name="Garden").headers["Location"]
    assert asked.startswith("/confirm")
    pages.get(GARDEN)


def test_member_can_leave_and_the_last_owner_cannot(
    pages: FormClient, app: Flask, bob: Person
) -> None:
    bobs = joins(app, bob)
    assert "You have left the workspace" in bobs.post_and_follow(f"{GARDEN}/leave")
    bobs.get(GARDEN, 403)
    assert "You are the only owner." in visible_text(pages.post(f"{GARDEN}/leave", 409).text)


def test_only_owner_sees_what_leaving_needs_before_a_dialog(
    pages: FormClient, app: Flask, ada: Person, bob: Person
) -> None:
    for page in (f"{GARDEN}/settings", f"{GARDEN}/members/{ada.id}"):
        shown = pages.get(page)
        assert "Make another member an owner first, or delete the workspace." in shown
        assert f'href="{GARDEN}"' in shown.partition("You are the only owner.")[2]
        assert re.search(r'href="[^"]*#delete"', shown)
        assert f"{GARDEN}/leave" not in shown
        assert f'action="{GARDEN}/members/{ada.id}"' not in shown
    assert 'id="delete"' in pages.get(f"{GARDEN}/settings")
    joins(app, bob, "owner")
    assert f'action="{GARDEN}/leave"' in pages.get(f"{GARDEN}/settings")
    assert f'action="{GARDEN}/members/{ada.id}"' in pages.get(f"{GARDEN}/members/{ada.id}")


def test_invitation_is_accepted_in_the_list(pages: FormClient, app: Flask, bob: Person) -> None:
    bobs = FormClient(app, bob)
    assert "No invitations" in bobs.get("/invitations")
    number = 'Invitations<span class="count">1</span>'
    with noted_queries(app) as before:
        assert number not in bobs.get("/profile")
    pages.post(f"{GARDEN}/invitations", emails=bob.email, type="member")
    with noted_queries(app) as after:
        assert number in bobs.get("/profile")
    assert len(after) == len(before)
    [accept] = re.findall(r'action="(/invitations/[0-9]+/accept)"', bobs.get("/invitations"))
    pages.post(accept, 404)
    assert bobs.post(accept).headers["Location"] == GARDEN
    assert "You joined the workspace." in bobs.get(GARDEN)
    assert number not in bobs.get("/profile")
    bobs.post(accept, 404)


def mailed(pages: FormClient, mails: MailOutbox, email: str) -> str:
    """Return the path of the link in an invitation email."""
    pages.post(f"{GARDEN}/invitations", emails=email, type="member")
    found = re.search(r"/invitation\?token=[\w.-]+", mails.last(email).text)
    assert found is not None
    return found[0]


def test_opening_the_emailed_link_changes_nothing(
    pages: FormClient, app: Flask, mails: MailOutbox
) -> None:
    link, visitor = mailed(pages, mails, "grace@example.com"), FormClient(app)
    for _ in range(2):
        shown = visitor.get(link)
        assert "Join Garden" in shown
        assert "/register?" in shown
        assert "grace@example.com" not in shown
    assert "Pending" in pages.get(f"{GARDEN}/invitations")


def test_invited_account_signs_in_and_accepts(
    pages: FormClient, app: Flask, bob: Person, mails: MailOutbox
) -> None:
    link = mailed(pages, mails, bob.email)
    token = link.partition("=")[2]
    visitor = FormClient(app)
    assert "/sign-in?next=" in visitor.get(link)
    visitor.post("/invitation", token=token)
    visitor.browser.sign_in(bob)
    assert "You are signed in as" in visitor.get(link)
    assert visitor.post("/invitation", token=token).headers["Location"] == GARDEN
    assert "You joined the workspace." in visitor.get(GARDEN)
    assert "Invitation expired" in visitor.get(link, 400)


def test_invited_newcomer_registers_with_the_invited_address(
    pages: FormClient, app: Flask, mails: MailOutbox
) -> None:
    """The form has the address, which cannot be changed, and opens the workspace."""
    link, visitor = mailed(pages, mails, "grace@example.com"), FormClient(app)
    token = link.partition("=")[2]
    page = f"/register?invitation={token}"
    assert page in html.unescape(visitor.get(link))
    shown = visitor.get(page)
    field = re.search(r'<input [^>]*name="email"[^>]*>', shown)
    assert field is not None
    assert 'value="grace@example.com"' in field[0]
    assert " readonly" in field[0]
    assert f"/sign-in?next=/invitation?token%3D{token}" in html.unescape(shown)
    sent = {"invitation": token, "next": GARDEN, "password": "otters like cold rivers"}
    assert f'name="next" value="{GARDEN}"' in shown
    visitor.post("/register", 403, **sent, email="mallory@example.com")
    done = visitor.post("/register", **sent, email="grace@example.com")
    assert done.headers["Location"] == GARDEN
    assert "Garden" in visitor.get(GARDEN)
    assert "Invitation expired" in FormClient(app).get(page, 400)


def test_another_account_can_sign_out_of_the_invitation_page(
    pages: FormClient, app: Flask, bob: Person, mails: MailOutbox
) -> None:
    link, bobs = mailed(pages, mails, "grace@example.com"), FormClient(app, bob)
    token = link.partition("=")[2]
    assert "You are signed in as bob@example.com" in bobs.get(link)
    bobs.post("/invitation", 403, token=token)
    assert bobs.post("/invitation/sign-out", token=token).headers["Location"] == link
    assert "Create account" in bobs.get(link)


def test_invitation_is_declined_without_an_account(
    pages: FormClient, app: Flask, mails: MailOutbox
) -> None:
    link, visitor = mailed(pages, mails, "grace@example.com"), FormClient(app)
    token = link.partition("=")[2]
    assert "Declined" in visitor.post("/invitation/decline", 200, token=token).text
    visitor.get(link, 400)
    visitor.post("/invitation/decline", 400, token=token)


def test_invalid_invitation_is_reported(app: Flask) -> None:
    assert "Invitation expired" in FormClient(app).get("/invitation?token=invalid", 400)
    assert "Invitation expired" in FormClient(app).get("/invitation", 422)
