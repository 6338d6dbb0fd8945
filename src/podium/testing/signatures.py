"""assert_signature_sound: what is kept of a pod is right for the next one of equal signature.

Two ways to be wrong: ``sign`` leaves out what the plugin looks at in a pod, or ``depends_on``
leaves out what it looks at in the cluster.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from podium.api.objects import Pod
from podium.cycle.pod_classes import PodClass
from podium.framework.answers import AttemptFailed
from podium.framework.args import Args
from podium.framework.plugin import NotSignable, Plugin
from podium.state.aspects import Aspect
from podium.testing.cases import Case, Change, each_generated, told
from podium.testing.subject import Answers, Objects, Subject, error_of

_ASPECTS: Final = {
    name: bit for name, bit in vars(Aspect).items() if name.isupper() and name != "ALL"
}


def assert_signature_sound(
    plugin: Any,
    pod: Pod | None = None,
    objects: Objects = (),
    *,
    like: Objects = (),
    args: Args | None = None,
) -> None:
    """Equal signatures give equal answers, and ``depends_on`` covers what changes answers.

    A cluster is built of these objects one by one, and taken down again; an object that comes twice
    is changed. After each step the answers kept from before must be those from scratch. Without a
    pod all is generated, for which hypothesis must be installed, and pods and objects that are
    ``like`` yours are mixed in.
    """
    if pod is not None:
        Comparison(plugin, args).run(told(pod, objects))
    else:
        each_generated(lambda case: Comparison(plugin, args).run(case), like)


class Comparison:
    """Two clusters that the same happens to: in one answers are kept, in the other never."""

    def __init__(self, plugin: Any, args: Args | None = None) -> None:
        if isinstance(plugin, Plugin):
            raise TypeError(f"{plugin.name} is built already: give its class, two are needed")
        self._keeping, self._scratch = (Subject(plugin, (), args) for _ in range(2))
        self._name = self._scratch.plugin.name
        self._classes: dict[Hashable, PodClass] = {}
        if not self._scratch.profile.judges:
            raise TypeError(f"{self._name} judges no nodes: it needs no signature")
        text = f"{self._name} has no sign(pod), so every pod is judged from scratch"
        assert not self._scratch.profile.unsigned, text

    def run(self, case: Case) -> None:
        for obj in case.objects:
            self._apply(Change(obj))
        self._compare((case.pod, *case.similar), "nothing has changed")
        for change in case.changes:
            self._compare((case.pod, *case.similar), self._apply(change))

    def _apply(self, change: Change) -> str:
        """Return what happened, in words, with the aspects that the change touches."""
        journal = self._scratch.cluster.journal
        mark = journal.end
        for subject in (self._keeping, self._scratch):
            change.apply(subject.cluster)
        touched = 0
        for _, aspects in journal.since(mark) or ():
            touched |= aspects
        names = [name for name, bit in _ASPECTS.items() if touched & bit]
        return f"{change} ({', '.join(names) or 'no aspect'})"

    def _compare(self, pods: tuple[Pod, ...], happened: str) -> None:
        if not len(self._scratch.handle.rows):
            return
        seen: dict[Hashable, tuple[Pod, Answers | str]] = {}
        for pod in pods:
            signature = self._sign(pod)
            if signature is None:
                continue
            fresh = self._ask(self._scratch, pod, None)
            first, answers = seen.setdefault(signature, (pod, fresh))
            assert fresh == answers, self._unsigned((first, answers), (pod, fresh))
            kept = self._ask(self._keeping, pod, signature)
            assert kept == fresh, self._unread(happened, kept, fresh)

    def _sign(self, pod: Pod) -> Hashable | None:
        sign = self._scratch.plugin.sign
        assert sign is not None
        try:
            return pod.priority, sign(pod)
        except NotSignable:
            return None

    def _ask(self, subject: Subject, pod: Pod, signature: Hashable | None) -> Answers | str:
        """The answers; an error in their place."""
        pod_class = self._classes.pop(signature, None) or subject.pod_class(pod)
        try:
            answers = subject.answers(pod, pod_class)
        except AttemptFailed as failed:
            return error_of(failed)
        if signature is not None:
            self._classes[signature] = pod_class
        return answers

    def _unsigned(self, one: tuple[Pod, Answers | str], other: tuple[Pod, Answers | str]) -> str:
        return (
            f"{self._name}: two pods have equal signatures, but other answers: sign(pod) leaves "
            f"out something that the plugin looks at\n"
            f"  {one[0]}: {one[1]}\n  {other[0]}: {other[1]}"
        )

    def _unread(self, happened: str, kept: Answers | str, fresh: Answers | str) -> str:
        return (
            f"{self._name}: the answers kept from an equal pod are outdated, so depends_on(pod) "
            f"leaves out something that the plugin looks at\n"
            f"  since then: {happened}\n  kept: {kept}\n  from scratch: {fresh}"
        )
