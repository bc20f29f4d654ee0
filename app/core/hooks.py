"""Moments that a host may decide: how they are declared, registered and called.

A moment is a function with the default behaviour;
`app/extension/hooks.py` is the list of them. A service calls `hooks.claims(account, session)` and
does not know whether the answer is the host's or the default's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from .errors import SetupError
from .types import AnyFunction, JsonObject, Values

F = TypeVar("F", bound=Callable[..., Any])

# Makes one function of the default and of what was registered, in the order of registration.
Combine = Callable[[Callable[..., Any], Sequence[Callable[..., Any]]], Callable[..., Any]]


def use_last(default: AnyFunction, registered: Sequence[AnyFunction]) -> Any:
    """Of several, the one that was registered last counts."""
    return registered[-1] if registered else default


def merge_results(default: AnyFunction, registered: Sequence[AnyFunction]) -> Any:
    """Call each hook in order and merge the mappings that they return."""
    if not registered:
        return default

    def call(*args: object) -> JsonObject:
        answer: JsonObject = {}
        for hook in registered:
            answer |= _mapping(default, hook, hook(*args))
        return answer

    return call


def chain(default: AnyFunction, registered: Sequence[AnyFunction]) -> Any:
    """Call each hook in order with the mapping that the hook before it returned."""
    if not registered:
        return default

    def call(value: JsonObject, *args: object) -> JsonObject:
        for hook in registered:
            value = dict(_mapping(default, hook, hook(value, *args)))
        return value

    return call


def call_all(default: AnyFunction, registered: Sequence[AnyFunction]) -> Any:
    """Each takes part, in order; nothing is returned."""

    def call(*args: object) -> None:
        for hook in registered:
            hook(*args)

    return call


def _mapping(default: AnyFunction, hook: AnyFunction, given: object) -> Values:
    """Return the hook's result; raise a TypeError that names a hook without a `return`."""
    if not isinstance(given, Mapping):
        kind, name = default.__name__, getattr(hook, "__qualname__", type(hook).__qualname__)
        returned = type(given).__name__
        raise TypeError(f"A {kind} hook must return a mapping, not {returned}: {name}")
    return given


class HookRegistrar(Protocol):
    def add_hook(self, hook: str, function: AnyFunction, name: str | None = None) -> None: ...


@dataclass(eq=False)
class Hook(Generic[F]):
    """One moment. As an attribute of `Frontdesk` it is the decorator that registers a function."""

    default: F
    combine: Combine = use_last

    @property
    def name(self) -> str:
        return self.default.__name__

    @cached_property
    def parameters(self) -> Sequence[inspect.Parameter]:
        return list(inspect.signature(self.default).parameters.values())

    @property
    def by_name(self) -> bool:
        return any(call_all.kind is inspect.Parameter.KEYWORD_ONLY for call_all in self.parameters)

    @property
    def arguments(self) -> str:
        """As they are shown to people: `account, session`, or `email_to=, token=`."""
        return _shown([call_all.name for call_all in self.parameters], self.by_name)

    def check(self, function: object, shown: str = "") -> None:
        names = [call_all.name for call_all in self.parameters]
        check_call(function, names, shown or f"@frontdesk.{self.name}", by_name=self.by_name)

    def __get__(self, frontdesk: HookRegistrar, _owner: object = None) -> Callable[[F], F]:
        def register(function: F) -> F:
            self.check(function)
            frontdesk.add_hook(self.name, function)
            return function

        register.__doc__ = self.default.__doc__
        return register


@dataclass(eq=False)
class NamedHook(Hook[F]):
    """A moment that is decided for each name by itself: `@frontdesk.channel("slack")`."""

    def __get__(  # type: ignore[override]
        self, frontdesk: HookRegistrar, _owner: object = None
    ) -> Callable[[str], Callable[[F], F]]:
        def named(name: str) -> Callable[[F], F]:
            check_name(self.name, name)

            def register(function: F) -> F:
                self.check(function, f'@frontdesk.{self.name}("{name}")')
                frontdesk.add_hook(self.name, function, name)
                return function

            return register

        named.__doc__ = self.default.__doc__
        return named


def hook(combine: Combine = use_last) -> Callable[[F], Hook[F]]:
    """Declares a hook; the decorated function is its default."""
    return lambda default: Hook(default, combine)


def named_hook(default: F) -> NamedHook[F]:
    return NamedHook(default)


def check_call(
    function: object, names: Sequence[str], shown: str, *, by_name: bool = False
) -> None:
    """Refuse where it is registered what would fail at the first request that it serves."""
    arguments = _shown(names, by_name)
    if not callable(function):
        raise SetupError(f"{shown} takes a function of ({arguments}), and not {function!r}.")
    try:
        # A wrapper may call what it wraps with more than it is given itself.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return  # written in C: it does not say
    try:
        if by_name:
            signature.bind(**dict.fromkeys(names, ""))
        else:
            signature.bind(*names)
    except TypeError as error:
        given = f"{getattr(function, '__qualname__', type(function).__qualname__)}{signature}"
        raise SetupError(
            f"{shown} is called with ({arguments}), which {given} does not take: {error}."
        ) from None


def _shown(names: Sequence[str], by_name: bool) -> str:
    return ", ".join(f"{name}=" if by_name else name for name in names)


def check_name(decorator: str, name: object) -> None:
    """Bare, without its name, the decorator would take the function for one and forget it."""
    if not isinstance(name, str):
        raise SetupError(f'@frontdesk.{decorator} takes a name: @frontdesk.{decorator}("…")')


def check_known(kind: str, name: str, known: Iterable[str], own: str) -> None:
    """What has a name of the host's own is made known first; any other name is mistyped."""
    if name in (known := set(known)):
        return
    near = get_close_matches(name, known, n=1)
    meant = f' Do you mean "{near[0]}"?' if near else ""
    raise SetupError(f'There is no {kind} "{name}".{meant} One of your own is {own}.')


class Hooks:
    """What one application's host has decided so far; called by the names of the moments."""

    def __init__(self, table: Mapping[str, Hook[Any]]) -> None:
        self._table = table
        self._registered: dict[str, list[AnyFunction]] = {name: [] for name in table}
        self._named: dict[str, dict[str, AnyFunction]] = {name: {} for name in table}

    def add(self, hook: str, function: AnyFunction, name: str | None = None) -> None:
        if name is None:
            self._registered[hook].append(function)
        else:
            self._named[hook][name] = function

    def copy(self) -> Hooks:
        """So that what one application is given later is not seen by another."""
        made = Hooks(self._table)
        made._registered = {hook: list(call_all) for hook, call_all in self._registered.items()}
        made._named = {hook: dict(call_all) for hook, call_all in self._named.items()}
        return made

    def registered(self, hook: str) -> Sequence[AnyFunction]:
        """The host's functions; none where the default decides."""
        return self._registered[hook]

    def named(self, hook: str) -> Mapping[str, AnyFunction]:
        """Return the functions that are registered by name; later registrations appear in it
        too."""
        return self._named[hook]

    def __getattr__(self, name: str) -> AnyFunction:
        try:
            hook = self._table[name]
        except KeyError:
            raise AttributeError(name) from None
        combined: AnyFunction = hook.combine(hook.default, self._registered[name])
        return combined
