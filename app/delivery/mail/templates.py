"""Finds an email's template, the application's before Frontdesk's, and renders the email."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from flask import Flask, render_template
from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    Template,
    TemplateNotFound,
)

from ...core.config.settings import CoreSettings
from ...core.process.folders import templates_folder
from ...core.request import requested_languages
from ...core.translations import (
    ENGLISH,
    Translator,
    available_languages,
    load_catalog,
    select_language,
    translation_folders,
)
from ..message import Email
from .brand import BrandSettings


def text_of(html: str) -> str:
    # The parser is imported when the first email is rendered.
    from .plain_text import html_to_text

    return html_to_text(html)


LAYOUT = "frontdesk/mail.html"
DOMAIN = "emails"


class PasswordUse(NamedTuple):
    """Whether accounts can have passwords, so that emails may mention them."""

    is_on: bool


class Templates:
    def __init__(
        self,
        app: Flask,
        core: CoreSettings,
        brand: BrandSettings,
        find_locale: Callable[[str], str | None] = lambda _email: None,
        password_use: Sequence[PasswordUse] = (),
    ) -> None:
        """`find_locale`: returns the language of the account with an email address."""
        self.app = app
        self.core = core
        self._find_locale = find_locale
        self._password_use = password_use
        self._folders = translation_folders(app.root_path)
        self.brand = brand.with_text_color()
        # Jinja caches existing templates but searches for missing ones each time.
        self._missing: set[str] = set()

    def get(self, name: str) -> Template:
        return self.environment.get_template(name)

    def find(self, name: str) -> Template | None:
        if name in self._missing:
            return None
        try:
            return self.get(name)
        except TemplateNotFound:
            # With auto-reload, the application may still create the template.
            if not self.environment.auto_reload:
                self._missing.add(name)
            return None

    def are_built_in(self, *names: str) -> bool:
        """Whether the application replaces none of these templates."""
        folder = templates_folder()
        return all(self.get(name).filename == str(folder / name) for name in names)

    def language_of(self, to: str, locale: str | None = None) -> str:
        """Return the language of an email: `locale` or that of the account with the address,
        otherwise that of the browser that asked for the email, otherwise the default."""
        languages = self._languages
        # Without translations, no account is read.
        if locale is None and len(languages) > 1:
            locale = self._find_locale(to)
        return select_language(languages, [locale, *requested_languages(), self.core.LANGUAGE])

    def language_for(self, locale: str | None) -> str:
        """Return the language of an email that is sent in the background."""
        return select_language(self._languages, [locale, self.core.LANGUAGE])

    @property
    def has_passwords(self) -> bool:
        return all(each.is_on for each in self._password_use)

    @property
    def _languages(self) -> frozenset[str]:
        return available_languages(DOMAIN, self._folders)

    def translator(self, language: str, is_html: bool = False) -> Translator:
        return Translator(language, load_catalog(DOMAIN, language, self._folders), is_html)

    def texts(self, language: str, *, is_html: bool) -> dict[str, object]:
        """Return what every template gets: the functions that translate its texts, and whether
        accounts can have passwords."""
        translate = self.translator(language, is_html)
        return {
            "translate": translate,
            "translate_n": translate.plural,
            "has_passwords": self.has_passwords,
        }

    def email(
        self, to: str, subject: str, name: str, language: str = ENGLISH, /, **context: object
    ) -> Email:
        """Render `name.html`, and the text from `name.txt` if it exists or else from the HTML."""
        context["brand"] = self.brand
        in_html = {**context, **self.texts(language, is_html=True)}
        html = render_template(self.get(f"{name}.html"), **in_html)
        template = self.find(f"{name}.txt")
        if template is None:
            return Email(to, subject, text_of(html), html)
        in_text = {**context, **self.texts(language, is_html=False)}
        return Email(to, subject, render_template(template, **in_text), html)

    def to_account(
        self,
        name: str,
        to: str,
        topic: str,
        /,
        *,
        path: str = "",
        locale: str | None = None,
        **context: object,
    ) -> Email:
        """Render an email about an account, which does not need to exist.

        Args:
            topic: The subject, without the name of the brand, with placeholders for values of the
                context; translated here.
            path: Path of the page that the link opens, with the token if the context has one.
            locale: The account's language, for an address that is not the account's now.
        """
        core = self.core
        if path:
            query = f"?token={context['token']}" if "token" in context else ""
            context["link"] = core.page_url(path) + query
        language = self.language_of(to, locale)
        translate = self.translator(language)
        subject = translate(
            "{project}: {topic}", project=self.brand.NAME, topic=translate(topic, **context)
        )
        return self.email(
            to,
            subject,
            name,
            language,
            username=to,
            project=self.brand.NAME,
            client_host=core.page_host,
            **context,
        )

    @cached_property
    def environment(self) -> Environment:
        """The application's environment, which also finds Frontdesk's templates."""
        environment = self.app.jinja_env
        loaders: list[BaseLoader] = [environment.loader] if environment.loader else []
        return environment.overlay(
            loader=ChoiceLoader([*loaders, FileSystemLoader(templates_folder())])
        )
