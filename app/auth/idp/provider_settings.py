"""Reads the setting `AUTH.PROVIDERS`. Errors name the provider and the member, and no value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import SecretStr

from ...accounts.models import ROOT
from ...core.types import JsonObject
from .provider import DEFAULT, KINDS, MEMBER_TYPES, SECRET, TENANT, Kind, Provider, WorkspaceGroup

_NAME = re.compile("[a-z][a-z0-9-]{0,30}", re.ASCII)
# Paths below `/idp/` and `/account/identities/`, and the provider of the settings `IDP_…`.
_RESERVED = ("login", "callback", "providers", "confirm", DEFAULT)
_COMMON = ("kind", "client_id", "title", "redirect_uri")
_KEY_FILE = "private_key_file"
_MAY_BE_LISTS = ("tenant", "verified_tenants")
_GROUPS_CLAIM = "groups_claim"
_MAPPINGS = ("roles", "workspaces")
_ALLOW_ROOT = "allow_root"
_BY_GROUP = (*_MAPPINGS, "roles_mode", _ALLOW_ROOT)
_TENANT_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_EVERY_TENANT = ("organizations", "common")


def read_providers(given: object) -> dict[str, Provider]:
    """Return the providers of a setting, a mapping by name. Raises ValueError."""
    if not isinstance(given, Mapping):
        raise ValueError("must be a mapping of identity providers by name")
    return {str(name): _read_provider(str(name), members) for name, members in given.items()}


def _read_provider(name: str, members: object) -> Provider:
    if isinstance(members, Provider):
        return members
    try:
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise ValueError(
                "needs another name: at most 31 small letters, digits and hyphens, and not"
                f" {', '.join(_RESERVED)}"
            )
        if not isinstance(members, Mapping):
            raise ValueError("must be a mapping")
        return _make_provider(name, dict(members))
    except ValueError as error:
        raise ValueError(f"the identity provider {name!r} {error}") from None


def _make_provider(name: str, members: JsonObject) -> Provider:
    kind = KINDS.get(str(members.get("kind")))
    if kind is None:
        raise ValueError(f"needs a kind: {', '.join(KINDS)}")
    known = {*_COMMON, *kind.required, *kind.optional}
    if kind.has_groups:
        known |= {_GROUPS_CLAIM, *_BY_GROUP}
    if SECRET in known:
        known.add(f"{SECRET}_file")
    if unknown := sorted(map(str, members.keys() - known)):
        raise ValueError(f"has the unknown member {unknown[0]}")
    for member, value in members.items():
        if member in (*_MAPPINGS, _ALLOW_ROOT):
            continue
        is_list = member in _MAY_BE_LISTS and isinstance(value, (list, tuple))
        if not all(isinstance(each, str) and each for each in (value if is_list else [value])):
            raise ValueError(f"needs a text for {member}")
    if SECRET in members and f"{SECRET}_file" in members:
        raise ValueError("has both client_secret and client_secret_file")
    secrets = list(_secrets(members))
    for member in ("client_id", *kind.required):
        if member not in members and not (member == SECRET and secrets):
            raise ValueError(f"needs {member}")
    return Provider(
        name,
        members["kind"],
        members["client_id"],
        members.get("title", kind.title or name),
        SecretStr(next(iter(secrets), "")),
        members.get("redirect_uri", ""),
        *_addresses(kind, members),
        team_id=members.get("team_id", ""),
        key_id=members.get("key_id", ""),
        secret_file=members.get(f"{SECRET}_file") or members.get(_KEY_FILE, ""),
        verified_tenants=_tenants(members, "verified_tenants"),
        groups_claim=members.get(_GROUPS_CLAIM, ""),
        **_groups(members),
    )


def _groups(members: JsonObject) -> JsonObject:
    """Return what the groups of a user give."""
    has_claim, tenant = _GROUPS_CLAIM in members, members.get("tenant")
    for member in _BY_GROUP:
        _require(has_claim or member not in members, f"has {member}, and needs groups_claim")
    # The administrators of every tenant could give roles to their users.
    is_bounded = not has_claim or tenant not in _EVERY_TENANT
    _require(is_bounded, "has groups_claim, and needs the IDs of tenants for tenant")
    roles, workspaces = (members.get(member, {}) for member in _MAPPINGS)
    mode, allows_root = members.get("roles_mode", "add"), members.get(_ALLOW_ROOT, False)
    _require(_is_mapping(roles, str), "needs a mapping of groups to roles for roles")
    _require(
        _is_mapping(workspaces, Mapping), "needs a mapping of groups to workspaces for workspaces"
    )
    _require(mode in ("add", "replace"), "needs add or replace for roles_mode")
    _require(mode == "add" or roles, "has roles_mode replace, and needs roles")
    _require(isinstance(allows_root, bool), "needs true or false for allow_root")
    is_allowed = allows_root or ROOT not in roles.values()
    _require(is_allowed, "gives the role root in roles, and needs allow_root: true")
    found = {group: _workspace_group(given) for group, given in workspaces.items()}
    return {"roles": roles, "workspaces": found, "replaces_roles": mode == "replace"}


def _require(condition: object, sentence: str) -> None:
    if not condition:
        raise ValueError(sentence)


def _is_mapping(value: object, kind: type[object]) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(group, str) and group and isinstance(given, kind) and given
        for group, given in value.items()
    )


def _workspace_group(given: JsonObject) -> WorkspaceGroup:
    slug, member_type = given.get("slug", ""), given.get("type", "")
    is_complete = given.keys() == {"slug", "type"} and isinstance(slug, str) and slug
    _require(is_complete, "needs the members slug and type for each group in workspaces")
    types = ", ".join(MEMBER_TYPES)
    _require(member_type in MEMBER_TYPES, f"needs a type in workspaces: {types}")
    return WorkspaceGroup(slug, member_type)


def _secrets(members: JsonObject) -> Iterator[str]:
    if SECRET in members:
        yield members[SECRET]
    for member in (f"{SECRET}_file", _KEY_FILE):
        if member not in members:
            continue
        try:
            text = Path(members[member]).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not a text file"
            raise ValueError(f"has a {member} that cannot be read: {reason}") from None
        if not text or (member == _KEY_FILE and "PRIVATE KEY-----" not in text):
            wanted = "no private key in PEM format" if text else "no text"
            raise ValueError(f"has a {member} with {wanted}")
        yield text


def _addresses(kind: Kind, members: JsonObject) -> tuple[str, str, tuple[str, ...]]:
    """Return where the provider's document is, its issuer, and the tenants if there are several."""
    url, issuer = members.get("metadata_url", kind.metadata_url), members.get("issuer", kind.issuer)
    if url and not url.startswith(("https://", "http://")):
        raise ValueError("needs a URL for metadata_url")
    if "tenant" not in members:
        return url, issuer, ()
    if members["tenant"] in _EVERY_TENANT:
        return url.replace(TENANT, members["tenant"]), issuer, ()
    tenants = _tenants(members, "tenant")
    if len(tenants) == 1:
        return url.replace(TENANT, tenants[0]), issuer.replace(TENANT, tenants[0]), ()
    return url.replace(TENANT, _EVERY_TENANT[0]), issuer, tenants


def _tenants(members: JsonObject, member: str) -> tuple[str, ...]:
    value = members.get(member, ())
    found = (value,) if isinstance(value, str) else tuple(value)
    if (member in members and not found) or not all(map(_TENANT_ID.fullmatch, found)):
        others = f", or {' or '.join(_EVERY_TENANT)}" if member == "tenant" else ""
        raise ValueError(
            f"needs the IDs of tenants for {member}, such as"
            f" 8eaef023-2b34-4da1-9baa-8bc8c9d6a490{others}"
        )
    return found
