"""Creates a client from the provider's discovery document, which is not trusted.

Only checked values are passed to Authlib, which reads the options of its HTTP session (such as
whether to verify certificates) from the same dictionary.
"""

import time
from dataclasses import dataclass
from typing import Any

import requests
from authlib.integrations.flask_client import FlaskIntegration, FlaskOAuth2App

from ...core.types import JsonObject
from ...core.web.fields import is_storable
from .client_auth import BASIC, POST, detect_refusals
from .models import LONGEST_ISSUER
from .provider import TENANT, Provider

# For each connection attempt, and for each read.
TIMEOUTS = (2.0, 10.0)
KEEP_SECONDS = 3600

SCOPES = ["openid", "email", "profile"]
# Signatures with a key of the provider. The document may list `none`, which Authlib would accept.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
ALGORITHMS += ["ES256", "ES384", "ES512", "EdDSA", "Ed25519"]


class InvalidProviderResponse(Exception):
    """The provider's response is invalid; the text says why, and quotes at most the issuer."""


@dataclass
class ProviderClient:
    """A client with the cached keys of the provider."""

    client: Any
    auth_methods: list[str]
    until: float

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() < self.until


def discover(provider: Provider, client_secret: str) -> ProviderClient:
    response = requests.get(provider.metadata_url, timeout=TIMEOUTS, allow_redirects=False)
    if response.status_code != 200:
        raise InvalidProviderResponse(
            f"the discovery document has the status {response.status_code}"
        )
    metadata = response.json()
    if not isinstance(metadata, dict):
        raise InvalidProviderResponse("the discovery document is not a JSON object")
    # Some providers send groups only to a client that requests this scope.
    scopes = [*SCOPES, *filter(None, [provider.groups_claim])]
    client = FlaskOAuth2App(
        FlaskIntegration("idp"),
        "idp",
        client_id=provider.client_id,
        client_secret=client_secret,
        authorize_url=_url(metadata, "authorization_endpoint"),
        access_token_url=_url(metadata, "token_endpoint"),
        client_kwargs=session_options(
            " ".join(_supported(scopes, metadata, "scopes_supported", default=SCOPES)),
            pkce=provider.needs_session,
        ),
        compliance_fix=detect_refusals,
        issuer=_issuer(metadata, provider),
        jwks_uri=_url(metadata, "jwks_uri"),
        userinfo_endpoint=_url(metadata, "userinfo_endpoint", optional=True),
        end_session_endpoint=_page(metadata, "end_session_endpoint"),
        id_token_signing_alg_values_supported=_supported(
            ALGORITHMS, metadata, "id_token_signing_alg_values_supported", default=["RS256"]
        ),
    )
    methods = _supported(
        [BASIC, POST], metadata, "token_endpoint_auth_methods_supported", default=[BASIC]
    )
    return ProviderClient(client, methods, until=time.monotonic() + KEEP_SECONDS)


def session_options(scope: str, *, pkce: bool) -> JsonObject:
    options = {
        "scope": scope,
        "default_timeout": TIMEOUTS,
        "max_redirects": 0,
        # Authlib would not use an access token that expires within a minute.
        "leeway": 0,
    }
    return options | {"code_challenge_method": "S256"} if pkce else options


def _text(metadata: Any, name: str) -> str:
    value = metadata.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidProviderResponse(f"the discovery document has no {name}")
    return value


def _issuer(metadata: object, provider: Provider) -> str:
    """Return the issuer of ID tokens, which is stored with each linked identity. Another provider's
    document is rejected."""
    value = _text(metadata, "issuer")
    if len(value) > LONGEST_ISSUER or not is_storable(value):
        raise InvalidProviderResponse("the issuer in the discovery document cannot be stored")
    # A tenant in the URL of the document is not always the one in tokens.
    default = "" if TENANT in value else provider.issuer
    expected = (provider.configured_issuer or default).removesuffix("/")
    start, tenant, end = value.removesuffix("/").partition(TENANT)
    is_tenant = tenant and expected.startswith(start) and expected.endswith(end)
    if not is_tenant and expected != value.removesuffix("/"):
        raise InvalidProviderResponse(
            f"the issuer in the discovery document is {value!r}, and not {expected!r}."
            " If it is the issuer of your provider, set"
            f" {'IDP_ISSUER' if provider.is_default else 'its member issuer'} to it"
        )
    return f"{expected}/" if value.endswith("/") else expected


def _url(metadata: Any, name: str, *, optional: bool = False) -> str | None:
    if optional and metadata.get(name) is None:
        return None
    value = _text(metadata, name)
    if not value.startswith(("https://", "http://")):
        raise InvalidProviderResponse(f"{name} in the discovery document is not a URL")
    return value


def _page(metadata: Any, name: str) -> str | None:
    """Return a page of the provider; None without one. Sign-ins do not depend on the page."""
    value = metadata.get(name)
    is_url = isinstance(value, str) and value.startswith(("https://", "http://"))
    return value if is_url else None


def _supported(known: list[str], metadata: Any, name: str, *, default: list[str]) -> list[str]:
    listed = metadata.get(name)
    found = [value for value in known if value in listed] if isinstance(listed, list) else []
    return found or default
