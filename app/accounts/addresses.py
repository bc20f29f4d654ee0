"""E-mail addresses and phone numbers, as people write them and as they are stored."""

from __future__ import annotations

import re
import unicodedata

from ..core.errors import Invalid
from .errors import InvalidEmail, InvalidPhone

# Separators between the digits of a phone number, and its normalized form.
_BETWEEN = re.compile(r"[ ()./-]")
_E164 = re.compile(r"\+[0-9]{7,15}", re.ASCII)


def fold(email: str) -> str:
    """The form that addresses are stored and compared in."""
    return email.strip().lower()


def folds_to_ascii(email: str) -> bool:
    """Whether this is another's address to whoever is less strict about letters than we are.

    Such as those with a Kelvin sign for a K, a dotless i, a long s, or letters of full width.
    """
    return not email.isascii() and unicodedata.normalize("NFKC", email.upper()).isascii()


def read_email(text: str) -> str:
    """Return a well-formed email address, folded. Only an email shows whether it can be reached."""
    from email_validator import EmailNotValidError, validate_email

    try:
        found = validate_email(text, check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError:
        raise InvalidEmail from None
    return fold(found.normalized)


def read_new_email(text: str) -> str:
    """Return an address for an account; reject one that looks like another address."""
    if folds_to_ascii(text):
        raise Invalid.about("email", "Some of its letters could be taken for others.")
    try:
        return read_email(text)
    except InvalidEmail:
        raise Invalid.about("email", InvalidEmail.detail) from None


def read_phone(text: str) -> str:
    """A number in international form, `+` and digits."""
    try:
        import phonenumbers
    except ModuleNotFoundError:  # it comes with the extra `sms`, and is large
        return _by_its_form(text)
    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        raise InvalidPhone from None
    if not phonenumbers.is_possible_number(number):
        raise InvalidPhone
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _by_its_form(text: str) -> str:
    """Whether there are such numbers in a country is not known here."""
    number = _BETWEEN.sub("", text)
    if not _E164.fullmatch(number):
        raise InvalidPhone
    return number
