"""The choices of languages, each by its native name, and of time zones."""

from functools import cache

from ...accounts.locales import time_zones
from ..texts import available_languages

_LANGUAGES = {
    "ar": "العربية",
    "bg": "Български",
    "ca": "Català",
    "cs": "Čeština",
    "da": "Dansk",
    "de": "Deutsch",
    "de-AT": "Deutsch (Österreich)",
    "de-CH": "Deutsch (Schweiz)",
    "el": "Ελληνικά",
    "en": "English",
    "en-GB": "English (United Kingdom)",
    "en-US": "English (United States)",
    "es": "Español",
    "es-MX": "Español (México)",
    "et": "Eesti",
    "fi": "Suomi",
    "fr": "Français",
    "fr-CA": "Français (Canada)",
    "he": "עברית",
    "hi": "हिन्दी",
    "hr": "Hrvatski",
    "hu": "Magyar",
    "id": "Bahasa Indonesia",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "lt": "Lietuvių",
    "lv": "Latviešu",
    "nb": "Norsk bokmål",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "pt-BR": "Português (Brasil)",
    "ro": "Română",
    "ru": "Русский",
    "sk": "Slovenčina",
    "sl": "Slovenščina",
    "sr": "Српски",
    "sv": "Svenska",
    "th": "ไทย",
    "tr": "Türkçe",
    "uk": "Українська",
    "vi": "Tiếng Việt",
    "zh-CN": "简体中文",
    "zh-TW": "繁體中文",
}
# Canonical time zones; the others are aliases for old programs.
_REGIONS = (
    "Africa/",
    "America/",
    "Antarctica/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
)


def language_choices(chosen: str | None) -> list[tuple[str, str]]:
    """Return the languages with a translation, and the current one if a client has set another."""
    translated = available_languages()
    choices = {
        tag: name
        for tag, name in _LANGUAGES.items()
        if tag.replace("-", "_") in translated or tag.partition("-")[0] in translated
    }
    if chosen and chosen not in choices:
        choices = {chosen: _LANGUAGES.get(chosen, chosen), **choices}
    return list(choices.items())


def time_zone_choices(chosen: str | None) -> list[str]:
    known = _zones()
    return [*([chosen] if chosen and chosen not in known else []), *known]


@cache
def _zones() -> tuple[str, ...]:
    return ("UTC", *sorted(zone for zone in time_zones() if zone.startswith(_REGIONS)))
