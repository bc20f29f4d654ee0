from __future__ import annotations


class UnusableHash(Exception):
    """No password is tried against this hash; the text says why and never shows it."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason

    @classmethod
    def unknown(cls) -> UnusableHash:
        return cls("unknown_hash", "The password hash is of no kind that is known here.")

    @classmethod
    def too_costly(cls, bound: str) -> UnusableHash:
        return cls("hash_too_costly", f"The password hash costs more than is computed: {bound}.")

    @classmethod
    def lacks(cls, kind: str, install: str) -> UnusableHash:
        return cls("hash_needs_library", f"Hashes of {kind} need a library: {install}")
