"""The console's pages with a million accounts: 40 ms for each. And the cost of the console for a
service that shows no page: start, memory of a worker, wheel."""

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from bench import busy, database, load
from bench.busy import COOKIE
from bench.database import BASE
from bench.figures import Column, Table
from bench.options import Options
from bench.places import HOST, ROOT
from bench.servers import CONTENDERS, Server, running
from bench.timing import timed
from bench.works import start

# A quiet round of a busy machine is nearest to the page's own time.
COLUMNS = (
    Column("p50", "p50 ms", "{:.1f}", min),
    Column("p95", "p95 ms", "{:.1f}", min),
    Column("cpu", "server CPU ms", "{:.1f}", min),
    Column("database", "database CPU ms", "{:.1f}", min),
    Column("kib", "KiB", "{:.1f}", min),
)
MOST_MS = 40.0
# Requests for each page and round.
REQUESTS = 50
MOST_START_MS, MOST_MIB, MOST_WHEEL_KIB = 10.0, 3.0, 300.0
ON, OFF = {"CORE__CONSOLE_ENABLED": "true"}, {"CORE__CONSOLE_ENABLED": "false"}
# Packages with pages of the console.
PACKAGES = {
    "AUTH__MFA": "optional",
    "AUTH__PASSKEYS": "on",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "AUTH__ACCOUNT_DELETION": "on",
}
_PERIODS: dict[str, dict[str, object]] = {
    f"of {period}": {"period": period} for period in ("24h", "30d", "90d")
}
_SEARCHES: dict[str, dict[str, object]] = {
    what: {"search": text}
    for what, text in {
        "a common name": "Maria",
        "a common part": "mull",
        "another part": "ria.gar",
        "a full name": "maria müller",
        "two letters": "ma",
        "one letter": "m",
        "a domain": "@example.com",
        "an email address": "account77@bench.example",
        "an id": "4711",
        "a phone number": "+49301004711",
        "a part of a phone number": "004711",
        "nothing found": "xyzxyz",
    }.items()
}
# Additional queries of the lists, by the path of the page.
QUERIES: dict[str, dict[str, dict[str, object]]] = {
    "/dashboard": {"far behind": {"offset": 9_900, "page": 400}, "unread": {"show": "unread"}},
    "/admin": _PERIODS,
    "/admin/deliveries": {
        **_PERIODS,
        "sent": {"state": "sent", "period": "90d"},
        "queued": {"state": "pending"},
        "by reason": {"period": "90d", "reason": "550 no such mailbox"},
    },
    "/admin/accounts": {
        **_SEARCHES,
        "by address": {"sort": "email"},
        "by sign-in": {"sort": "-last_login_date"},
        "suspended": {"status": "suspended"},
        "admins": {"role": "admin"},
        "unverified": {"verified": "false"},
        "with MFA": {"mfa": "true"},
        "a common name, suspended": {"search": "Maria", "status": "suspended"},
        "two letters, by sign-in": {"search": "ma", "sort": "last_login_date"},
    },
    "/admin/accounts/found": _SEARCHES,
    "/admin/workspaces": {
        **_SEARCHES,
        "a common beginning": {"search": "team"},
        "a name": {"search": "Team number 4711"},
    },
    "/admin/events": {
        "a type": {"type": "login.failed"},
        "sign-ins": {"type": "login.succeeded"},
        "of an actor": {"actor": "1"},
        "of a workspace": {"workspace": "1"},
        "a type of an actor": {"type": "access.refused", "actor": "4711"},
        "a rare type": {"type": "account.deleted"},
    },
    "/workspaces/<workspace_slug>": {"a common name": {"search": "Maria"}},
}


def measure(options: Options) -> list[Table]:
    return [_pages(options), _cost_of_the_console(options), _wheel()]


