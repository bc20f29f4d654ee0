"""The logo of a workspace: uploaded by owners, shown to members and admins, deleted with it."""

from __future__ import annotations

import os
import re
from io import BytesIO
from pathlib import Path

import pytest
from flask import Flask

from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk
from app.testing.outbox import MailOutbox

from ..cli.test_command_line import run
from ..conftest import MakeApp, MakePerson, Person
from ..rigs.console.site import FEATURES
from ..rigs.cookie_browsers import HOST, SAME_ORIGIN
from ..rigs.pictures import opened, plain
from .form_client import FormClient
from .page_reader import error_of

SETTINGS, LOGO = "/workspaces/garden/settings", "/workspaces/garden/logo"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "avatars"


@pytest.fixture
def owner(app: Flask, ada: Person) -> FormClient:
    made = FormClient(app, ada)
    made.post("/workspaces/new", name="Garden")
    return made


def upload(client: FormClient, data: bytes, status: int = 303, path: str = LOGO) -> str:
    answer = client.browser.client.post(
        path, data={"logo": (BytesIO(data), "logo.png")}, base_url=HOST, headers=SAME_ORIGIN
    )
    assert answer.status_code == status, answer.text[-3000:]
    return answer.text


def logo_in(page: str) -> list[str]:
    return re.findall(r'src="/api/v1/profiles/avatars/([0-9a-f]{32}\.jpg)"', page)


def stored(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def test_logo_is_shown_to_members_and_admins(
    owner: FormClient, app: Flask, person: MakePerson, folder: Path
) -> None:
    assert not logo_in(owner.get(SETTINGS))
    upload(owner, plain("PNG"))
    [name] = stored(folder)
    for path in (SETTINGS, "/workspaces/garden", "/workspaces"):
        assert set(logo_in(owner.get(path))) == {name}, path
    picture = owner.browser.client.get(f"/api/v1/profiles/avatars/{name}", base_url=HOST)
    assert opened(picture.data).size == (48, 48)
    admin = FormClient(app, person("boss", role="admin"))
    listed = admin.get("/admin/workspaces")
    assert logo_in(listed) == [name]
    [path] = set(re.findall(r'href="(/admin/workspaces/\d+)" dir="auto">Garden', listed))
    assert logo_in(admin.get(path)) == [name]


def test_logo_is_shown_in_the_switcher_and_the_memberships_of_the_account(
    owner: FormClient, app: Flask, ada: Person, person: MakePerson, folder: Path
) -> None:
    upload(owner, plain("PNG"))
    names = stored(folder)
    other = owner.get("/workspaces/ada").partition('name="slug" value="garden"')[2]
    assert set(logo_in(other.partition("</form>")[0])) == names
    boss = FormClient(app, person("boss", role="admin"))
    assert set(logo_in(boss.get(f"/admin/accounts/{ada.id}?tab=workspaces"))) == names


def test_logo_is_shown_with_a_received_invitation(
    owner: FormClient, app: Flask, person: MakePerson, folder: Path, mails: MailOutbox
) -> None:
    bob = person("bob")
    upload(owner, plain("PNG"))
    owner.post("/workspaces/garden/invitations", emails=bob.email, type="member")
    invited = FormClient(app, bob)
    assert set(logo_in(invited.get("/invitations"))) == stored(folder)
    [link] = re.findall(r"/invitation\?token=[\w.-]+", mails.last(bob.email).text)
    assert set(logo_in(invited.get(link))) == stored(folder)
    owner.post(f"{LOGO}/remove")
    assert not logo_in(invited.get("/invitations"))
    assert not logo_in(invited.get(link))


def test_logo_is_replaced_and_removed(owner: FormClient, app: Flask, folder: Path) -> None:
    upload(owner, plain("PNG"))
    [first] = stored(folder)
    upload(owner, plain("JPEG"))
    [second] = stored(folder)
    assert first != second
    owner.post(f"{LOGO}/remove")
    assert not stored(folder)
    assert not logo_in(owner.get(SETTINGS))
    with app.app_context():
        session = current_frontdesk.session
        changes = session.query(AuditEntry).filter_by(type="workspace.updated").all()
        assert [each.data for each in changes] == [{"changed": ["logo"]}] * 3


def test_logo_is_deleted_with_the_workspace(owner: FormClient, folder: Path) -> None:
    upload(owner, plain("PNG"))
    assert stored(folder)
    owner.post("/workspaces/garden/delete", name="Garden")
    assert not stored(folder)


def test_logo_of_a_personal_workspace_is_deleted_with_the_account(
    owner: FormClient, app: Flask, ada: Person, folder: Path
) -> None:
    upload(owner, plain("PNG"), path="/workspaces/ada/logo")
    owner.post("/workspaces/garden/delete", name="Garden")
    assert len(stored(folder)) == 1
    run(app, "accounts", "delete", ada.email)
    assert not stored(folder)


def test_cleanup_keeps_logos(owner: FormClient, app: Flask, folder: Path) -> None:
    upload(owner, plain("PNG"))
    logos = set(folder.iterdir())
    (folder / ("0" * 32 + ".jpg")).write_bytes(b"orphan")
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    assert run(app, "profiles", "clean") == '{"deleted":1}\n'
    assert set(folder.iterdir()) == logos


@pytest.mark.parametrize(
    ("data", "error"),
    [(b"", "The file is empty."), (b"no picture", "Not a PNG, JPEG, WebP or GIF picture.")],
)
def test_invalid_logo_is_rejected(owner: FormClient, folder: Path, data: bytes, error: str) -> None:
    assert error_of(upload(owner, data, 422), "logo") == error
    assert not stored(folder)


def test_too_large_logo_is_rejected(owner: FormClient) -> None:
    page = upload(owner, b"x" * (5 * 1024 * 1024 + 1), 413)
    assert error_of(page, "logo") == "The picture is larger than 5 MiB."


@pytest.mark.parametrize("kind", ["admin", "member"])
def test_only_owners_change_the_logo(
    owner: FormClient, app: Flask, person: MakePerson, folder: Path, kind: str
) -> None:
    bob = person("bob")
    run(app, "workspaces", "add", "garden", bob.email, "--type", kind)
    client = FormClient(app, bob)
    upload(client, plain("PNG"), 403)
    client.post(f"{LOGO}/remove", 403)
    assert not stored(folder)
    assert 'name="logo"' not in client.get(SETTINGS)


def test_workspace_in_the_api_has_no_new_member(owner: FormClient, ada: Person) -> None:
    api = ada.api()
    before = api.get("/workspaces").json
    upload(owner, plain("PNG"))
    assert api.get("/workspaces").json == before
