"""Settings of earlier versions that have no effect any more, until 1.0.

A removed setting stops no start, wherever it is set: each start logs one warning, which names the
setting and what took its place.
"""

from collections.abc import Iterable

# By the name in the environment, such as `AUTH__LOGIN_LIMIT`: a sentence, what took its place. The
# `settings.py` of each feature adds its own.
REMOVED_SETTINGS: dict[str, str] = {}


def removed_fields(namespaces: Iterable[str]) -> set[str]:
    """Return the names of the removed settings without their namespace: `LOGIN_LIMIT`."""
    split = (name.partition("__") for name in REMOVED_SETTINGS)
    return {field for namespace, _, field in split if namespace in namespaces}
