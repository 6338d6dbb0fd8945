"""The signature of a pod in a profile: what the plugins that judge nodes look at in the pod.

Pods with equal signatures form an equivalence class (``cycle/pod_classes.py``). A plugin without a
signature for a pod does not spoil the others: it is left out, and asked again for every pod.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final, NamedTuple

from podium.api.objects import Pod
from podium.framework.calls import FAULTS, fault_of, source_of
from podium.framework.plugin import NotSignable, Plugin
from podium.framework.status import text_of
from podium.logs import get_logger

log = get_logger(__name__)

PAGE: Final = "docs/plugins/writing.md#signatures"  # where authors read how to add one

_FIX: Final = (
    "return a hashable value, such as a tuple of strings, or raise fwk.NotSignable for pods whose "
    "results must not be reused"
)


class _NotSigned:
    """Stands in a signature for a plugin that has none for the pod."""


_NOT_SIGNED: Final = _NotSigned()


class Signature(NamedTuple):
    """``unsigned`` are the plugins without a signature for this pod; ``key`` tells which they are.

    ``number`` is the hash of the key, which takes long to find. ``problems`` says what is wrong
    with the ``sign`` of plugins, in sentences for their authors.
    """

    key: tuple[Hashable, ...]
    number: int
    unsigned: frozenset[str]
    problems: tuple[str, ...] = ()


class Signers:
    """The judging plugins of one profile that have a ``sign``."""

    def __init__(self, profile: str, plugins: Iterable[Plugin]) -> None:
        self._profile = profile
        self._signers: list[tuple[Plugin, Callable[..., Hashable]]] = []
        unsigned: list[str] = []
        for plugin in plugins:
            if plugin.sign is None:
                unsigned.append(plugin.name)
            else:
                self._signers.append((plugin, plugin.sign))
        self._signs = [sign for _, sign in self._signers]
        self._names = [plugin.name for plugin, _ in self._signers]
        self._always_unsigned = frozenset(unsigned)
        self._last: Signature | None = None  # equal pods often follow one another

    def sign(self, pod: Pod) -> Signature:
        """Sign the pod. A ``sign`` that fails, or is not hashable, leaves its plugin out."""
        try:
            key = (self._profile, pod.priority, *[sign(pod) for sign in self._signs])
            if self._last is None or self._last.key != key:
                self._last = Signature(key, hash(key), self._always_unsigned)
            return self._last
        except FAULTS:
            return self._sign_one_by_one(pod)

    def _sign_one_by_one(self, pod: Pod) -> Signature:
        """Sign a pod for which some plugin has no signature, and say why."""
        parts: list[Hashable] = [self._profile, pod.priority]
        missing: list[str] = []
        problems: list[str] = []
        for plugin, sign in self._signers:
            try:
                parts.append(sign(pod))
            except NotSignable:
                parts.append(_NOT_SIGNED)
                missing.append(plugin.name)
            except FAULTS as fault:
                parts.append(_NOT_SIGNED)
                missing.append(plugin.name)
                fault_of(plugin, "Sign", pod, fault)
                problems.append(
                    _problem(plugin, f"raised {type(fault).__name__}: {text_of(fault)}")
                )
        if not missing:
            self._last = None  # it may hold a value that cannot be compared
        key = tuple(parts)
        try:
            number = hash(key)
        except FAULTS:
            self._leave_out_unhashable(parts, pod, missing, problems)
            key = tuple(parts)
            number = hash(key)
        return Signature(key, number, self._always_unsigned.union(missing), tuple(problems))

    def _leave_out_unhashable(
        self, parts: list[Hashable], pod: Pod, missing: list[str], problems: list[str]
    ) -> None:
        for position, (plugin, _) in enumerate(self._signers, start=2):
            if _is_hashable(parts[position]):
                continue
            what = f"returned {_shown(parts[position])}, which cannot be hashed"
            problems.append(_logged(plugin, pod, what))
            missing.append(plugin.name)
            parts[position] = _NOT_SIGNED

    def differing(self, one: Signature, other: Signature) -> frozenset[str] | None:
        """Return the plugins that tell two pods apart; ``None`` if something else does too."""
        if one.unsigned or other.unsigned or one.key[:2] != other.key[:2]:
            return None
        return frozenset(
            [n for n, a, b in zip(self._names, one.key[2:], other.key[2:], strict=True) if a != b]
        )

    def leave_out_incomparable(self, pod: Pod, signature: Signature, known: Signature) -> Signature:
        """Leave out the plugins whose values cannot be compared with those of a known pod."""
        parts, problems = list(signature.key), list(signature.problems)
        missing: list[str] = []
        for position, (plugin, _) in enumerate(self._signers, start=2):
            try:
                _ = parts[position] == known.key[position]
            except FAULTS as fault:
                what = f"returned {_shown(parts[position])}, which cannot be compared"
                problems.append(_logged(plugin, pod, f"{what} ({text_of(fault)})"))
                missing.append(plugin.name)
                parts[position] = _NOT_SIGNED
        key = tuple(parts)
        return Signature(key, hash(key), signature.unsigned.union(missing), tuple(problems))


def _is_hashable(value: Hashable) -> bool:
    try:
        hash(value)
    except FAULTS:
        return False
    return True


def _shown(value: object) -> str:
    """Return the start of the value's text, or its type if even that fails."""
    try:
        return f"{value!r:.80}"
    except FAULTS:
        return f"a {type(value).__name__}"


def _logged(plugin: Plugin, pod: Pod, what: str) -> str:
    """Log what is wrong with the plugin's ``sign``, and return it as a sentence."""
    log.problem(
        "plugin failed", plugin=plugin.name, point="Sign", pod=pod.key, why=what,
        source=source_of(plugin),
    )  # fmt: skip
    return _problem(plugin, what)


def _problem(plugin: Plugin, what: str) -> str:
    return f'plugin "{plugin.name}": sign(pod) {what}; {_FIX}'
