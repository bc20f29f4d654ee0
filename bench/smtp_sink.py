"""A mail server that accepts everything and stores only the number and the times of emails.

`XSTAT` responds `250 <emails> <first> <last>`, in seconds of the machine's monotonic clock, which
all processes share; `XRESET` resets the count. Run it as `python -m bench.smtp_sink PORT`.
"""

import asyncio
import sys
import time

from aiosmtpd.smtp import SMTP, Envelope, Session

from bench.places import HOST


class Count:
    """Counts the emails of all connections; aiosmtpd calls `handle_DATA` for each email."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.mails = 0
        self.first = self.last = 0.0

    async def handle_MAIL(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if not self.first:
            self.first = time.monotonic()
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 ok"

    async def handle_DATA(self, _server: SMTP, _session: Session, _envelope: Envelope) -> str:
        self.mails += 1
        self.last = time.monotonic()
        return "250 taken"


class Sink(SMTP):
    def __init__(self, count: Count) -> None:
        super().__init__(count, enable_SMTPUTF8=True)
        self.count = count

    async def smtp_XSTAT(self, _argument: str) -> None:
        count = self.count
        await self.push(f"250 {count.mails} {count.first:.6f} {count.last:.6f}")

    async def smtp_XRESET(self, _argument: str) -> None:
        self.count.reset()
        await self.push("250 ok")


async def serve(port: int) -> None:
    count = Count()
    server = await asyncio.get_running_loop().create_server(lambda: Sink(count), HOST, port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
