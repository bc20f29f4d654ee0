"""Guides instruct: a quarter of their sentences are imperatives, and each has what a guide has."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ..rigs.servers import ROOT

DOCS = ROOT / "docs"
# Verbs that begin an instruction; sentences that begin with one of them as a noun are rare.
VERBS = re.findall(
    r"\w+",
    """
    adapt add allow announce apply ask assign authenticate back begin block branch build call
    cancel catch change check choose clear collect compare configure connect consider continue
    convert copy create decide declare define delete deploy derive disable do document download
    enable enter estimate exclude exempt export extend find fix follow forward generate give
    grant handle ignore import include increase inherit initialize install interrupt invite keep
    leave let limit link list load look lower make map mark measure migrate mount move name note
    offer omit open overwrite partition pass paste pin plan point prefer prepare press protect
    publish put raise read receive record redirect register reject remember remove rename repeat
    replace report request require reserve reset restart restore restrict retry return review
    revoke rotate route run save scrape see select send separate serve set share show sign skip
    specify stack start stop store subscribe suspend switch take test treat trust try turn
    unlock update upgrade upload use validate verify view wait watch wrap write yield
    """,
)
VERB = rf"(?:{'|'.join(VERBS)}|do not|never)\b"
# A condition, a purpose or a place may come before the instruction: "To revoke it, send …".
OPENING = r"(?:To|If|When|For|In|On|At|With|Without|Before|After|Behind|Below|Inside|Once|Where)"
INSTRUCTION = re.compile(
    rf"(?:{OPENING}\b[^.:]*?, )?(?:then |first |also |always |and )*{VERB}", re.IGNORECASE
)


# Groups of the navigation with pages that are no guides.
OTHER_GROUPS = {"Reference", "Background"}
# Pages between guides that explain, and the table of metrics.
NO_GUIDES = {"service-or-extension", "limitations", "how-sign-in-works", "metrics"}
TREE = re.compile(r"```{toctree}\n:hidden:\n(?::caption: \"(.*?)\"\n)?\n(.*?)```", re.S)


def guides() -> Iterator[str]:
    """Return the pages of the groups of guides, with the pages below them."""
    for caption, entries in TREE.findall((DOCS / "index.md").read_text()):
        if caption not in OTHER_GROUPS:
            yield from with_children("", entries)


def with_children(folder: str, entries: str) -> Iterator[str]:
    for entry in filter(None, entries.split("\n")):
        page = f"{folder}{entry.partition('<')[2].removesuffix('>') or entry}"
        if page not in NO_GUIDES:
            yield page
        folder_of_page = page.rpartition("/")[0]
        for _, children in TREE.findall((DOCS / f"{page}.md").read_text()):
            yield from with_children(f"{folder_of_page}/" if folder_of_page else "", children)


def sentences(page: str) -> Iterator[str]:
    """Return the sentences of paragraphs and list items, without tables, headings and code."""
    text = re.sub(r"^ *```.*?^ *```$", "\n", page, flags=re.M | re.S)
    text = re.sub(r"^ *(?:[#|<]|!\[|:::|:\S+: ).*$", "\n", text, flags=re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^ *(?:[-*]|\d+\.) +", "\n", text, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        # A label in bold is no sentence.
        words = re.sub(r"\A\s*\*\*.*?\*\*:?", "", " ".join(paragraph.split()))
        yield from filter(None, re.split(r"(?<=[.!?:]) +(?=[A-Z`*\"(])", words.strip(" *")))


def share(page: str) -> float:
    found = list(sentences(page))
    return sum(bool(INSTRUCTION.match(each)) for each in found) / len(found)


@pytest.mark.parametrize(
    ("text", "instructions"),
    [
        ("Set `X`. The default is 3.", [True, False]),
        ("To revoke it, send `DELETE`.\n\n- **Keys.** Keys expire.", [True, False]),
        ("# Run\n\n| a |\n\n```sh\nrun\n```\n\n1. Run it.\n2. It is sent.", [True, False]),
        ("If the code is wrong, the response is 400: start again.", [False]),
    ],
)
def test_instructions_are_told_from_statements(text: str, instructions: list[bool]) -> None:
    assert [bool(INSTRUCTION.match(each)) for each in sentences(text)] == instructions


def test_a_quarter_of_the_sentences_of_guides_are_instructions() -> None:
    pages = {guide: (DOCS / f"{guide}.md").read_text() for guide in guides()}
    assert len(pages) > 50
    assert share("\n\n".join(pages.values())) >= 0.25
    assert {guide: share(page) for guide, page in pages.items() if share(page) < 0.2} == {}
