from ..core.web.blueprint import Blueprint, LazyView
from .service import PersonalTokens

blueprint = Blueprint(
    "tokens",
    __name__,
    needs=PersonalTokens,
    about="Tokens for programs, and their scopes",
    remedy="set AUTH.PERSONAL_TOKENS to `on`.",
)
_OWN = "/personal-tokens"
_OF_ACCOUNT = f"/admin/accounts/<account_id:account_id>{_OWN}"
_OF_WORKSPACE = "/workspaces/<workspace_slug>/tokens"
for method, rule, name in (
    ("GET", "/scopes", "list_scopes"),
    ("GET", _OWN, "list_personal_tokens"),
    ("POST", _OWN, "create_personal_token"),
    ("DELETE", _OWN, "end_personal_tokens"),
    ("DELETE", f"{_OWN}/<row_id:token_id>", "end_personal_token"),
    ("GET", _OF_ACCOUNT, "list_account_tokens"),
    ("DELETE", _OF_ACCOUNT, "end_account_tokens"),
    ("DELETE", f"{_OF_ACCOUNT}/<row_id:token_id>", "end_account_token"),
    ("GET", _OF_WORKSPACE, "list_workspace_tokens"),
    ("POST", _OF_WORKSPACE, "create_workspace_token"),
    ("DELETE", f"{_OF_WORKSPACE}/<row_id:token_id>", "end_workspace_token"),
):
    view = LazyView(f"routes.{name}", __package__)
    blueprint.add_url_rule(rule, view_func=view, methods=[method])
