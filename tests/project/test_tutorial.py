"""The tutorial's instructions for the browser, performed in Chromium as the page words them.

`make screens` takes the tutorial's picture here, in the folder that FRONTDESK_SCREENS names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from secrets import token_urlsafe

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ..rigs.backends import free_port, wait_for_port
from ..rigs.guides import page as text_of
from ..rigs.servers import ROOT, bare_environment
from .test_examples import commands_path

# What a sentence tells the reader to do, in the order of its words.
INSTRUCTION = re.compile(
    r"""(?P<line>\n)
    | [Oo]pen\ <(?P<open>http[^>]+)>
    | [Ii]n\ the\ section\ \*(?P<section>[^*]+)\*
    | (?:[Ee]nter|and)\ (?P<value>`[^`]+`|your\ password)\ as\ \*(?P<label>[^*]+)\*
    | (?:[Ss]elect|then)\ (?:the\ link\ )?\*(?P<select>[^*]+)\*
    | you\ see\ \*(?P<see>[^*]+)\*
    | !\[[^]]*\]\(_static/screens/(?P<picture>[\w-]+)\.png\)""",
    re.VERBOSE | re.IGNORECASE,
)
EMPHASIS = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)")
PICTURES = os.environ.get("FRONTDESK_SCREENS")


def prose(port: int) -> str:
    text = re.sub(r"^( *)```.*?^\1```$", "", text_of("tutorial"), flags=re.M | re.S)
    return text.replace("localhost:5000", f"localhost:{port}")


class Reader:
    """Does what the sentences say, in one tab of a browser."""

    def __init__(self, page: Page) -> None:
        self.page, self.section = page, ""
        self.password = token_urlsafe()
        self.done: list[str] = []

    def follow(self, text: str) -> None:
        for found in INSTRUCTION.finditer(text):
            kind = found.lastgroup or ""
            if kind == "line":
                self.section = ""
            else:
                getattr(self, f"_{kind}")(found)
                self.done += EMPHASIS.findall(found[0])

    def _open(self, found: re.Match[str]) -> None:
        self.page.goto(found["open"])

    def _section(self, found: re.Match[str]) -> None:
        self.section = found["section"]

    def _label(self, found: re.Match[str]) -> None:
        value = self.password if found["value"] == "your password" else found["value"].strip("`")
        field = re.compile(rf"^{re.escape(found['label'])}\b", re.IGNORECASE)
        self._place().get_by_label(field).and_(self.page.locator("input, textarea")).fill(value)

    def _select(self, found: re.Match[str]) -> None:
        name = re.compile(rf"^\s*{re.escape(found['select'])}\s*$")
        target = self._place().locator("a, button").filter(has_text=name, visible=True)
        # An email arrives after the response of the page before.
        for _ in range(20):
            if target.count():
                break
            self.page.wait_for_timeout(250)
            if not target.count():
                self.page.reload()
        target.last.click()
        # A reader looks at the response before the next step.
        self.page.wait_for_timeout(200)
        self.page.wait_for_load_state("networkidle")

    def _see(self, found: re.Match[str]) -> None:
        expect(self._place().get_by_text(found["see"], exact=True).first).to_be_visible()

    def _picture(self, found: re.Match[str]) -> None:
        if PICTURES and found["picture"] == "pinboard":
            self.page.screenshot(path=Path(PICTURES) / "pinboard.png")

    def _place(self) -> Locator:
        if not self.section:
            return self.page.locator("body")
        heading = self.page.get_by_role("heading", name=self.section)
        return self.page.locator("section, fieldset, .auth-container").filter(has=heading).last


@pytest.fixture
def pinboard(python: str, quick_python: str, tmp_path: Path) -> Iterator[int]:
    """The port of the tutorial's application, which runs with the page's commands."""
    folder = shutil.copytree(ROOT / "examples" / "tutorial", tmp_path / "pinboard-app")
    port = free_port()
    environment = bare_environment(
        PATH=commands_path(folder, quick_python),
        SECRET_KEY="a key that only this test knows, long enough",
        FRONTDESK_AUTH__BCRYPT_ROUNDS="4",
        PUBLIC_URL=f"http://localhost:{port}",
    )
    for command in ("init", "migrate", "upgrade"):
        subprocess.run(
            ["flask", "--app", "wsgi", "db", command],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
        )
    server = subprocess.Popen(
        [python, "-m", "flask", "--app", "wsgi", "run", "--debug", "--no-reload", f"-p{port}"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for_port(port, 60)
    yield port
    server.terminate()
    server.wait(10)


def test_instructions_for_the_browser_work_as_worded(pinboard: int, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    text = prose(pinboard)
    reader = Reader(page)
    reader.follow(text)
    assert reader.done == EMPHASIS.findall(text), "a sentence is not understood"
    assert len(reader.done) > 12
    page.close()


def test_final_version_has_the_two_lines_more_that_the_page_shows() -> None:
    folder = ROOT / "examples" / "tutorial"
    first = (folder / "first_run.py").read_text().split("\n")
    final = (folder / "pinboard" / "__init__.py").read_text().split("\n")
    added = [line for line in final if line not in first and not line.lstrip().startswith("# [")]
    assert [line for line in first if line not in final] == []
    for line in added:
        assert f"\n{line.strip()}\n" in text_of("tutorial")
    assert len(added) == 2
