"""deploy/compose/high-availability.yaml, checked like compose.yaml, and its scripts with real
servers."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
import yaml
from flask import Flask

from app.core.config.environment import load
from config import Settings

from ..rigs.backends import free_port, wait_for_port
from ..rigs.clusters import Cluster, as_postgres, postgres_cluster, postgres_programs
from ..rigs.processes import within
from ..rigs.servers import ROOT, bare_environment
from .test_compose import compose_services
from .test_deployment import FULL_VERSION, assert_command_exists

FOLDER = ROOT / "deploy" / "compose"
NAME = "deploy/compose/high-availability.yaml"
NODES = {"web": 2, "worker": 2, "postgres": 2, "redis": 3, "sentinel": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compose")


@pytest.fixture(scope="module")
def services(folder: Path) -> Any:
    return compose_services(NAME, folder)


def test_every_kind_of_server_has_a_second_one(services: Any) -> None:
    for name, count in NODES.items():
        assert {f"{name}{number}" for number in range(1, count + 1)} <= services.keys()
        assert f"{name}{count + 1}" not in services


def test_settings_of_the_service_are_accepted(
    services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = services["web1"]["environment"]
    for name in ("web2", "worker1", "worker2"):
        assert services[name]["environment"] == environment
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = load(Settings)
    assert settings.CORE.TRUSTED_PROXIES == 1
    for url, nodes in (
        (settings.CORE.DATABASE_URL, ("postgres1", "postgres2")),
        (settings.CORE.DATABASE_READ_URL, ("postgres1", "postgres2")),
        (settings.CORE.REDIS_URL, ("sentinel1", "sentinel2", "sentinel3")),
        (settings.CORE.CELERY_BROKER_URL, ("rabbitmq",)),
    ):
        assert all(f"{node}:" in str(_plain(url)) and node in services for node in nodes)


def _plain(value: Any) -> object:
    return value.get_secret_value() if hasattr(value, "get_secret_value") else value


def test_commands_exist(services: Any, app: Flask) -> None:
    for name in ("migrate", "worker1", "worker2"):
        command = services[name]["command"]
        assert_command_exists(command.removeprefix("sh -c ").strip('"'), app.cli)


def test_images_have_full_versions_and_those_of_the_other_file(services: Any) -> None:
    images = {service["image"] for service in services.values()} - {"frontdesk"}
    assert all(FULL_VERSION.fullmatch(image) for image in images)
    other = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"].values()
    assert {service["image"] for service in other} - {"frontdesk"} < images


def test_every_server_restarts_and_has_a_health_check(services: Any) -> None:
    without = {
        name
        for name, service in services.items()
        if name != "migrate" and service["restart"] != "unless-stopped"
    }
    assert without == set()
    # The image of the service and of the mail catcher have one; a worker has no port.
    unchecked = {name for name, service in services.items() if "healthcheck" not in service}
    assert unchecked == {"migrate", "web1", "web2", "mail"}


def test_mounted_files_exist(folder: Path, services: Any) -> None:
    mounted = {
        volume.split(":")[0]
        for service in services.values()
        for volume in service.get("volumes", [])
        if volume.startswith(str(folder))
    }
    assert len(mounted) == 6
    for path in mounted:
        assert (ROOT / Path(path).relative_to(folder)).is_file(), path


def test_nginx_sends_requests_to_both_servers(tmp_path: Path, services: Any) -> None:
    target = tmp_path / "default.conf"
    command = services["nginx"]["command"].removeprefix("sh -c ").strip('"')
    change = command.partition(" && ")[0]
    change = change.replace("/srv/nginx.conf", str(ROOT / "deploy" / "proxies" / "nginx.conf"))
    change = change.replace("/etc/nginx/conf.d/default.conf", str(target))
    subprocess.run(["sh", "-c", change], check=True)
    written = target.read_text()
    options = "max_fails=1 fail_timeout=2s;"
    assert re.findall(r"^    server (\S+) (.*)$", written, re.MULTILINE) == [
        ("web1:8000", options),
        ("web2:8000", options),
    ]


@contextmanager
def running(script: str, folder: Path, **environment: str) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        ["sh", "-c", script],
        cwd=folder,
        env=bare_environment(**environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait(timeout=10)


def _accepts_writes(client: Any) -> bool:
    try:
        return bool(client.set("a", "1"))
    except redis.ResponseError:
        return False


def test_redis_scripts_start_a_master_a_replica_and_a_sentinel(tmp_path: Path) -> None:
    ports = [free_port() for _ in range(3)]
    master, replica, watcher = ports

    def script(name: str, port: int) -> str:
        text = (FOLDER / name).read_text().replace("redis1 6379", f"localhost {master}")
        text = text.replace("port 26379", f"port {port}")
        options = f"--port {port} --bind 127.0.0.1"
        return text.replace('/redis.conf"', f'/redis.conf" {options}')

    with (
        running(script("redis.sh", master), tmp_path / "1", NAME="redis1", REDISCLI_AUTH="r"),
        running(script("redis.sh", replica), tmp_path / "2", NAME="localhost", REDISCLI_AUTH="r"),
    ):
        wait_for_port(master)
        wait_for_port(replica)
        with (
            redis.Redis(port=master, password="r", decode_responses=True) as client,
            running(script("sentinel.sh", watcher), tmp_path / "3", NAME="s", REDISCLI_AUTH="r"),
        ):
            within(20, lambda: client.info("replication")["connected_slaves"] == 1)
            # The master accepts writes once the replica has reported its position.
            within(20, lambda: _accepts_writes(client))
            wait_for_port(watcher)
            with redis.Redis(port=watcher) as stranger, pytest.raises(redis.AuthenticationError):
                stranger.execute_command("SENTINEL", "FAILOVER", "mymaster")
            with redis.Redis(port=watcher, password="r", decode_responses=True) as sentinel:
                states: Any = sentinel.sentinel_masters
                within(20, lambda: states()["mymaster"]["num-slaves"] == 1)
                assert states()["mymaster"]["ip"] == "localhost"


def test_sentinel_with_a_file_from_before_requires_the_password(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "sentinel.conf").write_text(f"port {port}\n")
    script = (FOLDER / "sentinel.sh").read_text()
    with running(script, tmp_path, NAME="s", REDISCLI_AUTH="r"):
        wait_for_port(port)
        with redis.Redis(port=port) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
    with running(script, tmp_path, NAME="s", REDISCLI_AUTH="r"):
        wait_for_port(port)
        with redis.Redis(port=port, password="r") as client:
            assert client.ping()


def _environment(primary: Cluster) -> dict[str, str]:
    # The image's entrypoint starts the server; here the copy is only made.
    entrypoint = primary.folder / "docker-entrypoint.sh"
    entrypoint.write_text('#!/bin/sh\necho "$@" >"$PGDATA/started"\n')
    entrypoint.chmod(0o755)
    return {
        "PATH": f"{primary.folder}:{postgres_programs()}:/usr/bin:/bin",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(primary.port),
        "POSTGRES_USER": "postgres",
        "POSTGRES_DB": "postgres",
        "POSTGRES_PASSWORD": "q",
    }


def test_postgresql_scripts_make_a_replica_for_which_commits_wait(tmp_path: Path) -> None:
    with postgres_cluster() as primary:
        common = _environment(primary)
        _run_as_postgres(primary, "replication.sh", common | {"PGDATA": str(primary.data)})
        assert "host replication postgres samenet" in (primary.data / "pg_hba.conf").read_text()
        copy = primary.folder / "copy"
        replica = {"PGDATA": str(copy), "NAME": "postgres2", "PRIMARY": "127.0.0.1"}
        _run_as_postgres(primary, "postgres.sh", common | replica)
        assert (copy / "started").read_text().startswith("postgres ")
        assert (copy / "standby.signal").exists()
        settings = (copy / "postgresql.auto.conf").read_text()
        assert "password=q" in settings
        assert "synchronous_standby_names = '*'" in settings
        url = primary.url.replace("+psycopg", "")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT pg_reload_conf()")
            within(
                10,
                lambda: connection.execute("SHOW synchronous_standby_names").fetchone() == ("*",),
            )


def test_replica_copies_the_primary_again_after_an_interrupted_copy() -> None:
    with postgres_cluster() as primary:
        data = primary.folder / "copy"
        environment = _environment(primary) | {
            "PGDATA": str(data),
            "NAME": "postgres2",
            "PRIMARY": "127.0.0.1",
        }
        # A copy that takes minutes.
        slow = primary.folder / "pg_basebackup"
        slow.write_text(f'#!/bin/sh\nexec {postgres_programs()}/pg_basebackup -r 32k "$@"\n')
        slow.chmod(0o755)
        process = subprocess.Popen(
            _as_postgres(primary, "postgres.sh"),
            cwd=primary.folder,
            env=environment,
            start_new_session=True,
        )
        try:
            within(20, lambda: any(path.is_file() for path in data.rglob("*")))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=10)
        slow.unlink()
        # A script that was killed later had moved a part.
        moved = f"mkdir {data}/base && touch {data}/base/part"
        subprocess.run([*as_postgres(primary.folder), "sh", "-c", moved], check=True)
        _run_as_postgres(primary, "postgres.sh", environment)
        command = [f"{postgres_programs()}/pg_verifybackup", "--ignore", "started", str(data)]
        verified = subprocess.run(
            [*as_postgres(primary.folder), *command], capture_output=True, text=True, check=False
        )
        assert verified.returncode == 0, verified.stderr


def _as_postgres(primary: Cluster, script: str) -> list[str]:
    # The user of PostgreSQL cannot enter the folders of the checkout.
    copied = primary.folder / script
    shutil.copy(FOLDER / script, copied)
    return [*as_postgres(primary.folder), "sh", str(copied)]


def _run_as_postgres(primary: Cluster, script: str, environment: dict[str, str]) -> None:
    subprocess.run(
        _as_postgres(primary, script), cwd=primary.folder, env=environment, check=True, timeout=60
    )
