"""The findings of the doctor, and a time limit for checks of other servers."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Thread
from typing import Literal, NamedTuple

from sqlalchemy import URL

_TITLES = {
    "idp": "Identity provider",
    "keystore": "State store",
    "second_factors": "MFA",
    "sms": "SMS",
}


class Finding(NamedTuple):
    check: str
    level: Literal["fault", "warning"]
    message: str

    @property
    def title(self) -> str:
        """The check for readers of a page, in English like the message."""
        return _TITLES.get(self.check) or self.check.replace("_", " ").capitalize()


# The parts of a URL's query that say where the database is. Others can be passwords.
_PLACES = ("host", "port", "dbname")

Check = Callable[[], Iterator[Finding]]


def name_database(url: URL) -> str:
    """Return the URL without its passwords, also without those of its query."""
    places = {name: value for name, value in url.query.items() if name in _PLACES}
    return url.set(query=places).render_as_string(hide_password=True)


def run_within(seconds: float, task: Callable[[], object]) -> None:
    """Run a task in a thread, and raise its exception, or TimeoutError.

    The libraries' timeouts are for one step each, or do not cover the name server.
    """
    done: Future[None] = Future()

    def run() -> None:
        try:
            task()
            done.set_result(None)
        except Exception as error:
            done.set_exception(error)

    Thread(target=run, name="frontdesk-doctor", daemon=True).start()
    done.result(seconds)