def _pages(options: Options) -> Table:
    data = busy.SMALL if options.quick else busy.BUSY
    busy.prepare(data)
    busy.sign_in(data)
    table = Table(f"The console's pages, {data.accounts:,} accounts", "", COLUMNS)
    with running(CONTENDERS["frontdesk"], data, {**ON, **PACKAGES}) as server:
        shown, led_on = _shown(server, _paths(busy.path_values(data)))
        for request in shown.values():
            load.run(server.port, [request], seconds=5, connections=1, count=10)
        for number in range(options.rounds):
            print(f"{table.title}, round {number + 1}", flush=True)
            # All rounds take longer than FRESH_MINUTES, after which some pages redirect.
            busy.sign_in(data)
            # One request after the other, as a browser sends them, so that no queue is measured.
            sockets = [load.dial(server.port)]
            for name, request in shown.items():
                found = timed(server, data, [request], 30.0, sockets, REQUESTS)
                units = {"cpu": found["cpu"] / 1e3, "database": found["database"] / 1e3}
                table.add(name, {**found, **units, "kib": found["bytes"] / 1024})
            sockets[0].close()
    worst = {name: min(each["p95"] for each in rounds) for name, rounds in table.rounds.items()}
    slow = {name: value for name, value in worst.items() if value > MOST_MS}
    said = ", ".join(f"{name} {value:.0f}" for name, value in slow.items())
    table.remarks.append(
        f"- MISSED: p95 over {MOST_MS:g} ms: {said}"
        if slow
        else f"- reached: p95 {max(worst.values()):.1f} ms at most (limit {MOST_MS:g})"
    )
    table.remarks += [f"- not a page: {line}" for line in led_on]
    return table


def _paths(values: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Return the path of each page of the console, with values for its variables."""
    from app.console.routes import PAGE, ROUTES

    for method, rule, _ in ROUTES:
        if method != PAGE or rule.startswith("/assets/"):
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values.get(found[1], 1)), rule)
        yield rule, path
        for what, query in QUERIES.get(rule, {}).items():
            yield f"{rule}, {what}", f"{path}?{urlencode(query)}"


def _shown(server: Server, paths: Iterator[tuple[str, str]]) -> tuple[dict[str, bytes], list[str]]:
    """Return the requests that get a page, as the signed-in account or else as a visitor."""
    shown: dict[str, bytes] = {}
    led_on = []
    for name, path in paths:
        for cookie in (COOKIE, ""):
            request = _request(path, cookie)
            # A file that is streamed is not a page.
            if path.endswith((".csv", ".jsonl")):
                continue
            answer = load.run(server.port, [request], seconds=10, connections=1, count=1)
            if answer.latencies:
                shown[name] = request
                break
        else:
            led_on.append(f"{name} ({path})")
    if not shown:
        raise RuntimeError("no page at all was shown")
    return shown, led_on


def _request(path: str, cookie: str) -> bytes:
    held = f"Cookie: {cookie}\r\n" if cookie else ""
    return (
        f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\n"
        f"Connection: keep-alive\r\n{held}\r\n"
    ).encode()


def _cost_of_the_console(options: Options) -> Table:
    """Measure both in turns and only request the API: the console's pages are imported on their
    first request."""
    database.prepare(BASE)
    contender = CONTENDERS["frontdesk"]
    table = Table("Start with the console", "off", start.COLUMNS)
    headers = start.warm(contender)
    for number in range(options.rounds * 2):
        print(f"{table.title}, turn {number + 1}", flush=True)
        for name, extra in (("off", OFF), ("on", ON)):
            figures = start.start(contender, headers, BASE, extra)
            table.add(name, figures, f"the console {name}")
    for key, most in (("ms", MOST_START_MS), ("own", MOST_MIB)):
        without, with_it = (
            median(figures[key] for figures in table.rounds[name]) for name in ("off", "on")
        )
        more = with_it - without
        verdict = "reached" if more <= most else "MISSED"
        table.remarks.append(f"- {verdict}: {key} {more:+.1f} with it (at most {most:+g})")
    return table


def _wheel() -> Table:
    """Return the compressed size of the console's files."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "build", "--wheel", "--no-isolation", "--outdir", folder, "."]
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            own = [each for each in archive.infolist() if "/console/" in each.filename]
            # Each file has a header, and an entry in the directory at the end.
            kib = sum(each.compress_size + 2 * len(each.filename) + 76 for each in own) / 1024
        whole = wheel.stat().st_size / 1024
    table = Table("The wheel", "whole", (Column("kib", "KiB"),))
    table.add("whole", {"kib": whole}, "the whole wheel")
    table.add("console", {"kib": kib}, "the console's files in it")
    verdict = "reached" if kib <= MOST_WHEEL_KIB else "MISSED"
    table.remarks.append(f"- {verdict}: {kib:.0f} KiB (at most {MOST_WHEEL_KIB:g})")
    return table
