"""A service with accounts, a workspace and messages, which pages display."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from app.broadcasts.saved import SavedDrafts, Segments
from app.console.admin.audiences import AudienceChoice
from app.console.admin.drafts import BroadcastDraft
from app.core.context import service
from app.notifications.receivers import Audience
from app.testing.client import Api
from app.testing.people import Person

from ..cookie_browsers import CookieBrowser
from .site import Site

PROFILE = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "date_of_birth": "1815-12-10",
    "gender": "female",
    "marital_status": "married",
    "city": "London",
    "bio": "Enchantress of numbers",
    # A property that the application added.
    "favourite_engine": "analytical",
}
TEAM = "engines"
MESSAGES = (
    ("Closed on Friday", "The office is closed on Friday."),
    ("New coffee machine", "It also makes tea. The manual is in the kitchen."),
    ("Summer party", "In the garden, on the last Friday of June. Please say whether you come."),
    (
        "Two years of Engines",
        "We met in May, when the first engine was only a drawing, and a dozen of us wrote down what"
        " it should do. Today it computes tables of logarithms without an error. Thank you all for"
        " your patience with its noise, for the spare parts that you found, and for each of the"
        " notes that explain how it works to those who have not seen it yet. The third year begins"
        " with a printer: its drawings are on the long table, and your remarks are welcome.",
    ),
)
BANNER = {"text": "New: notification preferences.", "level": "info", "audience": "everyone"}
_AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
)


@dataclass
class World:
    site: Site
    # Persons by their role in the tests; visitors are not signed in.
    people: dict[str, Person] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = {"owner": "ada", "new_user": "grace", "admin": "boss", "root": "root"}
        for who, name in named.items():
            role = who if who in ("admin", "root") else "user"
            self.people[who] = self.site.person(name, role=role)
        self.suspended = self.site.person("mallory", status="suspended", phone="+441632960961")
        self._add_data()

    @property
    def ada(self) -> Person:
        return self.people["owner"]

    @cached_property
    def adas(self) -> Api:
        return self.ada.api()

    @cached_property
    def bosses(self) -> Api:
        return self.people["admin"].api()

    def send(self, title: str, message: str, *channels: str, to: list[Any] | None = None) -> Any:
        data = {"title": title, "message": message, "channels": ["inapp", *channels]}
        query = {"account_receiver_ids": to} if to else {}
        path = "/admin/notifications"
        return self.bosses.post(path, 201, json={"data": data}, query_string=query).json

    def _add_data(self) -> None:
        self.adas.post("/profiles", json=PROFILE)
        self.adas.post("/workspaces", json={"name": "Engines", "slug": TEAM})
        invited = {"emails": ["charles@example.com", "grace@example.com"]}
        self.adas.post(f"/workspaces/{TEAM}/invitations", 201, json=invited)
        for title, message in MESSAGES:
            self.last_sent = self.send(title, message, to=[self.ada.id])
        self.last_sent = self.send("For everyone", "This message is also sent by email.", "email")
        self.adas.patch(f"/notifications/{self.last_sent['id']}/mark")
        # Above every page, in front of all checks of pages.
        self.banner = self.bosses.post("/admin/banners", 201, json=BANNER).json
        token = {"name": "Nightly backup", "scopes": ["account:read", "profiles:read"]}
        self.token = self.adas.post("/personal-tokens", 201, json=token).json
        short = {**token, "name": "Report", "workspace": TEAM, "days": 7}
        used = self.adas.post("/personal-tokens", 201, json=short).json["token"]
        self.ada.api().as_token(used).get(f"/{TEAM}/profiles")
        team = {"name": "Member sync", "scopes": ["members:read"], "type": "guest"}
        created = self.adas.post(f"/workspaces/{TEAM}/tokens", 201, json=team).json
        # The paths of both have the same variable.
        assert created["id"] == self.token["id"]
        # The inbox of the new user is empty.
        grace = self.people["new_user"].api()
        grace.delete(f"/notifications/{grace.get('/notifications/').json[0]['id']}")
        for agent in _AGENTS:
            browser = CookieBrowser(self.site.app)
            browser.sign_in(self.ada, headers={"User-Agent": agent})

    def draft_id(self) -> int:
        """Return the id of a draft of the admin, which is saved if none exists."""
        with self.site.app.app_context():
            drafts, admin = service(SavedDrafts), self.people["admin"].id
            if found := drafts.list(admin):
                return int(found[0].id)
            draft = BroadcastDraft("Closed", "On Friday.", ["inapp", "email"], AudienceChoice())
            return drafts.save(admin, draft.title, draft.to_json())

    def segment_id(self) -> int:
        with self.site.app.app_context():
            segments = service(Segments)
            if not segments.list():
                segments.save("Admins of Engines", Audience(active=True, role="admin"))
            return segments.list()[0].id

    def newest_item(self) -> Any:
        return self.adas.get("/notifications/").json[0]

    def newest_session(self) -> Any:
        """Return the session of this request, since earlier requests may have ended the others."""
        return self.ada.api().get("/sessions").json[0]

    def newest_invitation(self) -> Any:
        return self.adas.get(f"/workspaces/{TEAM}/invitations").json[0]


# Values of the variables in the paths of pages and API routes.
VALUES: dict[str, Callable[[World], Any]] = {
    "account_id": lambda world: world.ada.id,
    "workspace_slug": lambda _: TEAM,
    "draft_id": lambda world: world.draft_id(),
    "segment_id": lambda world: world.segment_id(),
    "notification_id": lambda world: world.last_sent["id"],
    "item_id": lambda world: world.newest_item()["id"],
    "session_id": lambda world: world.newest_session()["id"],
    "workspace_id": lambda world: world.adas.get("/workspaces/default").json["id"],
    "banner_id": lambda world: world.banner["id"],
    "token_id": lambda world: world.token["id"],
    "invitation_id": lambda world: world.newest_invitation()["id"],
}


def values_of(world: World, names: set[str]) -> dict[str, Any]:
    """Return values for these variables; an unknown variable gets the id of a missing object."""
    return {name: VALUES[name](world) if name in VALUES else 1 for name in sorted(names)}
