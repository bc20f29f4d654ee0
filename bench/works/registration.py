"""Registrations of known addresses, compared with registrations of unknown ones.

A client must not be able to distinguish them: responses are compared byte by byte, and the times by
their medians.
"""

import random
import time
from statistics import median

from bench import database, load, servers
from bench.client import Client
from bench.database import Data
from bench.figures import Column, Table
from bench.options import Options
from bench.places import HOST
from bench.requests import email
from bench.servers import running

COLUMNS = (Column("median", "ms, median", "{:.2f}"), Column("p95", "ms, p95", "{:.2f}"))
# The largest allowed difference between the medians.
LARGEST_DIFFERENCE = 2.0


def measure(options: Options) -> list[Table]:
    count = 500 if options.quick else 5_000
    data = Data("frontdesk_bench_registration", accounts=count, readers=0, each=0)
    database.prepare(data)
    table = Table(f"Registration, {count:,} of each", "known", COLUMNS)
    with servers.mail_sink() as sink:
        extra = {
            "AUTH__REGISTRATION": "open",
            "AUTH__RATE_LIMITS_ENABLED": "false",
            # A cheap hash, because a costly one would hide the differences.
            "AUTH__BCRYPT_ROUNDS": "4",
            "CORE__EMAILS_ENABLED": "true",
            "MAIL_SERVER": HOST,
            "MAIL_PORT": str(sink),
            "MAIL_DEFAULT_SENDER": "noreply@bench.example",
        }
        for contender in options.contenders("frontdesk"):
            with running(contender, data, extra) as server:
                print("Registration", flush=True)
                times = _register(Client(server.port), count)
            for kind, seconds in times.items():
                result = load.Load(latencies=seconds)
                figures = {"median": median(seconds) * 1e3, "p95": result.percentile(0.95) * 1e3}
                table.add(kind, figures, f"an address that is {kind}")
            apart = abs(median(times["known"]) - median(times["unknown"])) * 1e3
            verdict = "reached" if apart <= LARGEST_DIFFERENCE else "MISSED"
            bound = f"at most {LARGEST_DIFFERENCE:g}"
            table.remarks.append(f"- {verdict}: {apart:.2f} ms between the medians ({bound})")
            table.remarks.append("- The responses are equal.")
    return [table]


def _register(client: Client, count: int) -> dict[str, list[float]]:
    run = f"{time.time_ns():x}"
    asked = [("known", email(n)) for n in range(1, count + 1)]
    asked += [("unknown", f"unknown{n}-{run}@bench.example") for n in range(1, count + 1)]
    random.shuffle(asked)
    times: dict[str, list[float]] = {"known": [], "unknown": []}
    answers = set()
    for kind, address in asked:
        body = {"email": address, "password": "a password for the bench"}
        answer = client.ask("POST", "/api/v1/registration", body=body)
        times[kind].append(answer.seconds)
        answers.add((answer.status, str(answer.body)))
    if len(answers) != 1 or answers.pop()[0] != 202:
        raise RuntimeError(f"The responses reveal which addresses are known: {answers}")
    return times
