"""Hooks: how they are declared, registered and called.

A hook is declared as a function with the default behavior; `app/extension/hooks.py` lists them all.
A service calls `hooks.claims(account, session)`, which calls the application's functions, or the
default if the application has registered none.
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

F = TypeVar("F", bound=AnyFunction)

# Combines the default and the registered functions, in the order of registration, to one function.
Combine = Callable[[AnyFunction, Sequence[AnyFunction]], AnyFunction]


def use_last(default: AnyFunction, registered: Sequence[AnyFunction]) -> Any:
    """Use the function that was registered last."""
    return registered[-1] if registered else default


def merge_results(default: AnyFunction, registered: Sequence[AnyFunction]) -> Any:
    """Call each hook in order and merge the mappings that they return."""
    if not registered:
        return default

    def call(*args: object) -> JsonObject:
        merged: JsonObject = {}
        for hook in registered:
            merged |= _mapping(default, hook, hook(*args))
        return merged

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
    """Call each hook in order; nothing is returned."""

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
    """A hook. As an attribute of `Frontdesk` it is the decorator that registers a function."""

    default: F
    combine: Combine = use_last
    # Whether there is one function, registered before `init_app`, which assembles by it.
    at_start: bool = False

    @property
    def name(self) -> str:
        return self.default.__name__

    @cached_property
    def parameters(self) -> Sequence[inspect.Parameter]:
        return list(inspect.signature(self.default).parameters.values())

    @property
    def by_name(self) -> bool:
        return any(
            parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in self.parameters
        )

    @property
    def arguments(self) -> str:
        """Return the parameters as text: `account, session`, or `email_to=, token=`."""
        return _format_parameters([parameter.name for parameter in self.parameters], self.by_name)

    def check(self, function: object, shown: str = "") -> None:
        names = [parameter.name for parameter in self.parameters]
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
    """A hook with a separate function for each name: `@frontdesk.channel("slack")`."""

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


def hook(combine: Combine = use_last, *, at_start: bool = False) -> Callable[[F], Hook[F]]:
    """Declare a hook; the decorated function is its default."""
    return lambda default: Hook(default, combine, at_start)


def named_hook(default: F) -> NamedHook[F]:
    return NamedHook(default)


def check_call(
    function: object, names: Sequence[str], shown: str, *, by_name: bool = False
) -> None:
    """Raise SetupError if a function cannot be called with these parameters."""
    arguments = _format_parameters(names, by_name)
    if not callable(function):
        raise SetupError(f"{shown} takes a function of ({arguments}), not {function!r}.")
    try:
        # A wrapper may pass more arguments to the wrapped function than it takes itself.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return  # a function written in C has no signature
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


def _format_parameters(names: Sequence[str], by_name: bool) -> str:
    return ", ".join(f"{name}=" if by_name else name for name in names)


def check_name(decorator: str, name: object) -> None:
    """Raise if the decorator is used without a name: it would get the function as the name."""
    if not isinstance(name, str):
        raise SetupError(f'@frontdesk.{decorator} takes a name: @frontdesk.{decorator}("…")')


def check_known(kind: str, name: str, known: Iterable[str], how_to_declare: str) -> None:
    """Raise for an unknown name; the application declares its own names first."""
    if name in (known := set(known)):
        return
    near = get_close_matches(name, known, n=1)
    meant = f' Do you mean "{near[0]}"?' if near else ""
    raise SetupError(f'There is no {kind} "{name}".{meant} A custom {kind} is {how_to_declare}.')


class Hooks:
    """The hooks of one application; its attributes are the combined functions by name."""

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
        """Return a copy, so that hooks that are added later affect one application only."""
        copy = Hooks(self._table)
        copy._registered = {name: list(hooks) for name, hooks in self._registered.items()}
        copy._named = {name: dict(hooks) for name, hooks in self._named.items()}
        return copy

    def registered(self, hook: str) -> Sequence[AnyFunction]:
        """Return the application's functions, an empty list if it uses the default."""
        return self._registered[hook]

    def named(self, hook: str) -> Mapping[str, AnyFunction]:
        """Return the functions by name, a view that includes later registrations."""
        return self._named[hook]

    def __getattr__(self, name: str) -> AnyFunction:
        try:
            hook = self._table[name]
        except KeyError:
            raise AttributeError(name) from None
        combined: AnyFunction = hook.combine(hook.default, self._registered[name])
        return combined
