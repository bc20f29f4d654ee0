"""`flask frontdesk doctor`: what in this set-up would bite its operator, before it does."""

from __future__ import annotations

import click
import orjson
from flask.cli import AppGroup

from ..doctor.checks import CHECKS, findings

group = AppGroup("frontdesk", help="Look after this installation.")


@group.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Print errors and warnings of this set-up; exit code 1 when there is an error."""
    found = findings(CHECKS)
    faults = [finding for finding in found if finding.level == "fault"]
    if as_json:
        report = {"ok": not faults, "findings": [finding._asdict() for finding in found]}
        click.echo(orjson.dumps(report).decode())
    else:
        for finding in found:
            level = "error" if finding.level == "fault" else finding.level
            click.echo(f"{level:8}{finding.check}: {finding.message}")
        click.echo(f"{len(faults)} errors, {len(found) - len(faults)} warnings")
    if faults:
        raise SystemExit(1)
