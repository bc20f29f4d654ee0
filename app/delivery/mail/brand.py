"""The brand of emails: name, logo, colors and footer."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from ...core.config.settings import Namespace
from ...core.translations import Translator

_LINK = r"^https?://[^\s\"'<>]+$"
# A URL, or a path of the application. Both are also in style sheets.
_PART = r"[^\s\"'<>\\]"
_IMAGE = rf"^$|^(https?://[^\s\"'<>\\/;,]+(/{_PART}*)?|/([^\s\"'<>\\/]{_PART}*)?)$"


class BrandSettings(Namespace):
    """Name and appearance of emails and pages, the namespace BRAND."""

    NAME: str = Field(
        default="",
        description="Name that users see: on pages, in emails, in authenticator apps"
        " and in passkey prompts. If empty, `CORE__PROJECT_NAME`.",
    )
    LOGO_URL: str = Field(
        default="",
        pattern=_IMAGE,
        description="URL of a logo that replaces the name: on pages, which accept a path too,"
        " and in emails, 40 pixels high. Example: `https://www.example.com/logo.png`.",
    )
    LOGO_DARK_URL: str = Field(
        default="", pattern=_IMAGE, description="URL or path of the logo of dark pages."
    )
    ICON_URL: str = Field(
        default="", pattern=_IMAGE, description="URL or path of the icon of pages in a browser."
    )
    COLOR: str = Field(
        default="#1f4e79",
        pattern=r"^#[0-9A-Fa-f]{6}$",
        description="Color of buttons and of the line at the top of emails.",
    )
    TEXT_COLOR: str = Field(
        default="",
        pattern=r"^(#[0-9A-Fa-f]{6})?$",
        description="Color of the text on buttons in emails. If empty, black or white,"
        " depending on the contrast.",
    )
    FOOTER: str = Field(default="", description="Short text at the end of emails.")
    ADDRESS: str = Field(
        default="", description="Postal address at the end of emails, which many countries require."
    )
    SUPPORT_EMAIL: str = Field(
        default="",
        pattern=r"^([^\s@\"'<>]+@[^\s@\"'<>]+)?$",
        description="Email address for questions at the end of emails. Example:"
        " `help@example.com`.",
    )
    LINKS: dict[Annotated[str, Field(min_length=1)], Annotated[str, Field(pattern=_LINK)]] = Field(
        default={},
        description='Links in the last line of emails. Example: `{"Privacy":'
        ' "https://www.example.com/privacy"}`.',
    )

    def with_text_color(self) -> BrandSettings:
        """Return the settings with a text color: without one, black or white by contrast."""
        if self.TEXT_COLOR:
            return self
        # At this luminance, black and white have the same contrast by WCAG.
        text_color = "#000000" if _luminance(self.COLOR) > 0.179 else "#ffffff"
        return self.model_copy(update={"TEXT_COLOR": text_color})

    def text(self, translate: Translator) -> str:
        """Return the end of an email as text."""
        support = self.SUPPORT_EMAIL
        questions = translate("Questions? {link}", link=support) if support else ""
        links = "\n".join(f"{name}: {address}" for name, address in self.LINKS.items())
        parts = (part.strip() for part in (questions, self.FOOTER, self.ADDRESS, links))
        return "\n\n".join(part for part in parts if part)

    @property
    def image_origins(self) -> set[str]:
        """The other sites that pages load images of the brand from."""
        urls = map(urlsplit, (self.LOGO_URL, self.LOGO_DARK_URL, self.ICON_URL))
        return {f"{url.scheme}://{url.netloc}" for url in urls if url.netloc}

    @property
    def contrast(self) -> float:
        """The contrast between a button and its text, which should be at least 4.5 (WCAG)."""
        pair = sorted((_luminance(self.COLOR), _luminance(self.with_text_color().TEXT_COLOR)))
        return (pair[1] + 0.05) / (pair[0] + 0.05)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(int(color[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
