from __future__ import annotations

from scripts.http_api import FOLDER, document, pages


def test_http_api_reference_is_current() -> None:
    written = {path.name: path.read_text() for path in FOLDER.glob("*.md")}
    assert written == pages(document()), "run `make api`"
