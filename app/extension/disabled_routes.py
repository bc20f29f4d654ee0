"""Finds the setting that disables a route of the service, after a 404."""

from ..core.config.settings import LoadedSettings

_OFF: tuple[object, ...] = ("off", "alone", False, {})


def find_disabling_setting(settings: LoadedSettings, path: str) -> str | None:
    """Return the name of the setting, such as `AUTH__SESSIONS`, or None for any other path.

    The table has the paths of all features: the packages of disabled features are not imported.
    """
    # Imported here: few processes respond with a 404.
    from .feature_routes import ROUTES

    prefix = settings.core.API_V1_STR
    if not path.startswith(f"{prefix}/"):
        return None
    parts = path.removeprefix(prefix).rstrip("/").split("/")
    for rule, names in ROUTES:
        if _matches(rule.split("/"), parts):
            for name in names.split():
                namespace, _, key = name.partition("__")
                if getattr(settings.namespaces[namespace], key) in _OFF:
                    return name
    return None


def _matches(rule: list[str], parts: list[str]) -> bool:
    pairs = zip(rule, parts, strict=False)
    return len(rule) == len(parts) and all(own in ("*", part) for own, part in pairs)
