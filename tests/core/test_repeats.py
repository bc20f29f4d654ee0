"""A request whose transaction PostgreSQL aborts is repeated if nothing has left the process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from threading import Barrier
from typing import Any

import pytest
from flask import Flask, after_this_request, request
from sqlalchemy import select, text, update
from sqlalchemy.event import listen

from app.core.context import Context, current_frontdesk, service
from app.core.db.transaction import after_commit, transaction
from app.core.web import repeats
from app.core.web.blueprint import Blueprint
from app.delivery.mail.one_off import OneOffMail
from app.delivery.message import Email
from app.tasks.models import Task
from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, only_on
from ..console.page_reader import PageReader, notice_of

FAIL = "DO $$ BEGIN RAISE EXCEPTION 'aborted' USING ERRCODE = '{}'; END $$"
SERIALIZATION, DEADLOCK, DIVISION = "40001", "40P01", "22012"

pytestmark = only_on("postgresql")
View = Callable[[], Any]


def mount(app: Flask, view: View) -> Api:
    """Mount a route of Frontdesk with a view, at any method."""
    blueprint = Blueprint("repeated", __name__)
    blueprint.add_url_rule("/repeated", "view", view, methods=["GET", "POST"])
    app.register_blueprint(blueprint, url_prefix="/api/v1")
    app.testing = False
    return Api(app)


def abort(times: int, state: str = SERIALIZATION) -> Callable[[], int]:
    """Return a function that stores a task and fails so often; it returns the number of calls."""
    calls = []

    def run() -> int:
        with transaction(current_frontdesk.session) as session:
            session.add(Task(title="x", done=False, priority="normal", owner="ada"))
            session.flush()
            calls.append(request.path)
            if len(calls) <= times:
                session.execute(text(FAIL.format(state)))
            after_commit(session, lambda: None)
        return len(calls)

    return run


def stored(app: Flask) -> int:
    with app.app_context():
        session = app.extensions["sqlalchemy"].session
        return len(session.execute(select(Task.id)).all())


@pytest.mark.parametrize("state", [SERIALIZATION, DEADLOCK])
@pytest.mark.parametrize("times", [1, repeats.REPEATS])
def test_aborted_request_succeeds_after_at_most_five_repeats(
    make_app: MakeApp, times: int, state: str
) -> None:
    app, run = make_app(), abort(times, state)
    response = mount(app, lambda: {"calls": run()}).post("/repeated")
    assert response.json == {"calls": times + 1}
    assert stored(app) == 1


def test_sixth_failure_is_503(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("app.core.web.repeats.time.sleep", pauses.append)
    app, run = make_app(), abort(99)
    response = mount(app, lambda: {"calls": run()}).post("/repeated", 503)
    assert response.headers["Retry-After"] == "1"
    assert stored(app) == 0
    lowest = [0.005, 0.01, 0.02, 0.04, 0.08]
    assert all(low <= pause <= 2 * low for low, pause in zip(lowest, pauses, strict=True))


def test_other_errors_are_not_repeated(make_app: MakeApp) -> None:
    app, run = make_app(), abort(1, DIVISION)
    mount(app, lambda: {"calls": run()}).post("/repeated", 500)
    assert stored(app) == 0


def use_once() -> None:
    current_frontdesk.keystore.add("once", "1", 60)


def take_code() -> None:
    current_frontdesk.keystore.take("code")


def send_email() -> None:
    email = Email("ada@example.com", "Hello", "Hello", "<p>Hello")
    service(OneOffMail).send_soon(email)  # type: ignore[type-abstract]


def commit() -> None:
    with transaction(current_frontdesk.session) as session:
        session.execute(text("SELECT 1"))


def notify_listener() -> None:
    current_frontdesk.actions.emit("account-logged-in", object(), current_frontdesk.session)


@pytest.mark.parametrize("effect", [use_once, take_code, send_email, commit, notify_listener])
def test_request_with_an_effect_is_not_repeated(make_app: MakeApp, effect: View) -> None:
    app, run, effects = make_app(), abort(1), []
    context: Context = app.extensions["frontdesk"]
    context.actions.on("account-logged-in", lambda *_: None)

    def view() -> dict[str, int]:
        effect()
        effects.append(1)
        return {"calls": run()}

    api = mount(app, view)
    api.post("/repeated", 503)
    assert effects == [1]
    # The next request is independent of it.
    assert api.post("/repeated").json == {"calls": 2}


def test_repeated_request_reads_the_same_body_and_starts_anew(make_app: MakeApp) -> None:
    app, run = make_app(), abort(2)

    def view() -> dict[str, object]:
        @after_this_request
        def add_cookie(response: Any) -> Any:
            response.headers.add("X-Attempt", "1")
            return response

        body = request.get_json(silent=True) or dict(request.form.lists())
        return {"body": body, "calls": run(), "id": request.headers.get("X-Request-ID")}

    api = mount(app, view)
    response = api.post("/repeated", json={"name": "Zoë"}, headers={"X-Request-ID": "same"})
    assert response.json == {"body": {"name": "Zoë"}, "calls": 3, "id": "same"}
    assert response.headers.getlist("X-Attempt") == ["1"]
    assert response.headers.getlist("X-Request-ID") == ["same"]
    run = abort(1)
    form = api.post("/repeated", data={"name": ["Zoë", "&="], "empty": ""})
    assert form.json is not None
    assert form.json["body"] == {"name": ["Zoë", "&="], "empty": [""]}


def test_request_with_files_is_not_repeated(make_app: MakeApp) -> None:
    run = abort(1)
    api = mount(make_app(), lambda: {"files": len(request.files), "calls": run()})
    api.post("/repeated", 503, data={"file": (BytesIO(b"x"), "x.txt")})


class LostClient(BytesIO):
    def readinto(self, *_: object) -> int:
        raise ConnectionResetError


def test_request_whose_body_cannot_be_read_is_not_repeated(make_app: MakeApp) -> None:
    run = abort(1)
    api = mount(make_app(), lambda: {"calls": run()})
    api.post("/repeated", 503, input_stream=LostClient(b"{}"))


def test_view_of_the_application_is_not_repeated(make_app: MakeApp) -> None:
    app, run = make_app(), abort(1)
    app.add_url_rule("/api/v1/own", "own", lambda: {"calls": run()})
    app.testing = False
    Api(app).get("/own", 503)


def test_both_requests_of_a_deadlock_succeed(make_app: MakeApp) -> None:
    app = make_app()
    with app.app_context(), transaction(app.extensions["sqlalchemy"].session) as session:
        tasks = [Task(title="x", done=False, priority="normal", owner="ada") for _ in "ab"]
        session.add_all(tasks)
        session.flush()
        ids = [task.id for task in tasks]
    both, attempts = Barrier(2), []

    def view() -> dict[str, str]:
        order = ids if request.args["order"] == "up" else ids[::-1]
        attempts.append(order)
        is_first = len(attempts) <= 2
        with transaction(current_frontdesk.session) as session:
            for task_id in order:
                session.execute(update(Task).where(Task.id == task_id).values(title=str(order)))
                if is_first and task_id == order[0]:
                    both.wait(10)
        return {}

    api = mount(app, view)
    with ThreadPoolExecutor(2) as pool:
        statuses = list(
            pool.map(lambda order: api.get(f"/repeated?order={order}").status, ("up", "down"))
        )
    assert statuses == [200, 200]
    assert len(attempts) == 3


def test_form_of_the_console_is_repeated(make_app: MakeApp, person: MakePerson) -> None:
    ada = person("ada")
    app = make_app()
    reader = PageReader(app, ada)
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
    aborted: list[str] = []

    def abort_first(_c: Any, _cursor: Any, sql: str, parameters: Any, *_: Any) -> tuple[str, Any]:
        if "INTO frontdesk_profiles" in sql and len(aborted) < 2:
            aborted.append(sql)
            return FAIL.format(DEADLOCK), {}
        return sql, parameters

    listen(engine, "before_cursor_execute", abort_first, retval=True)
    assert notice_of(reader.send("/profile/make", first_name="Ada", last_name="Lovelace"))
    assert len(aborted) == 2
    assert ada.api().get("/profiles").json["first_name"] == "Ada"
