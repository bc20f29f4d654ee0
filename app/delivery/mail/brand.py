"""Whose mails they look like."""

from __future__ import annotations

from pydantic import BaseModel, Field, ValidationError

from ...core.config.environment import wrong_settings
from ...core.config.settings import Namespace, Namespaces


class BrandSettings(Namespace):
    NAME: str = Field(
        default="", description="Shown above every mail; empty: `CORE__PROJECT_NAME`."
    )
    LOGO_URL: str = Field(
        default="",
        pattern=r"^(https?://[^\s\"'<>]+)?$",
        description="A picture in the name's place, shown 40 pixels high.",
    )
    COLOR: str = Field(
        default="#1f4e79",
        pattern=r"^#[0-9A-Fa-f]{6}$",
        description="Of buttons and of the line on top, as `#1f4e79`.",
    )
    FOOTER: str = Field(
        default="", description="The last lines of every mail, such as a postal address."
    )
    SUPPORT_EMAIL: str = Field(
        default="",
        pattern=r"^([^\s@\"'<>]+@[^\s@\"'<>]+)?$",
        description="Where mails say that questions go.",
    )

    @classmethod
    def read(cls, settings: Namespaces) -> BrandSettings:
        """A host gives them as `BRAND`, an object of this class or a mapping."""
        try:
            brand = _Given(BRAND=settings.top_level("BRAND") or {}).BRAND
        except ValidationError as error:
            raise wrong_settings(error) from None
        return brand.model_copy(update={"NAME": brand.NAME or settings.core.PROJECT_NAME})

    @property
    def TEXT_COLOR(self) -> str:
        """Black or white, whichever is easier to read on the brand's colour."""
        red, green, blue = (_linear(int(self.COLOR[i : i + 2], 16) / 255) for i in (1, 3, 5))
        luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        # Where black and white are equally far from it, as WCAG measures.
        return "#000000" if luminance > 0.179 else "#ffffff"


class _Given(BaseModel):
    """So that what is wrong is named as an operator writes it, `BRAND__COLOR`."""

    BRAND: BrandSettings


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
