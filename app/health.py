"""Health and readiness: whether the process serves, and whether a request can succeed."""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path

from flask import Response
from marshmallow import Schema, fields
from sqlalchemy import Connection

from .core.context import Context, current_frontdesk, service
from .core.db.probe import check_write, probe_connection
from .core.db.revisions import ReplacedRevision, missing_columns, pending_migrations
from .core.db.tables import ApplicationTables
from .core.db.transaction import AnySession
from .core.keystore import Keystore, check_keystore_writes
from .core.process.folders import migrations_folder
from .core.types import JsonObject
from .core.web.blueprint import Blueprint
from .core.web.fields import EnumField, NamedEnum, response_field
from .core.web.operation import anyone, example
from .core.web.responses import answers, json_response

log = logging.getLogger(__name__)

# The success of a check is valid for so long, so that frequent requests cost few writes.
FRESH_SECONDS = 2.0
# Comparing all columns of all tables takes many queries.
COLUMNS_FRESH_SECONDS = 60.0


@dataclass(eq=False)
class Readiness:
    session: AnySession
    keystore: Keystore
    tables: ApplicationTables
    migrations: Path
    is_service: bool
    # When the success of a check expires, by the name of the check.
    _fresh: dict[str, float] = field(default_factory=dict)

    def check(self) -> dict[str, str]:
        """Return the state of the database and the state store; `schema` only if it is down.

        Both are checked in parallel: it takes seconds to notice an unresponsive server.
        """
        with ThreadPoolExecutor(1) as executor:
            # With the request's context, in which a store in the database finds its engine.
            keystore = executor.submit(copy_context().run, self._check_keystore)
            return {**self._check_database(), "keystore": keystore.result()}

    def _check_keystore(self) -> str:
        if self._is_fresh("keystore"):
            return "ok"
        try:
            check_keystore_writes(self.keystore)
        except Exception as error:
            # Any error of a driver has the same result.
            log.warning("Not ready: the shared state store accepts no writes: %s", _reason(error))
            return "down"
        self._extend("keystore", FRESH_SECONDS)
        return "ok"

    def _check_database(self) -> dict[str, str]:
        if self._is_fresh("database"):
            return {"database": "ok"}
        try:
            bind = self.session.get_bind()
            with probe_connection(bind) as connection:
                missing = self._missing(connection)
            if missing:
                log.warning("Not ready: missing in the database: %s", ", ".join(missing))
                return {"database": "ok", "schema": "down"}
            check_write(bind)
        except ReplacedRevision as error:
            log.warning("Not ready: %s", error)
            return {"database": "ok", "schema": "down"}
        except Exception as error:
            log.warning("Not ready: the database accepts no writes: %s", _reason(error))
            return {"database": "down"}
        self._extend("database", FRESH_SECONDS)
        return {"database": "ok"}

    def _missing(self, connection: Connection) -> list[str]:
        """Return the migrations, or the tables and columns, that the database does not have."""
        pending = pending_migrations(connection, self.migrations, is_service=self.is_service)
        # Frontdesk's history creates every column, except those of an application's own accounts.
        is_complete = pending is not None and self.is_service
        if pending or is_complete or self._is_fresh("columns"):
            return pending or []
        missing = missing_columns(connection, self.tables.metadata, self.tables.accounts)
        if not missing:
            self._extend("columns", COLUMNS_FRESH_SECONDS)
        return missing

    def _is_fresh(self, name: str) -> bool:
        return time.monotonic() < self._fresh.get(name, 0.0)

    def _extend(self, name: str, seconds: float) -> None:
        self._fresh[name] = time.monotonic() + seconds


def _reason(error: Exception) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {str(cause).splitlines()[0][:200] if str(cause) else ''}"


def assemble(context: Context) -> None:
    context.add(
        Readiness(
            context.session,
            context.keystore,
            context.tables,
            migrations_folder(),
            context.owns_application,
        )
    )


HEALTH = NamedEnum("HealthStatus", ("ok", "down"))


class HealthRead(Schema):
    status = response_field(EnumField, "Always `ok`.", HEALTH)
    project = response_field(fields.String, "Name of the project, `CORE__PROJECT_NAME`.")


class ReadinessRead(Schema):
    status = response_field(EnumField, "Whether the service can process requests.", HEALTH)
    checks = response_field(
        fields.Dict,
        "Result of each check: `database`, `keystore`, and `schema` if migrations are missing.",
        keys=fields.String(),
        values=EnumField(HEALTH),
    )


ALIVE = {"status": "ok", "project": "Frontdesk"}
READY = {"status": "ok", "checks": {"database": "ok", "keystore": "ok"}}

blueprint = Blueprint("health", __name__, about="Health checks")


@blueprint.get("/health")
@anyone
@example(answer=ALIVE)
@answers(200, HealthRead)
def health() -> JsonObject:
    """Check that the service is alive"""
    return {"status": "ok", "project": current_frontdesk.settings.core.PROJECT_NAME}


@blueprint.get("/health/ready")
@anyone
@example(answer=READY)
@answers(503, ReadinessRead, description="A required service is unavailable")
@answers(200, ReadinessRead)
def get_readiness() -> Response:
    """Check that the service is ready

    Returns 503 and the failed checks if a required service is unavailable.
    """
    checks = service(Readiness).check()
    ready = "down" not in checks.values()
    body = {"status": "ok" if ready else "down", "checks": checks}
    return json_response(body, 200 if ready else 503, {} if ready else {"Retry-After": "1"})
