"""Opens the console's CSV files in LibreOffice, with an English and a German locale.

`make versions` runs this file (scripts/versions.py): `make test` does not collect it by its name.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import update

from app.core.context import current_frontdesk
from app.testing.client import Api
from app.workspaces.models import Member

from ..auth.test_login import log_in
from ..conftest import MakeApp, MakePerson
from ..rigs.console.site import FEATURES
from ..rigs.cookie_browsers import HOST
from .form_client import FormClient

FORMULA = "=1+1"
# Rows of a file without protection, whose formulas LibreOffice runs.
UNPROTECTED = f'"id","text"\r\n"1","{FORMULA}"\r\n"2","x\n{FORMULA};y"\r\n'
LOCALES = {"en-US": 1033, "de-DE": 1031}
# Those of the filter's option; None: LibreOffice opens the file with its defaults.
SEPARATORS = (None, ",", ";", "\t")
_LOCALE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse">
<value>{locale}</value></prop></item></oor:items>
"""


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


def formulas_in(
    files: Mapping[str, str], folder: Path, locale: str, separator: str | None
) -> dict[str, list[str]]:
    """Return the formulas that LibreOffice finds in each CSV file."""
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_LOCALE.format(locale=locale))
    paths = [folder / f"{name}.csv" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_bytes(text.encode())
    # Code page 76 is UTF-8; the last option recognizes numbers and formulas like typed text.
    options = f"CSV:{ord(separator or ',')},34,76,1,,{LOCALES[locale]},false,true"
    subprocess.run(
        [
            *("soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless"),
            *([f"--infilter={options}"] if separator else []),
            *("--convert-to", "fods", "--outdir", str(folder), *map(str, paths)),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    sheets = {name: (folder / f"{name}.fods").read_text() for name in files}
    assert all(sheet.count("<table:table-row") > 2 for sheet in sheets.values())
    return {name: re.findall('table:formula="([^"]*)"', sheet) for name, sheet in sheets.items()}


@pytest.mark.parametrize("locale", LOCALES)
def test_spreadsheet_runs_no_text_of_a_download_as_a_formula(
    app: Flask, person: MakePerson, tmp_path: Path, locale: str
) -> None:
    boss, ada, bob = person("boss", role="root"), person("ada"), person("bob")
    owner = FormClient(app, ada)
    owner.post_and_follow("/workspaces/new", name="Garden")
    added = ["workspaces", "add", "garden", bob.email]
    assert app.test_cli_runner().invoke(args=added).exit_code == 0
    for agent in (FORMULA, f"x;{FORMULA};y", f'x;"{FORMULA};y', f"x\t{FORMULA}\ty"):
        log_in(Api(app), ada.email, "wrong", 400, headers={"User-Agent": agent})
    with app.app_context():
        # Earlier versions stored any text as a status.
        stored = update(Member).where(Member.account_id == bob.id, Member.type == "member")
        current_frontdesk.session.execute(stored.values(status=f"x\n{FORMULA};\n{FORMULA}\t"))
        current_frontdesk.session.commit()
    owner.post(f"/workspaces/garden/members/{bob.id}", status="away")
    paths = {"/workspaces/garden/activity.csv": owner, "/admin/events.csv": FormClient(app, boss)}
    files = {"unprotected": UNPROTECTED}
    for path, pages in paths.items():
        text = pages.browser.client.get(path, base_url=HOST).text
        assert FORMULA in text
        files[path.split("/")[-1].partition(".")[0]] = text
    for separator in SEPARATORS:
        found = formulas_in(files, tmp_path, locale, separator)
        assert found.pop("unprotected")
        assert found == {"activity": [], "events": []}
