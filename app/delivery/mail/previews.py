"""Previews of emails with sample values."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from html import unescape

from jinja2 import Template, meta, nodes

from ...core.config.settings import CoreSettings
from ...core.process.folders import templates_folder
from ...core.translations import ENGLISH
from ...core.types import JsonObject, Values
from ..message import Email, StoredMessage
from ..personal import FieldValues
from .channel import TEMPLATE, EmailRenderer
from .markup import linked
from .templates import Templates

TITLE = "Closed on Friday"
MESSAGE = "We are closed on Friday, and open again on Monday.\nSee https://example.com/hours."
TOKEN = "a-sample-that-opens-nothing"
# A sample value for each variable of the templates.
SAMPLES: Values = {
    "title": TITLE,
    "message": MESSAGE,
    "message_html": linked(MESSAGE),
    "token": TOKEN,
    "code": "01234567",
    "code_minutes": 10,
    "token_hours": 48,
    "days": 14,
    "new_email": "countess@example.com",
    "undo_hours": 72,
    "deletes_on": date(2030, 1, 15),
    "provider": "accounts.example.com",
    "workspace": "The Library",
    "inviter": "grace@example.com",
    "type": "admin",
    "authenticator": "Phone",
    "token_name": "Nightly backup",
    "expires_on": date(2030, 4, 1),
    "codes_left": 9,
    "device": "Firefox on Linux",
    "address": "192.0.2.17",
    "signed_in_on": date(2030, 1, 1),
}


@dataclass(eq=False)
class Previews:
    templates: Templates
    core: CoreSettings
    language: str = ENGLISH

    def names(self) -> list[str]:
        """Return the names of Frontdesk's templates. Those of the application work too."""
        return sorted(path.stem for path in templates_folder().glob("*.html"))

    def subject(self, name: str, to: str) -> str:
        """Return the subject alone, ten times faster than the whole email."""
        return (
            _title(self.templates.get(f"{name}.html"), {**self._samples(to), **self._texts}) or name
        )

    def email(
        self, name: str, to: str, values: Values | None = None, fields: FieldValues | None = None
    ) -> Email:
        """Render an email. `values` takes precedence over the samples; a variable without a value
        shows its name. `fields` are the values of personal fields, if the message has some.
        Raises jinja2's `TemplateNotFound`."""
        template = self.templates.get(f"{name}.html")
        context = {**self._samples(to), **(values or {})}
        # The email channel has a separate renderer for broadcasts.
        if template.name == TEMPLATE:
            message = StoredMessage(
                id=0,
                title=context["title"],
                message=context["message"],
                is_personal=fields is not None,
                created_at=_NEVER,
            )
            link, language = context["link"], self.language
            return EmailRenderer(self.templates, message, link, language).render(to, fields)
        context = {**{variable: f"[{variable}]" for variable in self.unknown(name)}, **context}
        shown = unescape(_title(template, {**context, **self._texts}) or name)
        subject = f"{self.templates.brand.NAME}: {shown}"
        return self.templates.email(to, subject, name, self.language, **context)

    def unknown(self, name: str) -> set[str]:
        """Return the template's variables without a value of a sample or the application."""
        values: JsonObject = {}
        self.templates.app.update_template_context(values)
        globals_ = self.templates.environment.globals
        known = {*self._samples(""), *self._texts, "brand", *values, *globals_}
        return self._variables(f"{name}.html") - known

    def _variables(self, file: str) -> set[str]:
        environment = self.templates.environment
        loader = environment.loader
        if loader is None:
            return set()
        tree = environment.parse(loader.get_source(environment, file)[0])
        # jinja2 does not know that blocks see the imports above them.
        imports = (name for node in tree.find_all(nodes.FromImport) for name in node.names)
        imported = {name if isinstance(name, str) else name[1] for name in imports}
        return set(meta.find_undeclared_variables(tree)) - imported

    @property
    def _texts(self) -> JsonObject:
        return self.templates.texts(self.language, is_html=True)

    def _samples(self, to: str) -> JsonObject:
        host = self.core.page_host
        return {
            **SAMPLES,
            "username": to,
            "email": to,
            "project": self.templates.brand.NAME,
            "client_host": host,
            "link": f"{host}/?token={TOKEN}",
            "preferences_link": f"{host}/account/notifications",
        }


def _title(template: Template, context: Values) -> str:
    title = template.blocks.get("title")
    return "".join(title(template.new_context(dict(context)))) if title else ""


_NEVER = datetime(2000, 1, 1, tzinfo=UTC)
