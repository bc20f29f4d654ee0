"""Addresses and folders of the bench: PostgreSQL, Redis and files, all on this machine."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
VENVS = BENCH / ".venvs"
RESULTS = BENCH / ".results"

HOST = "127.0.0.1"
POSTGRES = os.environ.get("BENCH_POSTGRES", "postgresql://postgres@127.0.0.1:5432")
REDIS = os.environ.get("BENCH_REDIS", "redis://127.0.0.1:6379/9")

# Long enough for HS256. A constant, because the bench has no data to protect.
SECRET = "bench-secret-bench-secret-bench-secret-0123456789"
PASSWORD = "correct horse battery staple"

WORKERS = 2
THREADS = 4


def database_url(name: str) -> str:
    return f"{POSTGRES}/{name}"
