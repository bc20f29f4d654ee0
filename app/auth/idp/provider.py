"""What the settings say about an identity provider, and the kinds of providers."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import SecretStr

from ...core.types import Values

# The provider of the settings `IDP_…`.
DEFAULT = "default"
OIDC, GOOGLE, MICROSOFT, GITHUB, APPLE = "oidc", "google", "microsoft", "github", "apple"

# What happens to an account with the verified address of a new identity.
LinkingMode = Literal["auto", "confirm", "never"]

# The place of the tenant in the issuer of Microsoft's documents for several tenants.
TENANT = "{tenantid}"

# The types of members of workspaces, from the highest.
MEMBER_TYPES = ("owner", "admin", "member", "guest")

_WELL_KNOWN = "/.well-known/openid-configuration"
SECRET = "client_secret"
_PUBLIC = SecretStr("")


class Kind(NamedTuple):
    title: str
    # The members that this kind needs besides `client_id`, and its optional members.
    required: tuple[str, ...] = (SECRET,)
    optional: tuple[str, ...] = ()
    issuer: str = ""
    # Google's tokens may have its issuer without `https://`.
    alias: str = ""
    metadata_url: str = ""
    # Whether its claims can have groups.
    has_groups: bool = True


class WorkspaceGroup(NamedTuple):
    """The membership that a group gives."""

    slug: str
    type: str


KINDS = {
    OIDC: Kind("", ("metadata_url",), (SECRET, "issuer")),
    GOOGLE: Kind(
        "Google",
        issuer="https://accounts.google.com",
        alias="accounts.google.com",
        metadata_url=f"https://accounts.google.com{_WELL_KNOWN}",
    ),
    MICROSOFT: Kind(
        "Microsoft",
        ("tenant", SECRET),
        ("verified_tenants",),
        issuer=f"https://login.microsoftonline.com/{TENANT}/v2.0",
        metadata_url=f"https://login.microsoftonline.com/{TENANT}/v2.0{_WELL_KNOWN}",
    ),
    # OAuth 2.0 without OpenID Connect: it has no discovery document and no issuer.
    GITHUB: Kind("GitHub", issuer="https://github.com", has_groups=False),
    APPLE: Kind(
        "Apple",
        ("team_id", "key_id", "private_key_file"),
        issuer="https://appleid.apple.com",
        metadata_url=f"https://appleid.apple.com{_WELL_KNOWN}",
    ),
}
# The titles of providers by the hosts of their documents.
_TITLES = {"gitlab.com": "GitLab"} | {
    kind.metadata_url.split("/")[2]: kind.title for kind in KINDS.values() if kind.metadata_url
}


@dataclass(frozen=True)
class Provider:
    """What the settings say about one identity provider."""

    name: str
    kind: str
    client_id: str
    title: str = ""
    # The client secret, or the private key that signs it.
    secret: SecretStr = _PUBLIC
    redirect_uri: str = ""
    metadata_url: str = ""
    # The issuer that the document must name; empty: that of `metadata_url`.
    configured_issuer: str = ""
    # Users of these tenants can sign in; empty: every tenant of the issuer.
    tenants: tuple[str, ...] = ()
    # The email addresses of these tenants count as verified.
    verified_tenants: tuple[str, ...] = ()
    team_id: str = ""
    key_id: str = ""
    # The file of the secret. The doctor checks its permissions.
    secret_file: str = ""
    # Off allows sign-ins without cookies, without PKCE and nonce.
    needs_session: bool = True
    # The claim with the user's groups; empty: groups give nothing.
    groups_claim: str = ""
    # The role and the membership that each group gives.
    roles: Mapping[str, str] = field(default_factory=dict)
    workspaces: Mapping[str, WorkspaceGroup] = field(default_factory=dict)
    # On: the groups alone decide about the role.
    replaces_roles: bool = False

    def __str__(self) -> str:
        """Return what the list of settings shows."""
        return self.kind

    @property
    def is_default(self) -> bool:
        return self.name == DEFAULT

    @property
    def posts_form(self) -> bool:
        """Whether the provider returns the browser by a form of another site, which brings no
        session cookie."""
        return self.kind == APPLE

    @property
    def alias(self) -> str:
        return KINDS[self.kind].alias

    @property
    def issuer(self) -> str:
        return self.configured_issuer or self.metadata_url.partition("/.well-known/")[0]

    def issuers(self) -> list[str]:
        return [self.issuer.replace(TENANT, tenant) for tenant in self.tenants] or [self.issuer]

    def is_issuer(self, text: str) -> bool:
        """Return whether tokens with this issuer come from the provider."""
        found = self.issuer if text and text == self.alias else text
        start, tenant, end = self.issuer.partition(TENANT)
        if tenant and not self.tenants:
            middle = found.removeprefix(start).removesuffix(end)
            return found == f"{start}{middle}{end}" and "/" not in middle
        return found.removesuffix("/") in [each.removesuffix("/") for each in self.issuers()]

    def overlaps(self, other: Provider) -> bool:
        """Return whether both providers may have the same users."""
        return any(map(self.is_issuer, other.issuers())) or any(
            map(other.is_issuer, self.issuers())
        )

    @property
    def sends_codes(self) -> bool:
        """Whether a code by email verifies an address that the provider has not verified."""
        return self.kind == MICROSOFT

    @property
    def verified_claim(self) -> str:
        """The claim that says whether the address is verified. Microsoft sends no `email_verified`,
        and a tenant's administrator can set any address."""
        return "xms_edov" if self.kind == MICROSOFT else "email_verified"

    def is_email_verified(self, claims: Values) -> bool:
        """Return whether the provider has verified the address, by the rule of its kind."""
        verified = claims.get(self.verified_claim)
        if self.kind == MICROSOFT:
            # A Boolean in the documentation, and also a text in tokens.
            is_owned = str(verified).lower() in ("true", "1")
            return is_owned or claims.get("tid") in self.verified_tenants
        return verified is True or (self.kind == APPLE and verified == "true")


def title_of(metadata_url: str) -> str:
    """Return the name of the provider with this document, otherwise its host name."""
    host = urlsplit(metadata_url).hostname or ""
    return _TITLES.get(host, host)


# The characters of a URI without a fragment, which OAuth forbids here. Python's parser silently
# removes other characters, and would check another URI than the browser opens.
_ALLOWED = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+", re.ASCII)
_PORTS = {"http": 80, "https": 443}

_UrlOrigin = tuple[str, str | None, int | None]


class RedirectUris:
    def __init__(self, default: str, hosts: Collection[str], allowed: Collection[str]) -> None:
        """`hosts` are the origins of the console and the client."""
        self.default = default
        self._exact = frozenset((default, *allowed)) - {""}
        self._origins = frozenset(filter(None, map(_origin, hosts)))

    def allow(self, uri: str) -> None:
        """Allow one more redirect URI: a page of the console."""
        self._exact |= {uri}

    def allows(self, uri: str, provider: Provider | None = None) -> bool:
        if provider is not None and provider.posts_form:
            # The form is sent to this server, which does not know the sign-in that it belongs to.
            return uri == provider.redirect_uri
        if uri in self._exact or (provider is not None and uri == provider.redirect_uri):
            return True
        return bool(_ALLOWED.fullmatch(uri)) and _origin(uri) in self._origins


def _origin(uri: str) -> _UrlOrigin | None:
    try:
        parts = urlsplit(uri)
        if parts.scheme not in _PORTS or "@" in parts.netloc:
            return None
        return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]
    except ValueError:
        return None
