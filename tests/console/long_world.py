"""A service with data as long, as unbroken and as varied as users make it."""

from __future__ import annotations

from sqlalchemy import select, update

from app.core.context import current_frontdesk
from app.delivery.outbox.models import Delivery

from ..rigs.console.world import PROFILE, TEAM, World
from ..rigs.cookie_browsers import CookieBrowser

GERMAN = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
ARABIC = "مرحبا بكم في مساحة العمل الجديدة، نتمنى لكم يوما سعيدا"
EMOJI = "👩🏽‍🚀🎉" * 12
TITLES = (f"{GERMAN} {ARABIC} {GERMAN}", ARABIC * 3, EMOJI * 3, "W" * 200)
NAMES = ((GERMAN, ARABIC), (ARABIC, ARABIC), (EMOJI, "Ω" * 100))
AGENT = f"{'X' * 120}/1.0 (X11; Linux x86_64)"


def email(letter: str) -> str:
    """Return an address of 80 characters without a place to break."""
    return f"{letter * 64}@longest.example"


def lengthen(world: World) -> World:
    """Make the names, addresses, titles and messages of a service as long as they can be."""
    _name_people(world)
    _add_workspaces(world)
    for title in TITLES:
        world.send(title, f"{title} " * 4, to=[world.ada.id])
    world.last_sent = world.send(TITLES[0], f"{TITLES[3] * 4} {ARABIC}", "email")
    _fail_deliveries(world)
    return world


def _name_people(world: World) -> None:
    site, ada = world.site, world.ada
    for person, letter in ((ada, "w"), (world.people["admin"], "m"), (world.suspended, "s")):
        person.change(email=email(letter))
    world.__dict__.pop("adas", None)
    world.__dict__.pop("bosses", None)
    suspended = {"status": "suspended", "suspended_reason": f"{TITLES[3]} {ARABIC}"}
    world.bosses.patch(f"/admin/accounts/{world.suspended.id}", json=suspended)
    for number, (first, last) in enumerate(NAMES):
        person = site.person(email(f"{number}"), role="admin" if number else "user")
        names = {"first_name": first, "last_name": last, "bio": ARABIC}
        person.api().post("/profiles", json={**PROFILE, **names})
        CookieBrowser(site.app).sign_in(person, headers={"User-Agent": AGENT})
    names = {"first_name": GERMAN, "last_name": ARABIC, "bio": f"{'W' * 300} {ARABIC}"}
    world.adas.put("/profiles", json={**PROFILE, **names})
    CookieBrowser(site.app).sign_in(ada, headers={"User-Agent": AGENT})


def _add_workspaces(world: World) -> None:
    world.adas.patch(f"/workspaces/{TEAM}", json={"name": TITLES[0]})
    for name in TITLES[1:]:
        world.adas.post("/workspaces", json={"name": name})
    body = {"emails": [email(letter) for letter in "abc"], "message": f"{TITLES[3]} {ARABIC}"}
    world.adas.post(f"/workspaces/{TEAM}/invitations", 201, json=body)


def _fail_deliveries(world: World) -> None:
    with world.site.app.app_context():
        session, now = current_frontdesk.session, current_frontdesk.clock.now()
        newest = select(Delivery.outgoing_id).order_by(Delivery.id.desc()).limit(1)
        failed = {"state": "failed", "reason": f"550 {email('f')} {'W' * 99}", "finished_at": now}
        sent = Delivery.outgoing_id == newest.scalar_subquery()
        session.execute(update(Delivery).where(sent).values(**failed))
        session.commit()
