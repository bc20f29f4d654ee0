"""E-mail addresses and phone numbers, as people write them and as they are stored."""

from __future__ import annotations

from .errors import InvalidEmail, InvalidPhone


def fold(email: str) -> str:
    """The form that addresses are stored and compared in."""
    return email.strip().lower()


def read_email(text: str) -> str:
    """A well-formed address, folded. Whether it can be reached only a mail can tell."""
    from email_validator import EmailNotValidError, validate_email

    try:
        found = validate_email(text, check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError:
        raise InvalidEmail from None
    return fold(found.normalized)


def read_phone(text: str) -> str:
    """A number in international form, `+` and digits."""
    import phonenumbers

    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        raise InvalidPhone from None
    if not phonenumbers.is_possible_number(number):
        raise InvalidPhone
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
