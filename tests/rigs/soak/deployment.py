"""The deployment: nginx, two application servers, PostgreSQL primary and replica, three Redis
servers with three sentinels, RabbitMQ, two Celery workers; and an SMTP server, which runs on."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from ...conftest import SECRET
from ..clusters import Cluster, postgres_cluster
from ..redis_groups import SentinelGroup, sentinel_group
from ..smtp import Sink, smtp_sink
from ..traffic import migrate_with_accounts
from . import processes
from .processes import Program

RECEIVERS = 200
# How long the mail server takes for an email: a killed worker is usually sending one.
EMAIL_SECONDS = 0.02
_ADD_RECEIVERS = """
INSERT INTO accounts (email, password_hash, status, role, created_at)
SELECT 'r' || n || '@example.com', (SELECT password_hash FROM accounts LIMIT 1), 'active', 'user',
    now()
FROM generate_series(1, %s) n
"""


@dataclass
class Deployment:
    nginx: Program
    web: tuple[Program, Program]
    workers: tuple[Program, Program]
    rabbitmq: Program
    redis: SentinelGroup
    primary: Cluster
    replica: Cluster
    sink: Sink

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(self.primary.url.replace("+psycopg", ""), autocommit=True)

    def receivers(self) -> dict[str, int]:
        """Return the ids of the accounts that receive broadcasts, by email address."""
        with self.connect() as connection:
            rows = connection.execute("SELECT email, id FROM accounts WHERE email ~ '^r[0-9]'")
            return {str(email): int(number) for email, number in rows}

    def kill_redis(self, *, master: bool) -> int:
        """Kill the master or a replica; return its port."""
        [found] = self.redis.primaries()
        servers = self.redis.processes.keys() - set(self.redis.sentinels)
        port = found if master else random.choice(sorted(servers - {found}))
        self.redis.kill(port)
        return port

    def promote_replica(self) -> None:
        """Promote the replica after the loss of the primary, and make the lost server a replica."""
        lost, new = self.primary, self.replica
        # No replica is left for which commits could wait.
        new.wait_for_standby(False)
        new.promote()
        self.primary, self.replica = new, lost

    def rebuild_replica(self) -> None:
        self.replica.erase()
        self.replica.copy(self.primary)
        self.replica.start()
        self.primary.wait_for_standby(True)


@contextmanager
def deployment(folder: Path) -> Iterator[Deployment]:
    with ExitStack() as stack:
        sink = stack.enter_context(smtp_sink())
        sink.before_taking = lambda: time.sleep(EMAIL_SECONDS)
        broker = _start(stack, processes.rabbitmq(folder / "rabbitmq"))
        primary = stack.enter_context(postgres_cluster())
        migrate_with_accounts(primary.url)
        replica = stack.enter_context(postgres_cluster(of=primary))
        primary.wait_for_standby(True)
        (folder / "redis").mkdir()
        redis = stack.enter_context(sentinel_group(folder / "redis"))
        broker.wait()
        settings = _settings(primary, replica, redis, broker, sink)
        first, second = (
            _start(stack, processes.web_server(settings, folder / f"web{number}"))
            for number in (1, 2)
        )
        workers = tuple(
            _start(stack, processes.celery_worker(settings, folder / f"worker{number}"))
            for number in (1, 2)
        )
        first.wait()
        second.wait()
        nginx = _start(stack, processes.nginx(first.port, second.port, folder / "nginx"))
        nginx.wait()
        deployed = Deployment(
            nginx, (first, second), (workers[0], workers[1]), broker, redis, primary, replica, sink
        )
        with deployed.connect() as connection:
            connection.execute(_ADD_RECEIVERS, (RECEIVERS,))
        yield deployed


def _start(stack: ExitStack, program: Program) -> Program:
    stack.callback(program.stop)
    program.start()
    return program


def _settings(
    primary: Cluster, replica: Cluster, redis: SentinelGroup, broker: Program, sink: Sink
) -> dict[str, str]:
    servers = f"127.0.0.1:{primary.port},127.0.0.1:{replica.port}"
    return {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": (
            f"postgresql://postgres@{servers}/postgres?target_session_attrs=read-write"
        ),
        "CORE__DATABASE_READ_URL": (
            f"postgresql://postgres@{servers}/postgres?target_session_attrs=prefer-standby"
        ),
        "CORE__REDIS_URL": redis.url,
        "CORE__CELERY_BROKER_URL": f"amqp://guest:guest@127.0.0.1:{broker.port}//",
        "CORE__TRUSTED_PROXIES": "1",
        "MAIL_SERVER": "127.0.0.1",
        "MAIL_PORT": str(sink.port),
        "MAIL_DEFAULT_SENDER": "frontdesk@example.com",
        "AUTH__REGISTRATION": "open",
        "AUTH__EMAIL_VERIFICATION": "optional",
        # Otherwise the load would mostly be the hashing of passwords.
        "AUTH__BCRYPT_ROUNDS": "4",
        # Longer than a run, so that the counters do not start again.
        "AUTH__LOGIN_LIMIT": "5 per hour",
        "AUTH__RECOVERY_LIMIT": "5 per hour",
        "WEB_CONCURRENCY": "2",
    }
