"""Published migrations are never edited, since databases have already run them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from app.core.process.folders import migrations_folder

# Output of `sha256sum`. Add a line for a new migration; never change an existing line.
PUBLISHED = Path(__file__).parent / "published_migrations.txt"


def test_published_migrations_are_listed_and_unchanged() -> None:
    lines = [line.split() for line in PUBLISHED.read_text().splitlines()]
    listed = {name: digest for digest, name in lines}
    files = (migrations_folder() / "versions").glob("*.py")
    found = {file.name: sha256(file.read_bytes()).hexdigest() for file in files}
    assert found.keys() == listed.keys(), "list each new file in published_migrations.txt"
    edited = [name for name, digest in listed.items() if found[name] != digest]
    assert not edited, f"published migrations were edited: {edited}"
