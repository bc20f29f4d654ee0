"""The console's pages at a million accounts: each within 40 ms. And what there being one costs a
service that shows none: its start, a worker's memory, the wheel."""

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

COLUMNS = (
    Column("p50", "p50 ms", "{:.1f}"),
    Column("p95", "p95 ms", "{:.1f}"),
    Column("cpu", "server CPU µs"),
    Column("database", "database CPU µs"),
)
MOST_MS = 40.0
MOST_START_MS, MOST_MIB, MOST_WHEEL_KIB = 10.0, 3.0, 300.0
ON, OFF = {"CORE__CONSOLE_ENABLED": "true"}, {"CORE__CONSOLE_ENABLED": "false"}
# Packages with their own pages.
ROOMS = {
    "AUTH__MFA": "optional",
    "AUTH__PASSKEYS": "on",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "AUTH__ACCOUNT_DELETION": "on",
}
# What lists are asked for beside their beginning, by the page's path.
QUERIES: dict[str, dict[str, dict[str, object]]] = {
    "/dashboard": {"far behind": {"offset": 9_900, "page": 400}}
}


def measure(options: Options) -> list[Table]:
    return [_pages(options), _presence(options), _wheel()]


def _pages(options: Options) -> Table:
    data = busy.SMALL if options.quick else busy.BUSY
    busy.prepare(data)
    table = Table(f"The console's pages, {data.accounts:,} accounts", "/sign-in", COLUMNS)
    with running(CONTENDERS["frontdesk"], data, {**ON, **ROOMS}) as server:
        shown, led_on = _shown(server, _paths(busy.path_values(data)))
        # One after another, as a browser does, so that no queue is measured.
        sockets = [load.dial(server.port)]
        for request in shown.values():
            load.run(server.port, [request], seconds=1, sockets=sockets, count=20)
        for number in range(options.rounds):
            print(f"{table.title}, round {number + 1}", flush=True)
            for name, request in shown.items():
                table.add(name, timed(server, data, [request], options.seconds / 4, sockets))
        sockets[0].close()
    worst = {name: median(each["p95"] for each in rounds) for name, rounds in table.rounds.items()}
    slow = {name: value for name, value in worst.items() if value > MOST_MS}
    said = ", ".join(f"{name} {value:.0f}" for name, value in slow.items())
    table.remarks.append(
        f"- MISSED: p95 over {MOST_MS:g} ms: {said}"
        if slow
        else f"- reached: p95 {max(worst.values()):.1f} ms at the most (at most {MOST_MS:g})"
    )
    table.remarks += [f"- not a page: {line}" for line in led_on]
    return table


def _paths(values: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Each page of the console's own table, with something for the variables of its path."""
    from app.console.routes import PAGE, ROUTES

    for method, rule, _ in ROUTES:
        if method != PAGE or rule.startswith("/assets/"):
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values.get(found[1], 1)), rule)
        yield rule, path
        for what, query in QUERIES.get(rule, {}).items():
            yield f"{rule}, {what}", f"{path}?{urlencode(query)}"


def _shown(server: Server, paths: Iterator[tuple[str, str]]) -> tuple[dict[str, bytes], list[str]]:
    """The requests that are answered with a page: to whoever is signed in, or else to a visitor."""
    shown: dict[str, bytes] = {}
    led_on = []
    for name, path in paths:
        for cookie in (COOKIE, ""):
            request = _request(path, cookie)
            # A file that is written while it is sent is no page.
            if path.endswith(".jsonl"):
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


def _presence(options: Options) -> Table:
    """In turns, with the API alone asked: the pages are loaded by who first looks at one."""
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
    """What the console's own files take of it, compressed as they lie in it."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "build", "--wheel", "--no-isolation", "--outdir", folder, "."]
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            own = [each for each in archive.infolist() if "/console/" in each.filename]
            # Each file has a head, and a line in the table at the end.
            kib = sum(each.compress_size + 2 * len(each.filename) + 76 for each in own) / 1024
        whole = wheel.stat().st_size / 1024
    table = Table("The wheel", "whole", (Column("kib", "KiB"),))
    table.add("whole", {"kib": whole}, "the whole wheel")
    table.add("console", {"kib": kib}, "the console's files in it")
    verdict = "reached" if kib <= MOST_WHEEL_KIB else "MISSED"
    table.remarks.append(f"- {verdict}: {kib:.0f} KiB (at most {MOST_WHEEL_KIB:g})")
    return table
