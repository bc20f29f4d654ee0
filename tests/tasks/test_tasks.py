from __future__ import annotations

import pytest

from app.core.keystore import Keystore, KeystoreUnavailable
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, only_on
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently


def test_task_is_created_with_defaults(api: Api) -> None:
    task = api.post("/tasks/", 201, json={"title": "Water the plants"}).json
    assert task == {
        "id": 1,
        "title": "Water the plants",
        "done": False,
        "priority": "normal",
        "owner": "anonymous",
    }


def test_owner_comes_from_the_header_and_not_the_body(api: Api) -> None:
    body = {"title": "x", "owner": "mallory"}
    task = api.post("/tasks/", 201, json=body, headers={"X-Owner": "ada"}).json
    assert task["owner"] == "ada"


def test_task_of_another_owner_is_not_found(api: Api) -> None:
    api.post("/tasks/", 201, json={"title": "hers"}, headers={"X-Owner": "ada"})
    assert api.get("/tasks/1", 404).detail == "Task not found"
    assert api.patch("/tasks/1", 404, json={"done": True}).detail == "Task not found"
    assert api.delete("/tasks/1", 404).detail == "Task not found"
    assert api.get("/tasks/").json == []
    assert len(api.get("/tasks/", headers={"X-Owner": "ada"}).json) == 1


def test_update_changes_only_sent_fields(api: Api) -> None:
    api.post("/tasks/", 201, json={"title": "x", "priority": "high"})
    task = api.patch("/tasks/1", json={"done": True}).json
    assert (task["done"], task["priority"], task["title"]) == (True, "high", "x")


def test_delete_returns_and_removes_the_task(api: Api) -> None:
    api.post("/tasks/", 201, json={"title": "x"})
    assert api.delete("/tasks/1").json["title"] == "x"
    api.get("/tasks/1", 404)


def test_only_one_concurrent_delete_succeeds(api: Api) -> None:
    api.post("/tasks/", 201, json={"title": "x"})
    assert run_concurrently(*[request(api, "DELETE", "/tasks/1")] * 6) == [200] + [404] * 5


def test_updates_during_a_delete_succeed_or_are_not_found(api: Api) -> None:
    api.post("/tasks/", 201, json={"title": "x"})
    change = request(api, "PATCH", "/tasks/1", json={"done": True})
    delete = request(api, "DELETE", "/tasks/1")
    statuses = run_concurrently(change, change, delete, change, change)
    assert set(statuses) <= {200, 404}
    api.get("/tasks/1", 404)


def test_id_of_a_deleted_task_is_not_reused(api: Api) -> None:
    api.post("/tasks/", 201, json={"title": "x"})
    api.delete("/tasks/1")
    assert api.post("/tasks/", 201, json={"title": "y"}).json["id"] == 2


def test_list_is_paginated(api: Api) -> None:
    for number in range(5):
        api.post("/tasks/", 201, json={"title": str(number)})
    tasks = api.get("/tasks/", query_string={"offset": 1, "limit": 2}).json
    assert [task["title"] for task in tasks] == ["1", "2"]


@for_each("query", ["limit=0", "limit=501", "offset=-1", "limit=1_0", "limit=٣"])
def test_page_out_of_bounds_is_rejected(api: Api, query: str) -> None:
    assert api.get(f"/tasks/?{query}", 422).faults == [f"query:{query.partition('=')[0]}"]


@for_each("task_id", ["0", "-1", "9223372036854775808", "9" * 40])
def test_unknown_id_is_not_found(api: Api, task_id: str) -> None:
    assert api.get(f"/tasks/{task_id}", 404).detail == "Task not found"


def test_all_validation_errors_are_returned(api: Api) -> None:
    response = api.post("/tasks/", 422, json={"title": "x\0", "done": "yes", "priority": "p" * 51})
    assert response.detail == "Validation error"
    assert response.faults == ["json:title", "json:done", "json:priority"]


def test_list_works_without_trailing_slash(api: Api) -> None:
    api.get("/tasks")
    api.post("/tasks", 201, json={"title": "x"})


