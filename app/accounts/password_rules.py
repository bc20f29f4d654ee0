"""Rules for new passwords: the length, and checks against passwords that are easy to guess.

The rules do not apply to commands and to an application's code.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from ..core.coded_messages import CodedMessage
from ..core.errors import Fault, Invalid
from .breaches import Breaches

MIN_LENGTH = 8

SAME_AS_EMAIL = CodedMessage("Must not be the email address.", "same_as_email")


# Every password that the documentation has ever shown: attackers try these too.
DOCUMENTED = frozenset(
    {
        "a new one",
        "battery staple",
        "battery staple 9",
        "changethis",
        "correct horse",
        "correct horse battery",
        "correct horse battery staple",
        "frontdesk",
        "whatever it was",
        "wrong password",
    }
)


class CommonPassword(Invalid):
    code = "common_password"
    title = "The password is too common"
    cause = "The password is one of the most common passwords, or it appears in the documentation."
    fix = "Choose another password. Operators change the rule with `AUTH__COMMON_PASSWORDS`."
    message = CodedMessage("This password is too common. Choose another one.", "too_common")


class BreachedPassword(Invalid):
    code = "breached_password"
    title = "The password appeared in a data breach"
    cause = "The password is in the Have I Been Pwned database of leaked passwords."
    fix = "Choose another password. Operators change the rule with `AUTH__BREACHED_PASSWORDS`."
    message = CodedMessage(
        "This password appeared in a data breach. Choose another one.", "breached"
    )


class PasswordRules:
    def __init__(
        self,
        min_length: int = MIN_LENGTH,
        *,
        refuses_common: bool = True,
        breaches: Breaches | None = None,
        words: Iterable[str] = (),
    ) -> None:
        self.min_length = min_length
        self.refuses_common = refuses_common
        self.breaches = breaches
        # Words of this service, which attackers try first.
        self._words = frozenset(map(_letters, words)) - {""}

    def check_new_password(self, password: str, email: str, field: str) -> None:
        """Raise for the field of a rejected password. The check may wait for another server: the
        caller releases its database connection first."""
        if password.lower() == email.lower():
            raise Invalid.about(field, SAME_AS_EMAIL)
        for fault in self._faults(password, field, email):
            raise fault

    def warnings(self, password: str) -> list[str]:
        """Return the broken rules, for an operator, who may set the password anyway."""
        return [fault.faults[0].message for fault in self._faults(password, "")]

    def _faults(self, password: str, field: str, email: str = "") -> Iterator[Invalid]:
        if len(password) < self.min_length:
            yield Invalid.about(
                field,
                CodedMessage(
                    f"At least {self.min_length} characters are needed.",
                    "too_short",
                    min=self.min_length,
                ),
            )
        if self.refuses_common and self._is_common(password, email):
            yield CommonPassword(faults=[Fault.of("", field, CommonPassword.message)])
        elif self.breaches is not None and self.breaches.know(password):
            yield BreachedPassword(faults=[Fault.of("", field, BreachedPassword.message)])

    def _is_common(self, password: str, email: str) -> bool:
        """Return whether the password is common or documented, or a word of this service or of the
        email address with only digits and signs added."""
        word = _letters(password)
        name, _, domain = email.partition("@")
        own = {_letters(name), *map(_letters, domain.split("."))}
        is_listed = password.lower() in _common() | DOCUMENTED
        return is_listed or word in self._words or (word != "" and word in own)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))


@cache
def _common() -> frozenset[str]:
    """Return the common passwords, read at first use."""
    text = files(__package__).joinpath("common", "passwords.txt").read_text(encoding="ascii")
    return frozenset(text.split())
