"""Adds the routes of identity providers to the blueprint of authentication.

Their views are imported by the first request, because few applications have identity providers.
"""

from ...core.web.blueprint import LazyView
from ..blueprint import blueprint
from .providers import Providers

_CONTRACT = (
    ("GET", "/idp/login", "routes.idp_login"),
    ("POST", "/idp/callback", "routes.idp_callback"),
)
_WITH_PROVIDERS = (
    ("GET", "/idp/providers", "routes.list_providers"),
    ("GET", "/idp/<provider>/login", "routes.provider_login"),
    ("POST", "/idp/<provider>/callback", "routes.provider_callback"),
    ("POST", "/idp/<provider>/return", "routes.provider_return"),
    ("POST", "/idp/<provider>/verify", "routes.provider_verify"),
    ("POST", "/idp/<provider>/backchannel-logout", "logout_routes.backchannel_logout"),
    ("GET", "/account/identities", "account_routes.list_identities"),
    ("POST", "/account/identities/confirm", "account_routes.confirm_link"),
    ("POST", "/account/identities/<provider>", "account_routes.begin_link"),
    ("DELETE", "/account/identities/<row_id:identity_id>", "account_routes.unlink_identity"),
)

for method, rule, name in _CONTRACT:
    blueprint.add_url_rule(rule, view_func=LazyView(name, __package__), methods=[method])
for method, rule, name in _WITH_PROVIDERS:
    view = LazyView(name, __package__)
    blueprint.add_url_rule(rule, view_func=view, methods=[method], only_with=Providers)
