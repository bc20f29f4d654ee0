"""What a page may load, and what may show it within itself."""

from __future__ import annotations

# Nothing inline and nothing from anywhere else; `blob:` is a picture before it is sent.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Of pages that show a mail in a frame.
FRAMING = f"{POLICY}; frame-src 'self'"
# Of that mail: its styles are inline, nothing in it runs, and nothing is fetched for it.
FRAMED = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
