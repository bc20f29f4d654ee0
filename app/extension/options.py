"""What `init_app` is given beside the settings: a host's own schemas and parts."""

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
    """The host's marshmallow schemas; one that is not given is ours."""

    # How an account is shown, and the login response around it (derived from `LoginRead`).
    account: type[Schema] | None = None
    login: type[Schema] | None = None
    # Reads `auth_data` of the identity provider's callback, which is passed over without one.
    idp_payload: type[Schema] | None = None
    # What somebody registers with (derived from `RegistrationCreate`).
    registration: type[Schema] | None = None
    # What a profile must have and may have, and how it is shown. With the first alone, an update
    # takes the same properties, none of them required.
    profile_create: type[Schema] | None = None
    profile_update: type[Schema] | None = None
    profile_read: type[Schema] | None = None
    task_create: type[Schema] | None = None
    task_update: type[Schema] | None = None


class Parts(NamedTuple):
    """What an application tells the time by, keeps files in and sends with; else our own."""

    clock: Clock | None = None
    one_off_mail: OneOffMail | None = None
    file_store: FileStore | None = None
    # For copies of what is held of an account, which no other file is among.
    export_store: LargeFileStore | None = None
    engine: Engine | None = None
    # The host's own Celery application, whose workers deliver too; no broker need be set for us.
    celery: Celery | None = None
    # Stages of the sign-in policy of the application's own, asked after ours: each returns None,
    # returns a challenge for more, or raises a problem.
    sign_in_stages: Sequence[Stage] = ()


OURS, NO_PARTS = Schemas(), Parts()
