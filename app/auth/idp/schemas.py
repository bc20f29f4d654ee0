"""Schemas of sign-in through identity providers, and of the identities of accounts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NotRequired, TypedDict

from flask import has_request_context, request
from marshmallow import Schema, ValidationError, fields, post_load, pre_load, validates_schema

from ...core.coded_messages import REQUIRED, CodedMessage
from ...core.context import current_frontdesk, service
from ...core.types import JsonObject
from ...core.web.fields import EnumField, NamedEnum, RequestSchema, Text, Timestamp, response_field
from ...core.web.request_data import load_body
from .provider import DEFAULT, KINDS, Provider, RedirectUris
from .providers import Providers

PROVIDER_KIND = NamedEnum("ProviderKind", tuple(KINDS))
# The longest form with a logout token.
MAX_LOGOUT_FORM = 16 * 1024
NOT_ALLOWED = CodedMessage(
    "Not an allowed redirect URI.", "invalid_format", expected="redirect_uri"
)


class RedirectUri(Text):
    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        uri = super()._deserialize(value, attr, data, **kwargs)
        if not service(RedirectUris).allows(uri, _provider_of_path()):
            raise ValidationError(NOT_ALLOWED)
        return uri


def _provider_of_path() -> Provider:
    # Tests and tools load schemas without a request.
    path = (request.view_args or {}) if has_request_context() else {}
    return service(Providers).find(path.get("provider", DEFAULT))


class IdpLogin(RequestSchema):
    class Input(TypedDict):
        redirect_uri: str

    redirect_uri = RedirectUri(
        max=500,
        description="URL to which the identity provider returns the browser. Default: that of"
        " the provider, otherwise `IDP_REDIRECT_URI`.",
    )

    @pre_load
    def fill_in_redirect_uri(self, data: object, **kwargs: object) -> object:
        default = _provider_of_path().redirect_uri
        if isinstance(data, Mapping) and default:
            return {"redirect_uri": default, **data}
        return data

    @validates_schema(skip_on_field_errors=True)
    def require_redirect_uri(self, data: Input, **kwargs: object) -> None:
        if "redirect_uri" not in data:
            raise ValidationError(REQUIRED, "redirect_uri")


class IdpCallback(IdpLogin):
    class Input(IdpLogin.Input):
        code: str
        state: str | None
        auth_data: JsonObject | None
        sent_auth_data: NotRequired[JsonObject | None]

    code = Text(
        min=1, max=4096, required=True, description="Authorization code from the identity provider."
    )
    state = Text(
        max=512,
        load_default=None,
        description="`state` that the identity provider returned with the code.",
    )
    auth_data = fields.Dict(
        keys=fields.String(),
        metadata={"description": "Additional data for the application's sign-up."},
    )

    @pre_load
    def fill_in_auth_data(self, data: object, **kwargs: object) -> object:
        return {"auth_data": {}, **data} if isinstance(data, Mapping) else data

    @post_load(pass_original=True)
    def drop_unvalidated_data(self, data: Input, sent: Input, **kwargs: object) -> Input:
        """Remove `auth_data` that no schema of the application has validated."""
        if not isinstance(self.fields["auth_data"], fields.Nested):
            return {**data, "auth_data": None}
        return {**data, "sent_auth_data": sent.get("auth_data")}


class ProviderCallback(IdpCallback):
    class Input(IdpCallback.Input):
        iss: str | None

    state = Text(
        max=512,
        load_default=None,
        description="`state` that the identity provider returned with the code. Required, except"
        " for the provider `default`.",
    )
    iss = Text(
        max=512,
        load_default=None,
        description="`iss` that the identity provider returned with the code (RFC 9207).",
    )


class LinkBegin(IdpLogin):
    class Meta(IdpLogin.Meta):
        # The provider may have a redirect URI.
        may_be_missing = True


class LinkBegun(Schema):
    provider_url = response_field(fields.String, "Page of the provider, for the browser.")


class ProviderReturn(RequestSchema):
    class Input(TypedDict):
        code: NotRequired[str]
        state: NotRequired[str]
        error: NotRequired[str]

    code = Text(max=4096, description="Authorization code.")
    state = Text(max=512, description="`state` of the sign-in.")
    error = Text(max=512, description="Error code, if the user canceled the sign-in.")


class LogoutToken(RequestSchema):
    class Input(TypedDict):
        logout_token: str

    logout_token = Text(
        max=MAX_LOGOUT_FORM, required=True, description="Logout token, signed by the provider."
    )


class ProviderRead(Schema):
    name = response_field(fields.String, "Name of the provider, for the paths below `/idp/`.")
    kind = response_field(EnumField, "Kind of the provider.", PROVIDER_KIND)
    title = response_field(fields.String, "Name of the provider for users.")


class LinkConfirmation(RequestSchema):
    class Input(TypedDict):
        link_token: str

    link_token = Text(
        min=1,
        max=4096,
        required=True,
        description="`link_token` of the error `link_confirmation_required`.",
    )


class IdentityRead(Schema):
    id = response_field(fields.Integer, "Id of the link.")
    provider = response_field(fields.String, "Name of the provider.")
    issuer = response_field(fields.String, "Issuer of the user's id at the provider.")
    email = response_field(
        fields.String,
        "Email address at the provider at the time of linking, which only a link at a sign-in"
        " requires to be verified. Empty if the provider sent none.",
    )
    linked_at = response_field(Timestamp, "When the account was linked.")
    last_used_at = response_field(Timestamp, "Last sign-in with this identity.")


def idp_callback_read() -> type[Schema]:
    return _with_payload(IdpCallback, current_frontdesk.schemas.get("idp_payload"))


def provider_callback_read() -> type[Schema]:
    return _with_payload(ProviderCallback, current_frontdesk.schemas.get("idp_payload"))


def load_auth_data(sent: JsonObject | None) -> object:
    """Return `auth_data` as the callback loads it."""
    payload = current_frontdesk.schemas.get("idp_payload")
    return None if payload is None else load_body(payload, sent or {})


@cache
def _with_payload(callback: type[Schema], payload: type[Schema] | None) -> type[Schema]:
    """Return the callback schema with the application's `auth_data`."""
    if payload is None:
        return callback
    return type(callback.__name__, (callback,), {"auth_data": fields.Nested(payload)})
