"""Validates and normalizes email addresses and phone numbers."""

import re
import unicodedata

from ..core.coded_messages import CodedMessage
from ..core.errors import Invalid
from .errors import InvalidEmail, InvalidPhone

# Separators between the digits of a phone number, and its normalized form.
_BETWEEN = re.compile(r"[ ()./-]")
_E164 = re.compile(r"\+[0-9]{7,15}", re.ASCII)
LOOKALIKE = CodedMessage(
    "Must not contain letters that look like others.", "invalid_format", expected="email"
)


def fold(email: str) -> str:
    """Return the form in which email addresses are stored and compared."""
    return email.strip().lower()


def folds_to_ascii(email: str) -> bool:
    """Return whether other software may treat the address as another, ASCII address.

    Examples are a Kelvin sign for a K, a dotless i, a long s, and full-width letters.
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
        raise Invalid.about("email", LOOKALIKE)
    try:
        return read_email(text)
    except InvalidEmail:
        raise Invalid.about("email", InvalidEmail.message) from None


def read_phone(text: str) -> str:
    """Return a phone number in international format, `+` and digits; raise InvalidPhone."""
    try:
        import phonenumbers
    except ModuleNotFoundError:  # part of the extra `sms`
        return _check_form(text)
    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        raise InvalidPhone from None
    if not phonenumbers.is_possible_number(number):
        raise InvalidPhone
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _check_form(text: str) -> str:
    """Return the number if its form is valid; the numbering plan of the country is not checked."""
    number = _BETWEEN.sub("", text)
    if not _E164.fullmatch(number):
        raise InvalidPhone
    return number
