"""Which banners an account and a visitor see, and how they dismiss them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask
from sqlalchemy import select

from app.accounts.service import Accounts
from app.banners.models import BannerDismissal
from app.core.context import current_frontdesk, service
from app.notifications.receivers import Audience, Receivers
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cookie_browsers import CookieBrowser
from ..rigs.racing import request, run_concurrently
from ..workspaces.invited import make_team
from .conftest import MakeBanner

After = Callable[..., str]
EVERYONE = "everyone"


def texts(api: Api) -> list[str]:
    return [each["text"] for each in api.get("/banners").json]


def test_banners_are_shown_while_in_force_critical_ones_first(
    api: Api, banner: MakeBanner, clock: SteppingClock, after: After
) -> None:
    for level in ("info", "critical", "warning"):
        banner(level, level=level, audience=EVERYONE)
    banner("later", audience=EVERYONE, starts_at=after(hours=1), ends_at=after(hours=2))
    assert texts(api) == ["critical", "warning", "info"]
    clock.step(hours=1)
    assert texts(api) == ["critical", "warning", "later", "info"]
    clock.step(hours=1)
    assert texts(api) == ["critical", "warning", "info"]


def test_list_has_all_members_but_the_audience(api: Api, ada: Person, banner: MakeBanner) -> None:
    public = banner("News", url="https://example.com/news", audience=EVERYONE)
    assert public.pop("audience") == EVERYONE
    assert api.get("/banners").json == [public]
    accounts = banner("For accounts", level="warning", dismissible=False)
    assert accounts.pop("audience") == {}
    assert ada.api().get("/banners").json == [accounts, public]
    assert public.keys() == {*("id", "text", "url", "level", "dismissible", "starts_at", "ends_at")}


def test_banners_are_shown_to_the_accounts_that_a_broadcast_would_reach(
    app: Flask, person: MakePerson, banner: MakeBanner, mails: MailOutbox
) -> None:
    team = make_team(person, mails)
    workspace = team.owner.get("/workspaces/team").json["id"]
    dora, eve = person("dora", locale="de-AT", role="admin"), person("eve", locale="de")
    gone = person("gone")
    callers = {eve.id: team.admit(eve), gone.id: team.admit(gone, status="inactive")}
    for each in (team.olga, dora, person("fay", locale="den")):
        callers[each.id] = each.api()
    eve.change(status="suspended")
    audiences: list[dict[str, Any]] = [
        {},
        {"ids": [dora.id, eve.id, dora.id]},
        {"status": "active"},
        {"status": "suspended"},
        {"active": True},
        {"active": False},
        {"verified": True},
        {"verified": False},
        {"role": "admin"},
        {"workspace": workspace},
        {"language": "de"},
        {"language": "de", "role": "user", "workspace": workspace},
        {"ids": [team.olga.id], "role": "admin"},
    ]
    for number, audience in enumerate(audiences):
        banner(str(number), audience=audience)
    with app.app_context():
        accounts = service(Accounts)
        reached = [_receivers(accounts, Audience(**values)) for values in audiences]
    for account_id, api in callers.items():
        expected = {str(number) for number, ids in enumerate(reached) if account_id in ids}
        assert {*texts(api)} == expected, account_id
    assert texts(Api(app)) == []
    assert sum(map(len, reached)) > 20


def _receivers(accounts: Accounts, audience: Audience) -> set[Any]:
    receivers = Receivers.of(accounts.session, accounts, audience)
    return {*accounts.session.scalars(receivers.targets(None))}


def test_accounts_of_any_status_see_banners(ada: Person, banner: MakeBanner) -> None:
    banner("unverified", audience={"verified": False})
    banner("suspended", audience={"status": "suspended"})
    api = ada.api()
    assert texts(api) == []
    ada.change(status="suspended")
    assert texts(api) == ["suspended"]


def test_list_takes_one_query_besides_the_authentication(
    app: Flask, api: Api, ada: Person, banner: MakeBanner, admin: Api
) -> None:
    workspace = admin.post("/workspaces", json={"name": "Team", "slug": "team"}).json["id"]
    audiences = [EVERYONE, {}, {"ids": [ada.id]}, {"workspace": workspace}, {"language": "en"}]
    for number in range(20):
        banner(f"Banner {number}", audience=audiences[number % len(audiences)])
    own = ada.api()
    own.get("/banners")
    with noted_queries(app) as statements:
        assert len(own.get("/banners").json) == 12
    assert [("frontdesk_banners" in each) for each in statements] == [False, True]
    with noted_queries(app) as statements:
        assert len(api.get("/banners").json) == 4
    assert len(statements) == 1


def test_list_is_cached_for_each_caller(make_app: MakeApp, banner: MakeBanner, ada: Person) -> None:
    banner("Public", audience=EVERYONE)
    banner("Private")
    app = make_app(AUTH__COOKIE_SESSIONS="on")
    browser, other = CookieBrowser(app), CookieBrowser(app)
    browser.sign_in(ada)
    other.use_cookie(str(browser.cookie))
    first = browser.get("/banners")
    vary = {*first.headers["Vary"].split(", ")}
    assert (texts(browser), vary) == (["Private", "Public"], {"Authorization", "Cookie"})
    known = {"If-None-Match": first.headers["ETag"]}
    unchanged = browser.get("/banners", 304, headers=known)
    assert unchanged.headers["Vary"] == first.headers["Vary"]
    browser.delete("/session")
    # The cookie of an ended session is deleted, and its caller is a visitor.
    ended = other.get("/banners", headers=known)
    assert [each["text"] for each in ended.json] == ["Public"]
    assert (other.cookie, ended.headers["ETag"] != known["If-None-Match"]) == (None, True)
    other.get("/banners", 401, headers={"Authorization": "Bearer invalid"})


def test_dismissed_banner_is_hidden_from_its_account_only(
    ada: Person, bob: Person, banner: MakeBanner
) -> None:
    news, other = banner("News")["id"], banner("Other", audience=EVERYONE)["id"]
    api = ada.api()
    for _ in range(2):
        assert api.post(f"/banners/{news}/dismiss").json == {"message": "Banner dismissed"}
    assert (texts(api), texts(bob.api())) == (["Other"], ["Other", "News"])
    assert run_concurrently(*[request(api, "POST", f"/banners/{other}/dismiss")] * 4) == [200] * 4


def test_dismissal_is_rejected(
    api: Api, ada: Person, banner: MakeBanner, clock: SteppingClock, after: After
) -> None:
    required = banner("Required", dismissible=False)["id"]
    for_admins = banner("For admins", audience={"role": "admin"})["id"]
    later = banner("Later", starts_at=after(hours=1))["id"]
    ended = banner("Ended", ends_at=after(minutes=1))["id"]
    public = banner("Public", audience=EVERYONE)["id"]
    clock.step(minutes=2)
    own = ada.api()
    rejected = own.post(f"/banners/{required}/dismiss", 409)
    assert rejected.json["code"] == "banner_not_dismissible"
    for unknown in (for_admins, later, ended, 999, 2**63 - 1):
        assert own.post(f"/banners/{unknown}/dismiss", 404).json["code"] == "banner_not_found"
    api.post(f"/banners/{public}/dismiss", 401)


def test_dismissals_end_with_banner_and_account(
    app: Flask, ada: Person, bob: Person, banner: MakeBanner, admin: Api
) -> None:
    first, second = banner("First")["id"], banner("Second")["id"]
    for api in (ada.api(), bob.api()):
        for each in (first, second):
            api.post(f"/banners/{each}/dismiss")
    admin.delete(f"/admin/banners/{first}")
    admin.delete(f"/admin/accounts/{ada.id}")
    with app.app_context():
        left = current_frontdesk.session.scalars(select(BannerDismissal)).all()
        assert [(each.account_id, each.banner_id) for each in left] == [(bob.id, second)]
