"""Lists that are read from a streaming replica: which ones, by whom, and while it is away."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, insert, select, text, update

from app import Frontdesk, blueprints
from app.accounts.account import Account
from app.accounts.service import Accounts
from app.auth.decorators import active_account_required
from app.broadcasts import counts
from app.core.config.environment import SettingsError
from app.core.config.settings import CoreSettings
from app.core.context import find_context, service
from app.core.db.transaction import transaction
from app.core.errors import SetupError
from app.core.replica import RETRY_SECONDS, WriteOnReplica
from app.core.replica_lag import CHECK_SECONDS
from app.core.web.replicas import reads_replica
from app.notifications.inbox import Inbox
from app.notifications.models import InboxItem, Notification
from app.testing.client import Api
from app.workspaces.members import Members
from app.workspaces.service import Workspaces

from ..conftest import SECRET, Backend, MakeApp, close_connections, only_on
from ..rigs.certificates import Authority
from ..rigs.clusters import postgres_cluster
from ..rigs.hosts import HostSettings, plain_app
from ..rigs.poolers import pgbouncer
from ..rigs.replicas import Pair, ReplicatedApp, replicated_database
from ..rigs.servers import gunicorn_server
from ..rigs.tcp_proxy import TcpProxy
from ..rigs.traffic import Client, migrate_with_accounts, sign_in_clients, traffic

pytestmark = only_on("postgresql")
# Longer than the tests: the replica is never too far behind.
NO_LIMIT = "600"


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with replicated_database() as servers:
        yield servers


Make = Callable[..., ReplicatedApp]


@pytest.fixture
def make(pair: Pair, make_app: MakeApp) -> Iterator[Make]:
    """Create the service with the replica: `make(CORE__DATABASE_READ_LAG="1")`."""
    created: list[ReplicatedApp] = []

    def create(**environment: str) -> ReplicatedApp:
        settings = {
            "CORE__DATABASE_URL": pair.primary.url,
            "CORE__DATABASE_READ_URL": pair.replica.url,
            "CORE__DATABASE_READ_LAG": NO_LIMIT,
            "CORE__KEYSTORE": "database",
            **environment,
        }
        made = ReplicatedApp(make_app(**settings))
        created.append(made)
        return made

    yield create
    for each in created:
        each.close()


_NUMBERS = iter(range(10**6))


def unique(name: str) -> str:
    return f"{name}{next(_NUMBERS)}"


def titles(client: Api, path: str = "/notifications/") -> list[str]:
    return [item["title"] for item in client.get(path).json]


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until, "not in time"
        time.sleep(0.1)


def test_lists_are_read_from_the_replica_and_accounts_from_the_primary(
    pair: Pair, make: Make
) -> None:
    made = make()
    boss, ada = (made.person(unique(name), role="admin") for name in ("boss", "ada"))
    with made.app.app_context():
        team = service(Workspaces).create(service(Accounts).get(boss.email), "Team", unique("t"))
    slug, workspace = team.workspace.slug, team.workspace
    client = made.client(boss)
    lists = (
        "/notifications/",
        "/admin/notifications/all",
        "/admin/accounts/",
        f"/admin/accounts/?search={ada.email}&sort=email",
        "/admin/events",
        f"/admin/accounts/{boss.id}/events",
        "/account/events",
        f"/workspaces/{slug}/members",
        f"/workspaces/{slug}/events",
    )

    def read() -> list[Any]:
        return [client.get(path).json for path in lists]

    with pair.paused():
        before = read()
        made.broadcast(boss, "Not yet on the replica")
        ada.change(phone="+4915112345678")
        boss.change(phone="+4915112345679")
        made.person(unique("new"))
        with made.app.app_context():
            service(Members).put(workspace, ada.email, "member", "active")
        assert read() == before
        assert client.get("/account").json["phone"] == "+4915112345679"
    after = read()
    changed = [path for path, old, new in zip(lists, before, after, strict=True) if old != new]
    assert changed == list(lists)
    assert made.reasons == []


def test_pages_of_the_console_show_lists_of_the_replica(pair: Pair, make: Make) -> None:
    made = make()
    boss = made.person(unique("boss"), role="admin")
    with made.app.app_context():
        team = service(Workspaces).create(service(Accounts).get(boss.email), "Team", unique("t"))
    slug, workspace = team.workspace.slug, team.workspace
    pages = Api(made.app, prefix="", token=made.client(boss).token)

    def shows(path: str, text: str) -> bool:
        return text in pages.get(path).response.text

    with pair.paused():
        title, new = unique("Page "), made.person(unique("new"))
        made.broadcast(boss, title)
        with made.app.app_context():
            service(Members).put(workspace, new.email, "member", "active")
        boss.change(phone="+4915112345678")
        lists = {
            "/dashboard": title,
            "/dashboard/older?before=1000000": title,
            "/admin/broadcasts": title,
            "/admin/accounts": new.email,
            f"/workspaces/{slug}": new.email,
            f"/workspaces/{slug}/activity": new.email,
        }
        assert [path for path, text in lists.items() if shows(path, text)] == []
    assert [path for path, text in lists.items() if not shows(path, text)] == []
    assert made.reasons == []


def test_callers_see_their_own_writes_at_once_from_every_server(pair: Pair, make: Make) -> None:
    made, other_server = make(), make()
    boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
    reader, writer = made.client(ada), made.client(boss)
    with pair.paused():
        title = unique("Own ")
        data = {"title": title, "message": "Until Monday.", "channels": ["inapp"]}
        writer.post("/admin/notifications/", 201, json={"data": data})
        assert title in titles(writer, "/admin/notifications/all")
        elsewhere = Api(other_server.app, token=writer.token)
        assert title in titles(elsewhere, "/admin/notifications/all")
        assert title not in titles(reader)
    assert title in titles(reader)
    assert set(made.reasons) == set(other_server.reasons) == {"recent_write"}


def test_writers_read_from_the_replica_again_after_the_limit(make: Make) -> None:
    made = make(CORE__DATABASE_READ_LAG="1")
    ada = made.client(made.person(unique("ada")))
    ada.patch("/notifications/mark-all?status=true")

    def reads_replica_again() -> bool:
        made.reasons.clear()
        ada.get("/notifications/")
        return made.reasons == []

    assert not reads_replica_again()
    wait_until(reads_replica_again)


def test_reads_and_rejected_writes_do_not_count_as_writes(make: Make) -> None:
    made = make()
    ada = made.client(made.person(unique("ada")))
    ada.get("/account")
    ada.delete("/notifications/1", 404)
    ada.get("/notifications/")
    assert made.reasons == []


def test_changes_of_others_appear_after_the_delay_of_the_replica(pair: Pair, make: Make) -> None:
    made = make()
    boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
    reader = made.client(ada)
    with pair.delayed("3s"):
        title = unique("Later ")
        made.broadcast(boss, title)
        assert title not in titles(reader)
        wait_until(lambda: title in titles(reader))
    assert made.reasons == []


def test_replica_with_a_delay_over_the_limit_is_not_read(pair: Pair, make: Make) -> None:
    made = make(CORE__DATABASE_READ_LAG="1")
    boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
    reader = made.client(ada)
    with pair.delayed("4s"):
        title = unique("Now ")
        made.broadcast(boss, title)
        time.sleep(1.2)
        assert title in titles(reader)
    assert set(made.reasons) == {"lag"}


def test_paused_replica_is_not_read_after_the_limit_until_it_catches_up(
    pair: Pair, make: Make, capfd: pytest.CaptureFixture[str]
) -> None:
    made = make(CORE__DATABASE_READ_LAG="1")
    boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
    reader = made.client(ada)
    with pair.paused():
        reader.get("/notifications/")
        assert made.reasons == []
        title = unique("Paused ")
        made.broadcast(boss, title)
        time.sleep(1.2)
        assert title in titles(reader)
        assert title in titles(reader)
        assert made.reasons == ["lag", "lag"]

    def reads_replica_again() -> bool:
        made.reasons.clear()
        return title in titles(reader) and made.reasons == []

    wait_until(reads_replica_again)
    assert len(made.failovers) == 1
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [line["message"] for line in lines if line["logger"].endswith("replica")] == [
        "The read replica is too far behind: lists are read from the primary",
        "Lists are read from the read replica again",
    ]


def test_idle_primary_is_no_lag(pair: Pair, make: Make) -> None:
    made = make(CORE__DATABASE_READ_LAG="1")
    ada = made.client(made.person(unique("ada")))
    pair.catch_up()
    time.sleep(2.5)
    ada.get("/notifications/")
    assert made.reasons == []
    with made.app.app_context():
        assert made.replica.lag() == 0.0


def test_change_that_is_replayed_a_moment_later_is_no_lag(pair: Pair, make: Make) -> None:
    made = make(CORE__DATABASE_READ_LAG="1")
    boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
    reader = made.client(ada)
    with pair.delayed("120ms"):
        time.sleep(2.5)
        title = unique("At once ")
        made.broadcast(boss, title)
        assert title in titles(reader)
    assert made.reasons == []


def test_killed_replica_is_replaced_by_the_primary_until_it_runs_again(
    pair: Pair, make: Make
) -> None:
    made = make()
    ada = made.client(made.person(unique("ada")))
    ada.get("/notifications/")
    assert made.reasons == []
    pair.replica.stop("immediate")
    try:
        ada.get("/notifications/")
        ada.get("/notifications/")
        assert made.reasons == ["unreachable", "unreachable"]
    finally:
        pair.replica.start()

    def reads_replica_again() -> bool:
        made.reasons.clear()
        ada.get("/notifications/")
        return made.reasons == []

    wait_until(reads_replica_again)
    assert len(made.failovers) == 1


def test_view_without_a_query_does_not_end_the_outage_of_the_replica(
    pair: Pair, make: Make
) -> None:
    made = make()
    ada = made.client(made.person(unique("ada")))
    view = reads_replica(lambda: None)
    pair.replica.stop("immediate")
    try:
        ada.get("/notifications/")
        time.sleep(RETRY_SECONDS + 0.1)
        with made.app.test_request_context():
            view()
        ada.get("/notifications/")
    finally:
        pair.replica.start()
    assert made.reasons == ["unreachable", "unreachable"]
    assert len(made.failovers) == 1


def test_one_request_notices_that_all_idle_connections_to_the_replica_are_lost(
    pair: Pair, make: Make
) -> None:
    made = make()
    ada = made.client(made.person(unique("ada")))

    def connect_four_times() -> None:
        with made.app.app_context(), ExitStack() as connections:
            for _ in range(4):
                connections.enter_context(made.replica.engine.connect())

    connect_four_times()
    pair.replica.stop("immediate")
    pair.replica.start()
    # The next request asks the server for its position again.
    time.sleep(CHECK_SECONDS + 0.1)
    ada.get("/notifications/")
    assert len(made.reasons) == 1
    connect_four_times()


def test_request_whose_connection_to_the_primary_is_lost_gets_503(pair: Pair, make: Make) -> None:
    made = make()

    @reads_replica
    def read_list() -> str:
        return str(find_context().session.scalar(select(Notification.id).limit(1)))

    @made.app.get("/lost")
    def lost() -> str:
        pid = find_context().session.scalar(select(func.pg_backend_pid()))
        pair.primary.execute(f"SELECT pg_terminate_backend({pid}, 5000)")
        return read_list()

    assert made.app.test_client().get("/lost").status_code == 503


def test_silent_replica_is_replaced_by_the_primary(pair: Pair, make: Make) -> None:
    proxy = TcpProxy("127.0.0.1", pair.replica.port)
    url = pair.replica.url.replace(str(pair.replica.port), str(proxy.port))
    made = make(CORE__DATABASE_READ_URL=url)
    ada = made.client(made.person(unique("ada")))
    try:
        ada.get("/notifications/")
        assert made.reasons == []
        proxy.silent = True
        for _ in range(3):
            ada.get("/notifications/")
        assert made.reasons == ["unreachable"] * 3
        proxy.restore()

        def reads_replica_again() -> bool:
            made.reasons.clear()
            ada.get("/notifications/")
            return made.reasons == []

        wait_until(reads_replica_again)
    finally:
        made.close()
        proxy.cut()


def test_second_host_of_the_url_is_read_while_the_first_is_away(pair: Pair, make: Make) -> None:
    hosts = f"127.0.0.1:1,127.0.0.1:{pair.replica.port}"
    url = f"postgresql://postgres:secret@{hosts}/postgres?target_session_attrs=prefer-standby"
    made = make(CORE__DATABASE_READ_URL=url)
    boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
    reader = made.client(ada)
    with pair.paused():
        title = unique("Hosts ")
        made.broadcast(boss, title)
        assert title not in titles(reader)
    assert made.reasons == []


def test_second_standby_of_the_url_is_read_while_the_first_is_killed(
    pair: Pair, make: Make
) -> None:
    with postgres_cluster(of=pair.primary) as second:
        hosts = f"127.0.0.1:{pair.replica.port},127.0.0.1:{second.port}"
        url = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=prefer-standby"
        made = make(CORE__DATABASE_READ_URL=url)
        boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
        reader = made.client(ada)
        reader.get("/notifications/")
        pair.primary.wait_for_replay(second)
        second.pause_replay()
        pair.replica.stop("immediate")
        try:
            reader.get("/notifications/")
            assert made.reasons == ["unreachable"]
            made.broadcast(boss, title := unique("Second "))
            wait_until(lambda: title not in titles(reader))
        finally:
            pair.replica.start()
            made.close()


@pytest.mark.parametrize("mode", ["transaction", "session"])
def test_replica_is_read_through_a_pooler(pair: Pair, make: Make, mode: str) -> None:
    with pgbouncer(pair.replica.url, mode) as url:
        made = make(CORE__DATABASE_READ_URL=url)
        boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
        reader = made.client(ada)
        with pair.paused():
            made.broadcast(boss, title := unique("Pooled "))
            assert [title in titles(reader) for _ in range(10)] == [False] * 10
        assert title in titles(reader)
        assert made.reasons == []
        assert doctor(made.app) == []
        made.close()


def test_replica_is_read_over_tls(pair: Pair, make: Make, tmp_path: Path) -> None:
    authority, port = Authority(), pair.replica.port
    trusted = tmp_path / "authority.pem"
    trusted.write_bytes(authority.certificate)
    url = f"postgresql://postgres@localhost:{port}/postgres?sslmode=verify-full&sslrootcert="
    made = make(CORE__DATABASE_READ_URL=f"{url}{trusted}")
    reader = made.client(made.person(unique("ada")))
    with pair.replica.tls(authority.issue("localhost")):
        pair.catch_up()
        reader.get("/notifications/")
        assert made.reasons == []
        with made.app.app_context(), made.replica.engine.connect() as connection:
            query = text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            assert connection.scalar(query) is True
        trusted.write_bytes(Authority().certificate)
        other = make(CORE__DATABASE_READ_URL=f"{url}{trusted}")
        Api(other.app, token=reader.token).get("/notifications/")
        assert other.reasons == ["unreachable"]


def test_server_that_is_not_a_standby_is_not_read(pair: Pair, make: Make) -> None:
    made = make(CORE__DATABASE_READ_URL=pair.primary.url)
    ada = made.client(made.person(unique("ada")))
    ada.get("/notifications/")
    assert made.reasons == ["promoted"]


def test_list_is_read_from_the_primary_if_the_replica_lacks_a_migration(
    pair: Pair, make: Make
) -> None:
    made = make()
    ada = made.client(made.person(unique("ada")))
    pair.primary.execute("ALTER TABLE frontdesk_inbox RENAME COLUMN is_read TO was_read")
    try:
        pair.catch_up()
        with pair.paused():
            pair.primary.execute("ALTER TABLE frontdesk_inbox RENAME COLUMN was_read TO is_read")
            ada.get("/notifications/")
            assert made.reasons == ["schema"]
    finally:
        pair.catch_up()


def test_account_that_the_replica_lacks_is_found_on_the_primary(pair: Pair, make: Make) -> None:
    made = make()
    boss = made.client(made.person(unique("boss"), role="admin"))
    with pair.paused():
        new = made.person(unique("new"))
        assert boss.get(f"/admin/accounts/{new.id}/events").json != []
    assert made.reasons == ["not_found"]


@pytest.mark.usefixtures("backend")
def test_replica_is_not_read_for_authentication() -> None:
    with pytest.raises(SetupError, match="write @reads_replica below them"):
        reads_replica(active_account_required(lambda: None))


def test_revoked_account_is_rejected_at_once_although_the_replica_still_has_it(
    pair: Pair, make: Make
) -> None:
    made = make()
    ada = made.person(unique("ada"), role="admin")
    client = made.client(ada)
    with pair.paused():
        ada.change(role="user")
        client.get("/admin/accounts/", 403)
        client.get("/notifications/")
        ada.change(password="another plum tractor violin")
        client.get("/notifications/", 401)
    assert made.reasons == []


@pytest.mark.parametrize(
    "write",
    [
        lambda session, person: service(Inbox).mark_all(person.id, True),
        lambda session, person: session.execute(insert(Notification).values(title="x")),
        lambda session, person: session.execute(update(InboxItem).values(is_read=True)),
        lambda session, person: session.add(Notification(title="x")) or session.flush(),
        lambda session, person: session.commit(),
        lambda session, person: session.execute(select(InboxItem).with_for_update()),
        lambda session, person: transaction(session).__enter__(),
    ],
)
def test_marked_view_that_writes_fails(make: Make, write: Callable[[Any, Any], object]) -> None:
    made = make()
    ada = made.person(unique("ada"))

    @reads_replica
    def view() -> None:
        write(find_context().session, ada)

    with made.app.test_request_context(), pytest.raises(WriteOnReplica):
        view()


def test_counts_of_a_large_broadcast_are_stored_after_they_are_read_from_the_replica(
    pair: Pair, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "LARGE", 0)
    monkeypatch.setattr(counts, "VALID_SECONDS", 0.0)
    made = make()
    boss = made.person(unique("boss"), role="admin")
    client = made.client(boss)
    made.broadcast(boss, unique("Large "))
    pair.catch_up()
    [shown] = client.get("/admin/notifications/all?limit=1").json
    assert made.reasons == []
    with made.app.app_context():
        query = select(Notification.counts).where(Notification.id == shown["id"])
        stored: Any = find_context().session.scalar(query)
    assert stored["read"] == shown["read"] == 0


def test_callers_read_from_the_primary_while_the_state_store_is_away(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(CORE__KEYSTORE="redis", CORE__REDIS_URL="redis://127.0.0.1:1/0")
    ada = made.client(made.person(unique("ada")))
    ada.get("/notifications/")
    assert made.reasons == ["state_store"]


def test_metrics_show_the_lag_the_fallbacks_and_the_failovers(pair: Pair, make: Make) -> None:
    made = make(CORE__METRICS_ENABLED="true", CORE__DATABASE_READ_LAG="1")
    ada = made.client(made.person(unique("ada")))
    client = made.app.test_client()
    pair.catch_up()
    ada.get("/notifications/")
    assert "frontdesk_replica_lag_seconds 0.0" in client.get("/metrics").text
    with pair.paused():
        made.person(unique("new"))
        time.sleep(1.2)
        ada.get("/notifications/")
        lines = client.get("/metrics").text.splitlines()
    assert 'frontdesk_replica_fallbacks_total{reason="lag"} 1.0' in lines
    assert "frontdesk_replica_failovers_total 1.0" in lines
    for state, count in (("limit", 16), ("open", 0), ("in_use", 0)):
        assert f'frontdesk_pool_connections{{state="replica_{state}"}} {count}.0' in lines
    [lag] = [line for line in lines if line.startswith("frontdesk_replica_lag_seconds ")]
    assert float(lag.split()[1]) > 1.0


def doctor(app: Flask) -> list[tuple[str, str]]:
    result = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    report = json.loads(result.stdout.splitlines()[-1])
    found = [each for each in report["findings"] if each["check"] == "replica"]
    return [(each["level"], each["message"]) for each in found]


def test_doctor_accepts_a_replica_and_reports_its_lag(pair: Pair, make: Make) -> None:
    made = make(CORE__DATABASE_READ_LAG="1")
    pair.catch_up()
    assert doctor(made.app) == []
    with pair.paused():
        made.person(unique("new"))
        time.sleep(1.2)
        [(level, message)] = doctor(made.app)
    assert level == "warning"
    assert "more than CORE__DATABASE_READ_LAG (1 s) behind" in message


def test_doctor_reports_an_unreachable_replica_without_its_password(make: Make) -> None:
    url = "postgresql://postgres:hidden@127.0.0.1:1/postgres?password=hidden&sslpassword=hidden"
    [(level, message)] = doctor(make(CORE__DATABASE_READ_URL=url).app)
    assert level == "fault"
    assert "cannot be reached" in message
    assert "hidden" not in message


def test_doctor_reports_a_server_that_is_not_a_standby(pair: Pair, make: Make) -> None:
    [(_, message)] = doctor(make(CORE__DATABASE_READ_URL=pair.primary.url).app)
    assert "not a standby" in message


def test_doctor_reports_a_server_of_another_cluster(make: Make, backend: Backend) -> None:
    [(level, message)] = doctor(make(CORE__DATABASE_READ_URL=backend.database_url).app)
    assert level == "fault"
    assert "another PostgreSQL cluster" in message


def test_doctor_reports_a_state_store_that_workers_do_not_share(make: Make) -> None:
    messages = [message for _, message in doctor(make(CORE__KEYSTORE="memory").app)]
    assert [message for message in messages if "state store is in memory" in message] != []


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"CORE__DATABASE_READ_URL": "sqlite:///copy.db"}, "must begin with postgresql+psycopg://"),
        (
            {
                "CORE__DATABASE_URL": "sqlite:///main.db",
                "CORE__DATABASE_READ_URL": "postgresql://u:secret@127.0.0.1/x",
            },
            "needs PostgreSQL as the database",
        ),
        ({"CORE__DATABASE_READ_LAG": "0"}, "CORE__DATABASE_READ_LAG"),
    ],
)
def test_settings_without_a_replica_of_postgresql_abort_the_start(
    make_app: MakeApp, settings: dict[str, str], sentence: str
) -> None:
    with pytest.raises(SettingsError) as error:
        make_app(**settings)
    assert sentence in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.usefixtures("backend")
def test_clients_get_no_error_while_the_replica_is_killed_and_started_again(
    pair: Pair, tmp_path: Path
) -> None:
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": pair.primary.url,
        "CORE__DATABASE_READ_URL": pair.replica.url,
        "CORE__KEYSTORE": "database",
        "AUTH__BCRYPT_ROUNDS": "4",
        "TASKS__CREATE_LIMIT": "1000000 per minute",
        "WEB_CONCURRENCY": "2",
    }
    migrate_with_accounts(pair.primary.url)
    with gunicorn_server(settings, tmp_path / "log") as server:
        active, revoked = sign_in_clients(server.port)
        inbox = Client(server.port, active.token)
        with traffic(
            server.port, active, revoked, inbox=lambda: inbox.ask("GET", "/notifications/")[0]
        ) as ledger:
            # The client has signed in, and reads from the primary for five seconds.
            time.sleep(7)
            pair.replica.stop("immediate")
            time.sleep(1.5)
            pair.replica.start()
            time.sleep(2.5)
    assert ledger.statuses() == {200, 201, 401}
    assert ledger.statuses("inbox") == {200}
    log = (tmp_path / "log").read_text()
    assert "The read replica is unreachable: lists are read from the primary" in log
    assert "Lists are read from the read replica again" in log
    assert "Unhandled" not in log


@pytest.mark.usefixtures("backend")
def test_lists_of_an_application_are_read_from_the_replica(pair: Pair) -> None:
    host, db = plain_app(pair.primary.url)
    core = CoreSettings(DATABASE_READ_URL=pair.replica.url, DATABASE_READ_LAG=600)
    settings = HostSettings()
    settings.CORE = core
    Frontdesk().init_app(host, db, settings=settings, account_model=Account)
    for blueprint, prefix in (
        (blueprints.notifications, "/inbox"),
        (blueprints.admin_notifications, "/broadcasts"),
    ):
        host.register_blueprint(blueprint, url_prefix=prefix)
    made = ReplicatedApp(host)
    boss, ada = made.person(unique("boss"), role="admin"), made.person(unique("ada"))
    writer, reader = (
        Api(host, prefix="", token=made.client(person).token) for person in (boss, ada)
    )
    try:
        with pair.paused():
            title = unique("Host ")
            data = {"title": title, "message": "Until Monday.", "channels": ["inapp"]}
            writer.post("/broadcasts/", 201, json={"data": data})
            assert title in titles(writer, "/broadcasts/all")
            assert title not in titles(reader, "/inbox/")
        assert title in titles(reader, "/inbox/")
        assert made.reasons == ["recent_write"]
    finally:
        made.close()
        close_connections(host)
