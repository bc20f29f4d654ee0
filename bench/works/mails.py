"""Emails to a local server, compared with smtplib and ready-made bytes on one connection."""

import smtplib
import time
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

import psycopg

from bench import database, servers
from bench.client import Client
from bench.database import Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import HOST, PASSWORD
from bench.requests import email
from bench.servers import Contender, running

COLUMNS = (
    Column("ms", "ms, from the request to the last mail"),
    Column("sending", "ms, first to last mail"),
)
LIMIT = 120.0
SENDER = "noreply@bench.example"
TITLE = "A title"
MESSAGE = "A message to all of you, which goes on for a line or two. " * 3


def measure(options: Options) -> list[Table]:
    count = 500 if options.quick else 2_000
    data = Data("frontdesk_bench_mails", accounts=count, readers=0, each=0)
    database.prepare(data)
    goals = (Goal("ms", 1.8, ("raw",), at_least=False),)
    table = Table(f"{count:,} mails", "raw", COLUMNS, goals)
    ready = [(email(n), _message(n).as_bytes(policy=SMTP)) for n in range(1, count + 1)]
    with servers.mail_sink() as port:
        for number in range(options.rounds):
            print(f"Mails, round {number + 1}", flush=True)
            table.add("raw", _raw(port, ready), "raw smtplib, ready-made bytes")
            for contender in options.contenders("frontdesk"):
                figures = _service(contender, data, port, count)
                table.add(contender.name, figures, contender.title)
            table.add("plain", _plain(port, count), "a text EmailMessage for each")
    return [table]


def _message(number: int) -> EmailMessage:
    """Return a message as large as the service's, with a text and an HTML part."""
    message = _text(number)
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain="bench.example")
    message.add_alternative(
        f"<html><body><h1>{TITLE}</h1><p>{MESSAGE}</p>"
        '<p><a href="http://localhost:5000/dashboard">Open</a></p></body></html>',
        subtype="html",
    )
    return message


def _text(number: int) -> EmailMessage:
    """Return the smallest useful message for a receiver."""
    message = EmailMessage()
    message["Subject"] = TITLE
    message["From"] = SENDER
    message["To"] = email(number)
    message.set_content(f"{TITLE}\n\n{MESSAGE}\n\nhttp://localhost:5000/dashboard\n")
    return message


def _raw(port: int, ready: list[tuple[str, bytes]]) -> dict[str, float]:
    _reset(port)
    begin = time.monotonic()
    with smtplib.SMTP(HOST, port) as connection:
        for receiver, content in ready:
            connection.sendmail(SENDER, [receiver], content)
    return _figures(port, begin, len(ready))


def _plain(port: int, count: int) -> dict[str, float]:
    _reset(port)
    begin = time.monotonic()
    with smtplib.SMTP(HOST, port) as connection:
        for number in range(1, count + 1):
            connection.send_message(_text(number))
    return _figures(port, begin, count)


def _service(contender: Contender, data: Data, port: int, count: int) -> dict[str, float]:
    with psycopg.connect(data.url, autocommit=True) as connection:
        connection.execute("TRUNCATE frontdesk_notifications, frontdesk_outgoing_messages CASCADE")
    extra = {
        "CORE__EMAILS_ENABLED": "true",
        "MAIL_SERVER": HOST,
        "MAIL_PORT": str(port),
        "MAIL_DEFAULT_SENDER": SENDER,
    }
    body = {"data": {"title": TITLE, "message": MESSAGE, "channels": ["inapp", "email"]}}
    with running(contender, data, extra) as server:
        client = Client(server.port)
        header = "Authorization: Bearer " + client.login(email(1), PASSWORD)
        _reset(port)
        begin = time.monotonic()
        # One connection, because a new one for each query would slow the server down.
        with smtplib.SMTP(HOST, port) as watch:
            client.expect(201, "POST", "/api/v1/admin/notifications/", header, body)
            while _parse_stat(watch)[0] < count and time.monotonic() - begin < LIMIT:
                time.sleep(0.05)
        return _figures(port, begin, count)


def _figures(port: int, begin: float, count: int) -> dict[str, float]:
    mails, first, last = _stat(port)
    if mails != count:
        raise RuntimeError(f"{mails:.0f} emails have arrived, not {count}")
    return {"ms": (last - begin) * 1e3, "sending": (last - first) * 1e3}


def _stat(port: int) -> tuple[float, float, float]:
    with smtplib.SMTP(HOST, port) as connection:
        return _parse_stat(connection)


def _parse_stat(connection: smtplib.SMTP) -> tuple[float, float, float]:
    _, text = connection.docmd("XSTAT")
    mails, first, last = text.split()
    return float(mails), float(first), float(last)


def _reset(port: int) -> None:
    with smtplib.SMTP(HOST, port) as connection:
        connection.docmd("XRESET")
