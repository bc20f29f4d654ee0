from ..core.errors import NotFound, QuotaReached, TooManyRequests


class PersonalTokenNotFound(NotFound):
    code = "personal_token_not_found"
    detail = "Personal token not found"
    title = "The personal token does not exist"
    cause = "The account has no valid personal token with this id."
    fix = "List the personal tokens, and use one of their ids."


class WorkspaceTokenNotFound(NotFound):
    code = "workspace_token_not_found"
    detail = "Workspace token not found"
    title = "The workspace token does not exist"
    cause = "The workspace has no valid token with this id."
    fix = "List the tokens of the workspace, and use one of their ids."


class TooManyTokens(QuotaReached):
    detail = "The limit of 25 valid tokens is reached"
    cause = "The account or the workspace has 25 valid tokens."
    fix = "End a token that is no longer used."


class TokenLimitReached(TooManyRequests):
    """A token has sent too many requests to this worker within a minute."""

    detail = "Too many requests with this token"
    cause = "The token has sent more than `AUTH__PERSONAL_TOKEN_LIMIT` requests within a minute."
