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
    """Marshmallow schemas that replace Frontdesk's.

    Args:
        account: An account in responses.
        login: The response of a sign-in, a subclass of `LoginRead`.
        idp_payload: Loads `auth_data` of the identity provider's callback, which is ignored
            without a schema.
        registration: The body of a registration, a subclass of `RegistrationCreate`. The admin API,
            commands and imports take its additional fields too.
        account_update: The changes of an account by its owner, a subclass of `OwnAccountUpdate`.
            The admin API takes its additional fields too.
        profile_create: The body of a request that creates a profile.
        profile_update: The body of a request that changes a profile. Default: the properties of
            `profile_create`, none of them required.
        profile_read: A profile in responses.
        task_create: The body of a request that creates a task.
        task_update: The body of a request that changes a task.

    Example::

        frontdesk.init_app(app, db, account_model=Account, schemas=Schemas(account=AccountCard))
    """

    account: type[Schema] | None = None
    login: type[Schema] | None = None
    idp_payload: type[Schema] | None = None
    registration: type[Schema] | None = None
    account_update: type[Schema] | None = None
    profile_create: type[Schema] | None = None
    profile_update: type[Schema] | None = None
    profile_read: type[Schema] | None = None
    task_create: type[Schema] | None = None
    task_update: type[Schema] | None = None


class Parts(NamedTuple):
    """Components that replace Frontdesk's.

    Args:
        clock: Tells the time; tests move it forward.
        one_off_mail: Sends transactional emails.
        file_store: Stores avatars.
        export_store: Stores data exports.
        engine: Runs the delivery workers.
        celery: The application's Celery object: its workers deliver too, and no broker setting is
            needed.
        sign_in_stages: Stages of the sign-in policy that run after Frontdesk's. Each returns None,
            returns a challenge, or raises a `Problem`.

    Example::

        frontdesk.init_app(app, db, account_model=Account, parts=Parts(celery=celery))
    """

    clock: Clock | None = None
    one_off_mail: OneOffMail | None = None
    file_store: FileStore | None = None
    export_store: LargeFileStore | None = None
    engine: Engine | None = None
    celery: Celery | None = None
    sign_in_stages: Sequence[Stage] = ()


OURS, NO_PARTS = Schemas(), Parts()
