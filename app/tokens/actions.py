"""The actions of tokens, apart from the services, which load the tables."""

from ..core.actions import Action, Title
from ..core.types import Values

AREAS = {"Tokens for programs": ("personal_token", "workspace_token")}

_NAME = {"name": "the name of the token"}
_CREATED = {**_NAME, "scopes": "the names of the scopes", "expires_at": "when the token expires"}
_NETWORK = {**_NAME, "network": "the network: /24, or /48 of IPv6"}


def _describe_end(data: Values) -> Title | None:
    return Title("Several personal tokens ended") if data.get("tokens", 1) > 1 else None


PERSONAL_TOKEN_CREATED = Action(
    "personal_token.created",
    "Personal token created",
    _CREATED,
    log_event="personal_token_creation",
)
PERSONAL_TOKEN_ENDED = Action(
    "personal_token.ended",
    "Personal token ended",
    {
        **_NAME,
        "reason": "`owner`, `operator`, `password_reset`, `suspension`, `deletion` or `reclaim`",
        "tokens": "number of tokens, if all of the account or of all accounts ended",
    },
    log_event="personal_token_end",
    describe=_describe_end,
)
PERSONAL_TOKEN_NETWORK_ADDED = Action(
    "personal_token.network_added",
    "Personal token used from a new network",
    _NETWORK,
    log_event="personal_token_network",
)
WORKSPACE_TOKEN_CREATED = Action(
    "workspace_token.created",
    "Workspace token created",
    {**_CREATED, "type": "the type of the member as which the token acts"},
    log_event="workspace_token_creation",
)
WORKSPACE_TOKEN_ENDED = Action(
    "workspace_token.ended", "Workspace token ended", _NAME, log_event="workspace_token_end"
)
WORKSPACE_TOKEN_NETWORK_ADDED = Action(
    "workspace_token.network_added",
    "Workspace token used from a new network",
    _NETWORK,
    log_event="workspace_token_network",
)
