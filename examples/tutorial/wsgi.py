from __future__ import annotations

from pinboard import create_app

app = create_app()
