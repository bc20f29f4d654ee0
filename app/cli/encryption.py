"""`flask frontdesk reencrypt`: after a new key for what is encrypted in the database."""

from __future__ import annotations

from dataclasses import asdict

import click
import orjson

from ..auth.mfa.reencryption import Reencryption
from ..core.context import current_frontdesk, service
from .accounts import in_words
from .prune import group as group


@group.command()
@in_words
def reencrypt() -> None:
    """Encrypt the secrets of second factors anew, with the first of AUTH__ENCRYPTION_KEYS: then the
    older ones can go. It may break off anywhere, and be begun again."""
    if Reencryption not in current_frontdesk.services:
        raise click.ClickException("There are no second factors here: AUTH__MFA is off.")
    report = service(Reencryption).run()
    click.echo(orjson.dumps(asdict(report)).decode())
    if report.unreadable:
        raise SystemExit(1)
