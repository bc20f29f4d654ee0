"""Check of the identity provider."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from ...core.context import current_frontdesk, service
from ...core.doctor import LOOPBACK, Check, Finding
from ..errors import ProviderUnavailable
from ..settings import AuthSettings
from .service import IdpSignIn


def check_idp() -> Iterator[Finding]:
    url = urlsplit(current_frontdesk.settings.of(AuthSettings).IDP_METADATA_URL)
    if url.scheme != "https" and url.hostname not in LOOPBACK:
        text = (
            "IDP_METADATA_URL is an http:// URL, so an attacker on the network can impersonate the"
            " identity provider. Use an https:// URL."
        )
        yield Finding("idp", "warning", text)
    try:
        service(IdpSignIn).provider.open().begin(current_frontdesk.settings.core.CLIENT_HOST)
    except ProviderUnavailable as error:
        reason = type(error.__cause__).__name__
        address = url.netloc.rpartition("@")[2]
        text = (
            f"The identity provider at {address} cannot be used: {reason}. Check that the provider"
            " runs, and check IDP_METADATA_URL."
        )
        yield Finding("idp", "fault", text)


CHECKS = (Check(check_idp, "servers"),)
