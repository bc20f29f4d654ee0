"""Groups become roles: what a provider's groups give to an account, and when it goes."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.service import Accounts
from app.auth.idp.grants import MAX_GROUPS, ProviderGrants
from app.auth.idp.identities import Identities
from app.auth.idp.provider import MEMBER_TYPES
from app.auth.idp.provider_models import ProviderGrant
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.workspaces import models
from app.workspaces.members import Members
from app.workspaces.models import Member, Workspace
from app.workspaces.service import Workspaces

from ..audit.entries import records
from ..conftest import MakePerson, Person
from ..rigs.cases import for_each, new_name
from ..rigs.oidc.fake_fixtures import Guest, MakeProvidersApp, client_of
from ..rigs.oidc.fakes import TENANT, Fake, Google, Microsoft
from ..rigs.oidc.glewlwyd import Glewlwyd, GlewlwydBrowser
from ..rigs.oidc.node import CLIENT_SECRET, Provider
from ..rigs.oidc.proxy import Proxy
from ..rigs.oidc.visitor import REDIRECT_URI, Visitor

ROLES = {"admins": "admin", "editors": "editor", "everyone": "user", "bosses": "root"}
TEAM = {"devs": {"slug": "garden", "type": "member"}, "leads": {"slug": "garden", "type": "admin"}}
TEAM["heads"] = {"slug": "garden", "type": "owner"}
TEAM["lost"] = {"slug": "nowhere", "type": "member"}
MAPPED: dict[str, Any] = {"groups_claim": "groups", "roles": ROLES, "allow_root": True}
Groups = list[str]


class World:
    def __init__(self, app: Flask, fakes: dict[str, Fake], person: MakePerson) -> None:
        self.app = app
        self.fakes = fakes
        self.owner: Person | None = None
        self._person = person

    def person(self, name: str = "ada", **fields: Any) -> Person:
        return self._person(new_name(name), into=self.app, **fields)

    def sign_in(
        self, person: Person, sent: object, status: int = 200, name: str = "google", **more: Any
    ) -> Any:
        """Sign in with groups; None sends no groups."""
        user = {"sub": person.email, "email": person.email, **more}
        verified = {"xms_edov": True} if name == "microsoft" else {"email_verified": True}
        if sent is not None:
            user["groups"] = sent
        return Guest(self.app, name).sign_in(self.fakes[name], status, **verified, **user)

    def role(self, person: Person) -> str:
        with self.app.app_context():
            return str(service(Accounts).get(person.email).role)

    def membership(self, person: Person, slug: str = "garden") -> str | None:
        query = select(Member.type).join(Workspace, Workspace.id == Member.workspace_id)
        with self.app.app_context():
            return current_frontdesk.session.scalar(
                query.where(Workspace.slug == slug, Member.account_id == person.id)
            )

    def join(self, person: Person, member_type: str, status: str = "active") -> None:
        """Set a membership as an operator."""
        with self.app.app_context():
            workspace = service(Workspaces).get("garden")
            service(Members).put(workspace, person.email, member_type, status)

    def leave(self, person: Person) -> None:
        with self.app.app_context():
            service(Members).remove_by_email(service(Workspaces).get("garden"), person.email)

    def origins(self, person: Person) -> list[tuple[bool, str, str]]:
        """Return for each grant whether it is a membership, what it gives, and the provider."""
        with self.app.app_context():
            found = service(ProviderGrants).origins(person.id)
        return [(each.workspace_id is not None, each.granted, each.provider) for each in found]

    def unlink(self, person: Person, provider: str) -> None:
        with self.app.app_context(), transaction(current_frontdesk.session):
            identities = service(Identities)
            [found] = [each for each in identities.list(person.id) if each.provider == provider]
            account = service(Accounts).lock(person.id)
            assert account is not None
            identities.unlink_one(account, found.id)


MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(
    make_providers_app: MakeProvidersApp, google: Google, microsoft: Microsoft, person: MakePerson
) -> MakeWorld:
    """Create the service with the providers Google and Microsoft, and the workspace `garden` with
    another owner."""

    def make(members: dict[str, Any] = MAPPED, **environment: str) -> World:
        app = make_providers_app(
            google=client_of("google", **members),
            microsoft=client_of("microsoft", tenant=TENANT, **members),
            AUTH__ROLES='["editor"]',
            **environment,
        )
        world = World(app, {"google": google, "microsoft": microsoft}, person)
        world.owner = owner = world.person("owner")
        with app.app_context():
            service(Workspaces).create(service(Accounts).get(owner.email), "Garden", "garden")
        return world

    return make


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world({**MAPPED, "workspaces": TEAM})


@pytest.fixture
def replacing(make_world: MakeWorld) -> World:
    return make_world({**MAPPED, "roles_mode": "replace"})


@for_each(
    ("before", "sign_ins", "roles"),
    [
        ("user", [["admins"]], ["admin"]),
        ("user", [["admins"], []], ["admin", "user"]),
        ("user", [["admins"], ["others"]], ["admin", "user"]),
        ("user", [["editors"], ["admins"], ["editors"], []], ["editor", "admin", "editor", "user"]),
        # Of several roles, the first in the order of AUTH.ROLES, in which `user` counts last.
        ("user", [["editors", "admins"], ["everyone", "editors"]], ["admin", "editor"]),
        ("user", ["admins"], ["admin"]),
        ("user", [["Admins"], ["admin"], ["root"], "root"], ["user"] * 4),
        # A role that was there already gets no grant, and stays.
        ("admin", [["admins"], []], ["admin", "admin"]),
        ("admin", [["editors"], ["everyone"], []], ["admin"] * 3),
        ("editor", [["admins"], ["editors"], []], ["admin", "editor", "editor"]),
        ("root", [["admins"], []], ["root", "root"]),
        ("user", [["admins"], None, []], ["admin", "admin", "user"]),
    ],
)
def test_mode_add_gives_roles_and_takes_only_what_it_gave(
    world: World, before: str, sign_ins: list[Groups], roles: list[str]
) -> None:
    ada = world.person(role=before)
    answers = [world.sign_in(ada, groups).json["account"]["role"] for groups in sign_ins]
    assert (answers, world.role(ada)) == (roles, roles[-1])
    assert (len(world.origins(ada)) == 1) is (roles[-1] != before)


@for_each(
    ("before", "sign_ins", "roles"),
    [
        ("user", [["admins"], []], ["admin", "user"]),
        ("admin", [["editors"], []], ["editor", "user"]),
        ("admin", [[]], ["user"]),
        ("admin", [["admins"], []], ["admin", "user"]),
        ("editor", [["admins"], ["everyone"]], ["admin", "user"]),
        ("admin", [None, [1], ["admins"]], ["admin"] * 3),
    ],
)
def test_mode_replace_sets_the_role_of_the_groups(
    replacing: World, before: str, sign_ins: list[Groups], roles: list[str]
) -> None:
    ada = replacing.person(role=before)
    answers = [replacing.sign_in(ada, groups).json["account"]["role"] for groups in sign_ins]
    assert (answers, replacing.role(ada)) == (roles, roles[-1])


@for_each(
    ("before", "groups", "after"),
    [("user", "admins", "user"), ("editor", "admins", "editor"), ("admin", "editors", "user")],
)
def test_unlinking_never_returns_a_role_that_mode_replace_has_lowered(
    replacing: World, before: str, groups: str, after: str
) -> None:
    ada = replacing.person(role=before)
    replacing.sign_in(ada, groups)
    replacing.unlink(ada, "google")
    assert (replacing.role(ada), replacing.origins(ada)) == (after, [])


@for_each(
    ("before", "sign_ins", "types"),
    [
        (None, [["devs"], []], ["member", None]),
        (None, [["devs"], ["leads", "devs"], ["devs"]], ["member", "admin", "member"]),
        (None, [["heads"], ["devs"], []], ["owner", "member", None]),
        ("guest", [["devs"], []], ["member", "guest"]),
        ("member", [["devs"], []], ["member", "member"]),
        ("admin", [["devs"], []], ["admin", "admin"]),
        (None, [["devs"], None, [1], {"a": 1}, []], ["member"] * 4 + [None]),
    ],
)
def test_groups_give_memberships_and_take_them_back(
    world: World, before: str | None, sign_ins: list[Groups], types: list[str | None]
) -> None:
    ada = world.person()
    if before is not None:
        world.join(ada, before)
    found = []
    for groups in sign_ins:
        world.sign_in(ada, groups)
        found.append(world.membership(ada))
    assert found == types


def test_changes_by_others_are_what_a_group_leaves_behind(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["admins", "devs"])
    ada.change(role="root")
    world.join(ada, "owner")
    world.sign_in(ada, ["admins", "devs"])
    assert (world.role(ada), world.membership(ada), world.origins(ada)) == ("root", "owner", [])
    world.sign_in(ada, [])
    assert (world.role(ada), world.membership(ada)) == ("root", "owner")

    bob = world.person("bob")
    world.sign_in(bob, ["admins", "devs"])
    bob.change(role="editor")
    world.leave(bob)
    world.sign_in(bob, ["admins", "devs"])
    assert (world.role(bob), world.membership(bob)) == ("admin", "member")
    world.sign_in(bob, [])
    assert (world.role(bob), world.membership(bob)) == ("editor", None)


def test_deactivated_membership_is_not_changed_or_revived(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["devs"])
    world.join(ada, "member", status="inactive")
    for groups in (["leads"], [], ["devs"]):
        world.sign_in(ada, groups)
        with world.app.app_context():
            session = current_frontdesk.session
            garden = service(Workspaces).get("garden").id
            query = select(Member).filter_by(account_id=ada.id, workspace_id=garden)
            found = session.scalars(query).all()
        assert [(each.type, each.status) for each in found] == [("member", "inactive")]
    assert world.origins(ada) == []


def test_group_of_a_workspace_that_does_not_exist_is_a_warning(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    ada = world.person()
    with caplog.at_level(logging.WARNING):
        world.sign_in(ada, ["lost", "devs"])
    assert "gives a membership of the workspace nowhere, which does not exist" in caplog.text
    assert world.membership(ada) == "member"


def test_deleted_workspace_takes_its_grants_with_it(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["devs", "admins"])
    with world.app.app_context(), transaction(current_frontdesk.session) as session:
        session.delete(service(Workspaces).get("garden"))
    assert world.origins(ada) == [(False, "admin", "Google")]
    world.sign_in(ada, [])
    assert world.role(ada) == "user"


@for_each(
    ("claims", "problem"),
    [
        ({}, "is missing"),
        ({"groups": None}, "is missing"),
        ({"groups": {"admins": True}}, "is no list of texts"),
        ({"groups": 7}, "is no list of texts"),
        ({"groups": ["editors", 1]}, "is no list of texts"),
        ({"groups": ["editors", None]}, "is no list of texts"),
        ({"groups": ["editors"] * (MAX_GROUPS + 1)}, "has more than 1000 groups"),
        # https://learn.microsoft.com/en-us/entra/identity-platform/access-token-claims-reference
        ({"_claim_names": {"groups": "src1"}}, "is too large for the token"),
        ({"_claim_names": {"groups": "src1"}, "groups": ["editors"]}, "is too large for the token"),
        ({"hasgroups": True}, "is too large for the token"),
    ],
)
def test_unknown_groups_change_nothing_and_are_a_warning(
    world: World, caplog: pytest.LogCaptureFixture, claims: dict[str, Any], problem: str
) -> None:
    for name in ("google", "microsoft"):
        ada = world.person()
        world.sign_in(ada, ["admins", "devs"], name=name)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            world.sign_in(ada, None, name=name, **claims)
        assert f"the claim 'groups' of the identity provider {name} {problem}" in caplog.text
        assert (world.role(ada), world.membership(ada)) == ("admin", "member")


def test_a_thousand_groups_are_read(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, [f"group {number}" for number in range(MAX_GROUPS - 1)] + ["admins"])
    assert world.role(ada) == "admin"


def test_user_without_app_roles_of_microsoft_has_no_groups(make_world: MakeWorld) -> None:
    world = make_world({"groups_claim": "roles", "roles": {"Frontdesk.Admin": "admin"}})
    ada = world.person()
    world.sign_in(ada, None, name="microsoft", roles=["Frontdesk.Admin"])
    assert world.role(ada) == "admin"
    world.sign_in(ada, None, name="microsoft")
    assert world.role(ada) == "user"


@for_each(
    ("sign_ins", "roles"),
    [
        # The second provider gives the same: it stays until both groups are gone.
        (["google admins", "microsoft admins", "google", "microsoft"], "admin admin admin user"),
        (["google editors", "microsoft admins", "microsoft", "google"], "editor admin editor user"),
        (["google editors", "microsoft admins", "google", "microsoft"], "editor admin admin user"),
        (["google admins", "microsoft editors", "google", "microsoft"], "admin admin editor user"),
    ],
)
def test_two_providers_give_the_higher_role_and_each_takes_its_own(
    world: World, sign_ins: list[str], roles: str
) -> None:
    ada = world.person()
    found = []
    for name, *groups in map(str.split, sign_ins):
        found.append(world.sign_in(ada, groups, name=name).json["account"]["role"])
    assert found == roles.split()
    assert world.origins(ada) == []


@for_each("name", ["google", "microsoft"])
def test_removing_an_identity_takes_only_its_grants(world: World, name: str) -> None:
    ada = world.person()
    world.sign_in(ada, ["admins", "devs"], name="google")
    world.sign_in(ada, ["editors", "leads"], name="microsoft")
    world.unlink(ada, name)
    left = {"google": ("editor", "admin"), "microsoft": ("admin", "member")}[name]
    assert (world.role(ada), world.membership(ada)) == left
    assert len(world.origins(ada)) == 2


def test_unlinking_all_identities_takes_all_grants(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["admins", "devs"], name="google")
    world.sign_in(ada, ["bosses", "leads"], name="microsoft")
    world.person("root", role="root")
    with world.app.app_context():
        assert service(Identities).unlink(service(Accounts).get(ada.email)) == 2
    assert (world.role(ada), world.membership(ada), world.origins(ada)) == ("user", None, [])
    [_, taken] = records(world.app, type="account.updated", account_id=ada.id)[-2:]
    assert taken.data["after"] == {"role": "user"}


def test_owner_who_unlinks_an_identity_loses_its_grants(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["admins", "devs"])
    api = Api(world.app, "/api/v1", ada.token())
    [identity] = api.get("/account/identities").json
    api.delete(f"/account/identities/{identity['id']}")
    assert (world.role(ada), world.membership(ada)) == ("user", None)
    [*_, changed] = records(world.app, type="account.updated", account_id=ada.id)
    assert (changed.actor_kind, changed.actor_id) == ("account", ada.id)


def test_last_root_keeps_the_role_of_a_removed_identity(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["bosses"])
    world.unlink(ada, "google")
    assert (world.role(ada), world.origins(ada)) == ("root", [])
    assert [each.account_id for each in records(world.app, type="identity.grant_kept")] == [ada.id]


def test_reclaimed_account_loses_its_grants(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["admins", "devs"])
    with world.app.app_context(), transaction(current_frontdesk.session):
        service(Accounts).reclaim(service(Accounts).get(ada.email))
    assert (world.role(ada), world.membership(ada)) == ("user", None)


def test_last_active_root_is_kept_logged_and_audited(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    ada = world.person()
    world.sign_in(ada, ["bosses"])
    world.person("suspended", role="root", status="suspended")
    with caplog.at_level(logging.INFO):
        assert world.sign_in(ada, []).json["account"]["role"] == "root"
    assert "grant_kept" in caplog.text
    [kept] = records(world.app, type="identity.grant_kept")
    assert (kept.account_id, kept.actor_kind) == (ada.id, "provider")
    assert kept.data == {"kept": "root", "provider": "google"}
    assert world.origins(ada) == [(False, "root", "Google")]
    world.person("second", role="root")
    assert world.sign_in(ada, []).json["account"]["role"] == "user"


def test_last_active_root_is_kept_in_mode_replace(replacing: World) -> None:
    ada = replacing.person(role="root")
    assert replacing.sign_in(ada, ["admins"]).json["account"]["role"] == "root"
    replacing.person("second", role="root")
    assert replacing.sign_in(ada, ["admins"]).json["account"]["role"] == "admin"


def test_last_active_owner_is_kept_and_audited(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["heads"])
    assert world.owner is not None
    world.owner.change(status="suspended")
    for groups in (["devs"], []):
        world.sign_in(ada, groups)
        assert world.membership(ada) == "owner"
    kept = records(world.app, type="identity.grant_kept")
    assert [(each.account_id, each.data["kept"]) for each in kept] == [(ada.id, "owner")] * 2
    assert kept[0].workspace_id is not None
    # The membership of the last owner outlives the identity.
    world.unlink(ada, "google")
    assert (world.membership(ada), world.origins(ada)) == ("owner", [])


def test_changes_are_audited_as_by_the_provider(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["admins", "devs"])
    world.sign_in(ada, ["leads"])
    world.sign_in(ada, [])
    found = [
        (each.type, each.data.get("before"), each.data.get("after"))
        for each in records(world.app, actor_kind="provider", account_id=ada.id)
    ]
    active = {"status": "active"}
    assert found == [
        ("account.updated", {"role": "user"}, {"role": "admin"}),
        ("member.added", None, {"type": "member", **active}),
        ("account.updated", {"role": "admin"}, {"role": "user"}),
        ("member.updated", {"type": "member", **active}, {"type": "admin", **active}),
        ("member.removed", {"type": "admin", **active}, None),
    ]
    entries = records(world.app, actor_kind="provider")
    assert {(each.actor_id, each.data["provider"]) for each in entries} == {(None, "google")}
    [signed_in, *_] = records(world.app, type="login.succeeded", account_id=ada.id)
    assert signed_in.actor_kind == "account"


def test_audit_log_shows_the_provider(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, ["admins", "heads"])
    root = world.person("root", role="root").api()
    [changed] = [
        each
        for each in Api(world.app, "/api/v1", root.token).get("/admin/events").json
        if each["type"] == "account.updated"
    ]
    assert (changed["actor_kind"], changed["data"]["provider"]) == ("provider", "google")
    for token, path in (
        (root.token, "/admin/events"),
        (root.token, "/admin/events.csv"),
        (ada.token(), "/account/activity"),
        (ada.token(), "/workspaces/garden/activity"),
    ):
        page = Api(world.app, "", token).get(path, headers={"Accept": "text/html"})
        assert "Identity provider google" in page.response.text, path


def test_new_role_counts_for_the_stages_and_a_challenge_keeps_it(make_world: MakeWorld) -> None:
    world = make_world(AUTH__MFA="optional", AUTH__MFA_REQUIRED_ROLES='["admin"]')
    ada = world.person()
    world.sign_in(ada, [])
    answer = world.sign_in(ada, ["admins"], 403)
    assert answer.json["code"] == "mfa_enrolment_required"
    assert world.role(ada) == "admin"
    world.sign_in(ada, [])
    assert world.role(ada) == "user"


def test_rejected_sign_in_changes_nothing(world: World) -> None:
    ada = world.person()
    world.sign_in(ada, [])
    ada.change(status="suspended")
    world.sign_in(ada, ["admins", "devs"], 400)
    assert (world.role(ada), world.membership(ada), world.origins(ada)) == ("user", None, [])
    assert not records(world.app, actor_kind="provider")


def test_first_sign_in_of_a_new_user_has_the_role(make_world: MakeWorld) -> None:
    world = make_world(AUTH__ALLOW_IDP_OAUTH_SIGNUP="true")
    user: dict[str, Any] = {"sub": "new", "email": "new@example.com", "email_verified": True}
    guest = Guest(world.app, "google")
    answer = guest.sign_in(world.fakes["google"], **user, groups=["editors"])
    assert answer.json["account"]["role"] == "editor"


def test_role_that_the_settings_lack_is_not_changed(make_world: MakeWorld) -> None:
    world = make_world()
    ada = world.person()
    with world.app.app_context(), transaction(current_frontdesk.session):
        service(Accounts).get(ada.email).role = "auditor"
    world.sign_in(ada, ["admins"])
    assert (world.role(ada), world.origins(ada)) == ("auditor", [])


def test_parallel_sign_ins_leave_a_consistent_state(world: World) -> None:
    """50 rounds of sign-ins with different groups, through two providers at once."""
    ada = world.person()
    world.sign_in(ada, [])
    world.sign_in(ada, [], name="microsoft")
    chosen = random.Random(52)
    for _ in range(50):
        given = [
            (name, chosen.choice([[], ["admins"], ["editors", "devs"], ["leads"], ["heads"]]))
            for name in ("google", "google", "microsoft", "microsoft")
        ]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda each: world.sign_in(ada, each[1], name=each[0]), given))
        origins = world.origins(ada)
        roles = {granted for is_membership, granted, _ in origins if not is_membership}
        types = {granted for is_membership, granted, _ in origins if is_membership}
        assert world.role(ada) == next(
            each for each in ("admin", "editor", "user") if each in {*roles, "user"}
        )
        assert world.membership(ada) == next((each for each in MEMBER_TYPES if each in types), None)
    for name in world.fakes:
        world.sign_in(ada, [], name=name)
    assert (world.role(ada), world.membership(ada), world.origins(ada)) == ("user", None, [])


def test_parallel_removals_of_two_roots_leave_one(world: World) -> None:
    ada, bob = world.person(), world.person("bob")
    for each in (ada, bob):
        world.sign_in(each, ["bosses"])
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda each: world.sign_in(each, []), (ada, bob)))
    assert sorted(map(world.role, (ada, bob))) == ["root", "user"]


class RealVisitor(Visitor):
    """A user of a real provider, by its name."""

    name = "acme"

    def begin(self, redirect_uri: str = REDIRECT_URI) -> str:
        return str(self.api.get(f"/idp/{self.name}/login", 302).headers["Location"])

    def finish(self, redirect: dict[str, str], status: int = 200, **changes: Any) -> Any:
        return self.api.post(f"/idp/{self.name}/callback", status, json=redirect)


def test_two_real_providers_send_groups(
    make_providers_app: MakeProvidersApp,
    proxy: Proxy,
    provider: Provider,
    glewlwyd: Glewlwyd,
    person: MakePerson,
) -> None:
    client = {"kind": "oidc", "client_secret": CLIENT_SECRET, **MAPPED}
    app = make_providers_app(
        acme={
            **client,
            "client_id": "frontdesk",
            "metadata_url": proxy.metadata_url,
            "issuer": proxy.issuer,
        },
        campus={**client, "client_id": "by-post", "metadata_url": glewlwyd.metadata_url},
        AUTH__ROLES='["editor"]',
    )
    world, ada = World(app, {}, person), person("ada", into=app)
    acme, campus = RealVisitor(Api(app)), RealVisitor(Api(app), GlewlwydBrowser(glewlwyd))
    campus.name = "campus"

    def roles(visitor: RealVisitor, *given: Groups) -> list[str]:
        found = []
        for groups in given:
            provider.change(groups={"ada": groups})
            glewlwyd.set_groups("ada", groups)
            found.append(visitor.sign_in("ada").json["account"]["role"])
        return found

    # The claims are in the user info, and in the ID token.
    for in_token in (False, True):
        provider.change(claimsInIdToken=in_token)
        given: list[Groups] = [["staff", "admins"], ["editors"], []]
        assert roles(acme, *given) == ["admin", "editor", "user"]
    # Glewlwyd sends no claim for a user without groups: the groups are unknown.
    given = [["staff", "admins"], ["editors", "staff"], []]
    assert roles(campus, *given) == ["admin", "editor", "editor"]
    assert roles(acme, ["admins"]) == ["admin"]
    assert world.origins(ada) == [(False, "editor", "campus"), (False, "admin", "acme")]
    world.unlink(ada, "acme")
    assert world.role(ada) == "editor"


def test_grants_are_in_the_data_export(world: World) -> None:
    from app.auth.idp.grants import export_grants
    from app.core.data_export import DataSubject, ExportReader

    ada = world.person()
    world.sign_in(ada, ["admins", "devs"])
    with world.app.app_context():
        engine = current_frontdesk.engine
        reader = ExportReader(engine, {ProviderGrant.__tablename__}, lambda: None)
        [(name, rows)] = export_grants(DataSubject(ada.id, ada.email, ada.id), reader)
        granted = [each["granted"] for each in list(rows)]  # type: ignore[call-overload]
    assert (name, granted) == ("provider_grants.jsonl", ["admin", "member"])


def test_types_of_members_are_those_of_workspaces() -> None:
    assert MEMBER_TYPES == models.MEMBER_TYPES
