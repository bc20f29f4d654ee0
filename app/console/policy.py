"""What a page may load, and what may show it within itself."""

from __future__ import annotations

# Nothing inline and nothing from anywhere else; `blob:` is a picture before it is sent. Frames hold
# mails: the policy of the page that came first holds for all that are swapped into it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
# Of such a mail: its styles are inline, nothing in it runs, and nothing is fetched for it.
FRAMED = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
