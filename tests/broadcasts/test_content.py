"""The link, kind, data, workspace and key of notifications over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.core.context import current_frontdesk, service
from app.frontdesk import Frontdesk
from app.notifications.models import Notification
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.workspaces.models import Workspace
from app.workspaces.service import Workspaces

from ..conftest import MakeApp, MakePerson, Person, only_on
from ..rigs.cases import for_each
from ..rigs.racing import run_concurrently

PATH = "/admin/notifications"
KINDS = '{"orders": {"name": "Orders", "channels": ["inapp", "email"]}}'
MakeWorkspace = Callable[[Api], tuple[str, int]]


def body(**data: Any) -> dict[str, Any]:
    return {"data": {"title": "Closed", "message": "On Friday.", "channels": ["inapp"], **data}}


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(NOTIFICATIONS__KINDS=KINDS, CORE__CLIENT_HOST="https://client.example")


@pytest.fixture
def admin(person: MakePerson) -> Api:
    return person("root", role="admin").api()


@pytest.fixture
def make_workspace(app: Flask) -> MakeWorkspace:
    def make(api: Api) -> tuple[str, int]:
        slug = api.post("/workspaces", json={"name": "Shop"}).json["slug"]
        with app.app_context():
            return slug, service(Workspaces).get(slug).id

    return make


def count_notifications(app: Flask) -> int:
    with app.app_context():
        return current_frontdesk.session.scalar(select(func.count(Notification.id))) or 0


def test_sender_and_receivers_get_the_content(
    app: Flask, admin: Api, ada: Person, make_workspace: MakeWorkspace
) -> None:
    _slug, workspace_id = make_workspace(ada.api())
    content: dict[str, Any] = {
        "url": "/orders/7?new=1#top",
        "kind": "orders",
        "data": {"order": [7, "é", None]},
    }
    content["workspace_id"] = workspace_id
    sent = admin.post(PATH, 201, json=body(**content)).json
    (item,) = ada.api().get("/notifications/").json
    opened = "https://client.example/orders/7?new=1#top"
    for found in (sent, item, admin.get(f"{PATH}/all").json[0], admin.get(f"{PATH}/1").json):
        assert {name: found[name] for name in content} == content
        assert found["links"]["open"] == opened
    read = ada.api().patch(item["links"]["mark"].removeprefix("/api/v1")).json
    assert (read["data"], read["links"]["open"]) == (content["data"], opened)
    with app.app_context():
        session = current_frontdesk.session
        session.delete(session.get(Workspace, workspace_id))
        session.commit()
    assert ada.api().get("/notifications/").json[0]["workspace_id"] is None


@for_each(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "mailto:ada@example.com",
        "//evil.example",
        "/\\evil.example",
        "/%5cevil.example",
        "/%2Fevil.example",
        "\\\\evil.example",
        "https:\\\\evil.example",
        "https://good.example\\@evil.example",
        "https://ada@evil.example",
        "https://ada:secret@evil.example",
        "https://:@evil.example",
        "https://",
        "https:///path",
        "https:evil.example",
        "http:/evil.example",
        "ftp://example.com",
        "example.com/page",
        "page",
        "?query",
        "#part",
        " /page",
        "/page ",
        "\thttps://example.com",
        "/a b",
        "/a\nb",
        "/a%0ab",
        "/a%0D%0Ab",
        "/a%00",
        "/a%7F",
        "/a\x7f",
        "/a\x85",
        "/a\u2028b",
        "https://exa\tmple.com",
        "https://[::1",
        "https://example.com:port",
        "https://example.com:0/",
        "https://example.com:99999/",
        "/" + "x" * 2_000,
        "",
        None,
        7,
    ],
)
def test_invalid_url_is_rejected(app: Flask, admin: Api, url: object) -> None:
    assert admin.post(PATH, 422, json=body(url=url)).faults == ["json:data.url"]
    assert count_notifications(app) == 0
    if isinstance(url, str):
        with app.app_context(), pytest.raises(ValueError, match="url"):
            Frontdesk().notify("Hello", "x", url=url)


@for_each(
    ("url", "opened"),
    [
        ("/", "https://client.example/"),
        ("/a/%20b?x=http://c//d&e=@#f", "https://client.example/a/%20b?x=http://c//d&e=@#f"),
        ("/" + "x" * 1_999, "https://client.example/" + "x" * 1_999),
        ("/\"<b>'", "https://client.example/\"<b>'"),
        ("http://example.com", "http://example.com"),
        ("HTTPS://münchen.example:8443/a@b", "HTTPS://münchen.example:8443/a@b"),
        ("https://[::1]/", "https://[::1]/"),
    ],
)
def test_url_is_returned_as_sent_and_resolved(
    admin: Api, ada: Person, url: str, opened: str
) -> None:
    sent = admin.post(PATH, 201, json=body(url=url)).json
    item = ada.api().get("/notifications/?limit=1").json[0]
    for found in (sent, item):
        assert (found["url"], found["links"]["open"]) == (url, opened)


@for_each(
    ("data", "field"),
    [
        ([], "data"),
        ("text", "data"),
        (None, "data"),
        ({"a": "x" * 4_096}, "data"),
        ({"a": "é" * 2_048}, "data"),
        (nested(9), "data"),
        ({"a": "\0"}, "data"),
        ({"\0": 1}, "data"),
    ],
)
def test_invalid_data_is_rejected(app: Flask, admin: Api, data: object, field: str) -> None:
    assert admin.post(PATH, 422, json=body(data=data)).faults == [f"json:data.{field}"]
    assert count_notifications(app) == 0


@for_each("data", [{}, nested(8), {"a": "x" * 4_088}, {"a": [1.5, True, {"b": "\U0001f600"}]}])
def test_data_within_its_limits_is_returned(admin: Api, ada: Person, data: dict[str, Any]) -> None:
    assert admin.post(PATH, 201, json=body(data=data)).json["data"] == data
    assert ada.api().get("/notifications/?limit=1").json[0]["data"] == data


def test_nan_is_not_json(admin: Api) -> None:
    text = '{"data": {"title": "a", "message": "b", "channels": ["inapp"], "data": {"a": NaN}}}'
    admin.post(PATH, 400, data=text, content_type="application/json")


@for_each(
    ("wrong", "field"),
    [
        ({"kind": "unknown"}, "kind"),
        ({"kind": ""}, "kind"),
        ({"kind": "orders", "channels": ["inapp", "sms"]}, "channels"),
        ({"kind": "account"}, "channels"),
        ({"workspace_id": 4711}, "workspace_id"),
        ({"workspace_id": "x"}, "workspace_id"),
        ({"key": ""}, "key"),
        ({"key": "a b"}, "key"),
        ({"key": "a\n"}, "key"),
        ({"key": "é"}, "key"),
        ({"key": "x" * 256}, "key"),
    ],
)
def test_invalid_content_is_rejected(
    app: Flask, admin: Api, wrong: dict[str, Any], field: str
) -> None:
    assert admin.post(PATH, 422, json=body(**wrong)).faults == [f"json:data.{field}"]
    assert count_notifications(app) == 0


def test_kind_gives_the_channels_and_reach_takes_it(admin: Api, ada: Person) -> None:
    kind = {"data": {"title": "Shipped", "message": "Order 7", "kind": "orders"}}
    assert admin.post(PATH, 201, json=kind).json["channels"] == ["inapp", "email"]
    assert admin.post(PATH, 201, json=body()).json["kind"] == "announcements"
    without = {"data": {"title": "Shipped", "message": "Order 7"}}
    assert admin.post(PATH, 422, json=without).faults == ["json:data.channels"]
    reach = {"channels": ["email"], "kind": "orders"}
    assert admin.post(f"{PATH}/reach", json=reach).json["receivers"] == 2
    for wrong in ({"kind": "unknown"}, {"channels": ["sms"]}):
        (field,) = wrong
        response = admin.post(f"{PATH}/reach", 422, json={**reach, **wrong})
        assert response.faults == [f"json:{field}"]


def test_inbox_is_filtered_by_kind_and_workspace(
    admin: Api, ada: Person, make_workspace: MakeWorkspace
) -> None:
    slug, workspace_id = make_workspace(ada.api())
    foreign, foreign_id = make_workspace(admin)
    admin.post(PATH, 201, json=body(title="news"))
    admin.post(PATH, 201, json=body(title="order", kind="orders", workspace_id=workspace_id))
    admin.post(PATH, 201, json=body(title="foreign", kind="orders", workspace_id=foreign_id))

    def titles(query: str) -> list[str]:
        return [item["title"] for item in ada.api().get(f"/notifications/?{query}").json]

    assert titles("kind=orders") == ["foreign", "order"]
    assert titles("kind=announcements") == ["news"]
    assert titles(f"workspace={slug}") == ["order"]
    assert titles(f"workspace={slug}&kind=orders&is_read=false") == ["order"]
    assert titles(f"workspace={slug}&kind=announcements") == []
    assert titles(f"workspace={foreign}") == titles("workspace=unknown") == titles("kind=x") == []
    page = ada.api().get("/notifications/?kind=orders&limit=1")
    assert "kind=orders" in page.headers["Link"]


def test_repeated_key_returns_the_stored_notification(
    app: Flask, admin: Api, ada: Person, bob: Person, person: MakePerson
) -> None:
    query = f"?account_receiver_ids={ada.id}&account_receiver_ids={bob.id}"
    sent = {**body(key="order-7", url="/orders/7", channels=["inapp", "email"])}
    first = admin.post(f"{PATH}/{query}", 201, json=sent)
    assert first.headers.get("Idempotent-Replayed") is None
    assert first.json["key"] == "order-7"
    ada.api().patch("/notifications/mark-all?status=true")
    again = admin.post(PATH, 201, json={**sent, "account_receiver_ids": [bob.id, ada.id, bob.id]})
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json == {**first.json, "read": 1}
    assert admin.get(f"{PATH}/all").json == [again.json]
    assert len(admin.get("/admin/events?type=notification.sent").json) == 1
    changes: list[dict[str, Any]] = [
        *({"title": "x"}, {"message": "x"}, {"url": "/x"}, {"data": {"a": 1}}),
        *({"kind": "orders"}, {"channels": ["inapp"]}),
    ]
    for changed in changes:
        other = {"data": {**sent["data"], **changed}}
        assert admin.post(f"{PATH}/{query}", 409, json=other).json["code"] == "key_reused"
    assert admin.post(PATH, 409, json=sent).json["code"] == "key_reused"
    colleague = person("colleague", role="admin").api()
    colleague.post(f"{PATH}/{query}", 201, json=sent)
    assert count_notifications(app) == 2


def test_key_of_a_deleted_notification_is_kept_for_seven_days(
    app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    sender = person("root", role="admin")
    admin = sender.api()
    sent = admin.post(PATH, 201, json=body(key="a")).json
    admin.delete(f"{PATH}/{sent['id']}")
    assert admin.post(PATH, 410, json=body(key="a")).json["code"] == "notification_deleted"
    assert admin.post(PATH, 409, json=body(key="a", title="x")).json["code"] == "key_reused"
    runner = app.test_cli_runner()
    assert '"notification_keys":0' in runner.invoke(args=["frontdesk", "prune"]).output
    clock.step(days=7, seconds=1)
    again = sender.api().post(PATH, 201, json=body(key="a"))
    assert again.headers.get("Idempotent-Replayed") is None
    clock.step(days=7, seconds=1)
    assert '"notification_keys":1' in runner.invoke(args=["frontdesk", "prune"]).output


def test_failed_send_frees_its_key(admin: Api) -> None:
    wrong = {**body(key="a"), "account_receiver_ids": [4711]}
    admin.post(PATH, 422, json=wrong)
    admin.post(PATH, 201, json=body(key="a"))


@only_on("postgresql")
def test_of_two_sends_with_one_key_at_once_one_is_stored(
    app: Flask, admin: Api, ada: Person
) -> None:
    replayed: list[bool] = []

    def send(number: int) -> Callable[[], int]:
        def post() -> int:
            client = app.test_client()
            headers = {"Authorization": f"Bearer {admin.token}"}
            sent = body(key=f"round-{number}", channels=["inapp", "email"])
            response = client.post(f"{admin.prefix}{PATH}/", json=sent, headers=headers)
            replayed.append("Idempotent-Replayed" in response.headers)
            return response.status_code

        return post

    for number in range(200):
        assert run_concurrently(send(number), send(number)) == [201, 201]
    assert replayed.count(True) == replayed.count(False) == 200
    assert count_notifications(app) == 200
    items = [item["notification_id"] for item in ada.api().get("/notifications/?limit=500").json]
    assert len(items) == len(set(items)) == 200
