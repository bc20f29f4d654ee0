"""Sets of words: each has a name, and is one enum in the OpenAPI document wherever it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from marshmallow import validate

from .fields import Text


@dataclass(frozen=True)
class WordSet:
    name: str
    # A function where the host has a say in it.
    words: tuple[str, ...] | Callable[[], Iterable[str]]
    # Others may be stored too; these are the ones that mean something here.
    is_open: bool = False
    description: str = ""

    def known(self) -> list[str]:
        words = self.words() if callable(self.words) else self.words
        return list(dict.fromkeys(words))


class Word(Text):
    """One of a set. A set that is open, or that only the application knows, is not checked here."""

    def __init__(self, word_set: WordSet, *, max: int = 50, **kwargs: Any) -> None:
        if isinstance(word_set.words, tuple) and not word_set.is_open:
            kwargs.setdefault("validate", validate.OneOf(word_set.words))
        super().__init__(max=max, **kwargs)
        self.word_set = word_set