def test_tasks_per_owner_are_limited(make_app: MakeApp) -> None:
    api = Api(make_app(TASKS__OWNER_LIMIT="2"))
    first, _ = (api.post("/tasks/", 201, json={"title": "x"}).json for _ in range(2))
    assert api.post("/tasks/", 409, json={"title": "x"}).json["code"] == "quota_reached"
    api.post("/tasks/", 201, json={"title": "x"}, headers={"X-Owner": "ada"})
    api.delete(f"/tasks/{first['id']}")
    api.post("/tasks/", 201, json={"title": "x"})


def test_owner_limit_is_exact_under_concurrency(make_app: MakeApp) -> None:
    create = request(Api(make_app(TASKS__OWNER_LIMIT="3")), "POST", "/tasks/", json={"title": "x"})
    assert run_concurrently(*[create] * 8) == [201] * 3 + [409] * 5


def test_tasks_can_be_disabled(make_app: MakeApp) -> None:
    api = Api(make_app(TASKS__ENABLED="false"))
    api.get("/tasks/", 404)
    assert not [path for path in api.get("/openapi.json").json["paths"] if "tasks" in path]


def create_as(api: Api, owner: str, status: int = 201, address: str = "198.51.100.7") -> Answer:
    return api.post(
        "/tasks/",
        status,
        json={"title": "x"},
        headers={"X-Owner": owner},
        environ_base={"REMOTE_ADDR": address},
    )


def test_new_owners_share_the_create_limit_of_their_ip_address(make_app: MakeApp) -> None:
    api = Api(make_app())
    for number in range(300):
        create_as(api, f"owner-{number}")
    rejected = create_as(api, "owner-300", 429)
    assert rejected.json["code"] == "too_many_tasks"
    assert 0 < int(rejected.headers["Retry-After"]) <= 60
    assert api.get("/tasks/", headers={"X-Owner": "owner-300"}).json == []
    create_as(api, "owner-300", address="198.51.100.8")


def test_one_ipv6_network_shares_the_create_limit(make_app: MakeApp) -> None:
    api = Api(make_app(TASKS__CREATE_LIMIT="2 per minute"))
    create_as(api, "a", address="2001:db8::1")
    create_as(api, "b", address="2001:db8::2")
    create_as(api, "c", 429, address="2001:db8::3")
    create_as(api, "c", address="2001:db8:0:1::1")


@only_on("sqlite")
def test_create_limit_ends_with_its_window(make_app: MakeApp, clock: SteppingClock) -> None:
    api = Api(make_app(TASKS__CREATE_LIMIT="1/minute;2/hour"))
    create_as(api, "a")
    create_as(api, "a", 429)
    clock.step(seconds=61)
    create_as(api, "a")
    clock.step(seconds=61)
    assert int(create_as(api, "a", 429).headers["Retry-After"]) > 3000


def test_create_limit_is_exact_for_parallel_requests(make_app: MakeApp) -> None:
    api = Api(make_app(TASKS__CREATE_LIMIT="3 per hour"))
    create = request(api, "POST", "/tasks/", json={"title": "x"})
    assert run_concurrently(*[create] * 8) == [201] * 3 + [429] * 5


def test_create_limit_is_a_quota_and_stays_on_without_rate_limits(make_app: MakeApp) -> None:
    api = Api(make_app(TASKS__CREATE_LIMIT="1/hour", AUTH__RATE_LIMITS_ENABLED="false"))
    create_as(api, "a")
    create_as(api, "b", 429)


@only_on("sqlite")
def test_no_task_is_created_while_the_state_store_is_unavailable(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app()
    keystore: Keystore = app.extensions["frontdesk"].keystore

    def fail(*_: object, **__: object) -> int:
        raise KeystoreUnavailable

    monkeypatch.setattr(keystore, "count", fail)
    rejected = create_as(Api(app), "a", 503)
    assert rejected.json["code"] == "keystore_unavailable"
    assert "Retry-After" in rejected.headers
    assert Api(app).get("/tasks/", headers={"X-Owner": "a"}).json == []
