"""The application's schemas and components for `init_app`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from celery import Celery
    from marshmallow import Schema

    from ..auth.sign_in.policy import Stage
    from ..core.clock import Clock
    from ..delivery.mail.one_off import OneOffMail
    from ..delivery.worker.engine import Engine
    from ..storage import FileStore, LargeFileStore


class Schemas(NamedTuple):
    """Marshmallow schemas that replace Frontdesk's."""

    # An account in responses, and the login response (a subclass of `LoginRead`).
    account: type[Schema] | None = None
    login: type[Schema] | None = None
    # Loads `auth_data` of the identity provider's callback, which is ignored without a schema.
    idp_payload: type[Schema] | None = None
    # The body of a registration (a subclass of `RegistrationCreate`).
    registration: type[Schema] | None = None
    # Profiles in requests and responses. Without `profile_update`, an update accepts the properties
    # of `profile_create`, none of them required.
    profile_create: type[Schema] | None = None
    profile_update: type[Schema] | None = None
    profile_read: type[Schema] | None = None
    task_create: type[Schema] | None = None
    task_update: type[Schema] | None = None


class Parts(NamedTuple):
    """Components that replace Frontdesk's: the clock, email, file stores, Celery."""

    clock: Clock | None = None
    one_off_mail: OneOffMail | None = None
    file_store: FileStore | None = None
    # Stores only data exports.
    export_store: LargeFileStore | None = None
    engine: Engine | None = None
    # The application's Celery object: its workers deliver too, and no broker setting is needed.
    celery: Celery | None = None
    # Stages of the sign-in policy that run after Frontdesk's: each returns None, returns a
    # challenge, or raises a problem.
    sign_in_stages: Sequence[Stage] = ()


OURS, NO_PARTS = Schemas(), Parts()
