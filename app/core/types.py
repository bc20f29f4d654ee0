"""Names for values without a narrower type: each says where its values come from."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

# The id of an account: the application's account model chooses an int, a UUID or a string.
AccountKey = int | str | UUID
# The application's account class. It has the columns of `AccountLike`, and others of its choice.
AccountModel = type[Any]
# An object that a schema or the JSON encoder writes into a response, an email or an export.
JsonObject = dict[str, Any]
# Values by the names of columns or fields, of any type that a column can have.
Values = Mapping[str, Any]
# The options of a signal, next to its subject: `session`, `origin`.
SignalOptions = dict[str, object]
# A hook, a view or a command: the code that calls it knows its arguments.
AnyFunction = Callable[..., Any]
