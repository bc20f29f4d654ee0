"""Finds an email's template, the application's before Frontdesk's, and renders the email."""

from functools import cached_property

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
from ..message import Email
from .brand import BrandSettings


def text_of(html: str) -> str:
    # The parser is imported when the first email is rendered.
    from .plain_text import read

    return read(html)


LAYOUT = "frontdesk/mail.html"


class Templates:
    def __init__(self, app: Flask, core: CoreSettings, brand: BrandSettings) -> None:
        self.app = app
        self.core = core
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

    def email(self, to: str, subject: str, name: str, /, **context: object) -> Email:
        """Render `name.html`, and the text from `name.txt` if it exists or else from the HTML."""
        context["brand"] = self.brand
        html = render_template(self.get(f"{name}.html"), **context)
        text = self.find(f"{name}.txt")
        return Email(to, subject, render_template(text, **context) if text else text_of(html), html)

    def to_account(
        self, name: str, to: str, topic: str, /, *, path: str = "", **context: object
    ) -> Email:
        """Render an email about an account, which does not need to exist.

        Args:
            topic: The subject, without the name of the brand.
            path: Path of the page that the link opens, with the token if the context has one.
        """
        core = self.core
        if path:
            query = f"?token={context['token']}" if "token" in context else ""
            context["link"] = core.page_url(path) + query
        return self.email(
            to,
            f"{self.brand.NAME}: {topic}",
            name,
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
