"""Calls of one identity provider: limited in time and number, and rejected while it does not
respond. Errors are `SignInRefused` (invalid input) and `ProviderUnavailable` (unreachable, slow, or
an invalid response).
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from threading import BoundedSemaphore, Thread
from typing import TypeVar

import requests
from authlib.integrations.base_client import OAuthError

from ...core.errors import Problem
from ...core.process.circuit_breaker import CircuitBreaker
from ..errors import ProviderUnavailable, SignInRefused
from .client_auth import CODE_ERRORS, ClientRefused
from .discovery import InvalidProviderResponse
from .id_token import UnknownSignature

log = logging.getLogger(__name__)
# Authlib writes each PKCE verifier into its debug log.
logging.getLogger("authlib").setLevel(logging.INFO)

# The time limit of all calls in one step of a sign-in.
STEP_SECONDS = 10.0
# A provider that hangs blocks at most this number of threads. Other requests wait for a short time.
MAX_CALLS = 4
WAIT_SECONDS = 0.5
# The time limit of a check whether a provider responds again, and the pause between two checks.
CHECK_SECONDS = 1.0
PAUSE_SECONDS = 0.5

# Errors of the user; all other errors are about this client or the provider.
REFUSALS = (*CODE_ERRORS, "invalid_request", "access_denied", "unverified_user_email")

T = TypeVar("T")


class ProviderCalls:
    def __init__(self, name: str, url: str) -> None:
        """`url` is an address of the provider, to check whether it responds."""
        self._slots = BoundedSemaphore(MAX_CALLS)
        # In log entries; the contract's provider has no name there.
        self._called = (
            "The identity provider" if name == "default" else f"The identity provider {name}"
        )
        self._breaker = CircuitBreaker(
            self._called[4:],
            lambda: requests.get(url, timeout=CHECK_SECONDS, allow_redirects=False),
            check_seconds=CHECK_SECONDS,
            pause_seconds=PAUSE_SECONDS,
        )

    def run(self, call: Callable[[], T]) -> T:
        """Call the provider, within the limits of time and concurrency."""
        if self._breaker.is_rejecting or not self._slots.acquire(timeout=WAIT_SECONDS):
            raise ProviderUnavailable
        with self._translated_errors():
            try:
                return _call_within(STEP_SECONDS, call, self._slots.release)
            except (requests.Timeout, TimeoutError):
                self._breaker.report_timeout()
                raise

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except Problem:
            raise
        except UnknownSignature as error:
            log.warning("%s", error)
            raise SignInRefused from error
        except OAuthError as error:
            if error.error in REFUSALS:
                log.info("%s rejected a code: %s", self._called, error.error)
                raise SignInRefused from error
            log.error("%s does not serve this client: %.80r", self._called, error.error)
            raise ProviderUnavailable from error
        except ClientRefused as error:
            log.error("%s does not serve this client: it rejected %s", self._called, error)
            raise ProviderUnavailable from error
        except (requests.RequestException, InvalidProviderResponse) as error:
            log.error("%s cannot be used: %s: %.800s", self._called, type(error).__name__, error)
            raise ProviderUnavailable from error
        except Exception as error:
            # Any error of a parser. The text may quote the response: log the type only.
            log.error("%s cannot be used: %s", self._called, type(error).__name__)
            raise ProviderUnavailable from error


def _call_within(seconds: float, call: Callable[[], T], release: Callable[[], object]) -> T:
    """Limit the whole time of a call: a socket's timeout is for each read."""
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            release()

    # In the request's context: log entries have its id.
    Thread(target=copy_context().run, args=(run,), name="identity-provider", daemon=True).start()
    return outcome.result(timeout=seconds)
