"""The brand of emails: name, logo, colours and footer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...core.config.settings import Namespace

_LINK = r"^https?://[^\s\"'<>]+$"


class BrandSettings(Namespace):
    NAME: str = Field(
        default="", description="Shown above every mail; empty: `CORE__PROJECT_NAME`."
    )
    LOGO_URL: str = Field(
        default="",
        pattern=rf"^$|{_LINK}",
        description="A picture in the name's place, shown 40 pixels high.",
    )
    COLOR: str = Field(
        default="#1f4e79",
        pattern=r"^#[0-9A-Fa-f]{6}$",
        description="Of buttons and of the line on top, as `#1f4e79`.",
    )
    TEXT_COLOR: str = Field(
        default="",
        pattern=r"^(#[0-9A-Fa-f]{6})?$",
        description="Of the text on buttons; empty: black or white, whichever is easier to read.",
    )
    FOOTER: str = Field(default="", description="A sentence or two below every mail.")
    ADDRESS: str = Field(
        default="", description="The postal address, below that, as many laws ask for it."
    )
    SUPPORT_EMAIL: str = Field(
        default="",
        pattern=r"^([^\s@\"'<>]+@[^\s@\"'<>]+)?$",
        description="Where mails say that questions go.",
    )
    LINKS: dict[Annotated[str, Field(min_length=1)], Annotated[str, Field(pattern=_LINK)]] = Field(
        default={},
        description='The last line, `{"Privacy": "https://www.example.com/privacy"}`.',
    )

    def with_text_color(self) -> BrandSettings:
        """Where none is given, black or white, whichever is easier to read on the brand's."""
        if self.TEXT_COLOR:
            return self
        # Where black and white are equally far from it, as WCAG measures.
        text_color = "#000000" if _luminance(self.COLOR) > 0.179 else "#ffffff"
        return self.model_copy(update={"TEXT_COLOR": text_color})

    @property
    def text(self) -> str:
        """What stands below every mail, where there is no HTML."""
        questions = f"Questions? {self.SUPPORT_EMAIL}" if self.SUPPORT_EMAIL else ""
        links = "\n".join(f"{name}: {address}" for name, address in self.LINKS.items())
        said = (each.strip() for each in (questions, self.FOOTER, self.ADDRESS, links))
        return "\n\n".join(each for each in said if each)

    @property
    def contrast(self) -> float:
        """Between a button and its text; 4.5 is the least that most people can read."""
        pair = sorted((_luminance(self.COLOR), _luminance(self.with_text_color().TEXT_COLOR)))
        return (pair[1] + 0.05) / (pair[0] + 0.05)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(int(color[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
