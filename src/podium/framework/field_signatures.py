"""Signatures made of fields of a pod. The fields are checked when the signature is made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from podium.api.objects import Pod
from podium.errors import PluginError, did_you_mean

_EMPTY: Final = Pod()


def pod_fields(*paths: str) -> Callable[..., Hashable]:
    """Return a signature made of fields of the pod.

    It is a method of a class, ``sign = fwk.pod_fields("spec.tolerations")``, and the option of a
    decorator, ``@podium.filter(sign=fwk.pod_fields("spec.tolerations"))``.
    """
    for path in paths:
        if problem := problem_of(path):
            raise PluginError(f"fwk.pod_fields: {problem}")
    split = [tuple(path.split(".")) for path in paths]

    def sign(*self_and_pod: Any) -> Hashable:
        pod = self_and_pod[-1]
        return tuple(_hashable(_follow(pod, names)) for names in split)

    return sign


def problem_of(path: object) -> str:
    """Return why a signature cannot be made of this field, or an empty string."""
    if not isinstance(path, str):
        return f"a field is a text such as 'metadata.labels', not {path!r}"
    value: Any = _EMPTY
    for name in path.split("."):
        if value is None:  # not every pod has it, so an empty pod cannot tell what is below it
            return ""
        if not hasattr(value, name):
            known = [each for each in dir(value) if not each.startswith("_")]
            return f"a pod has no field {path!r}{did_you_mean(name, known)}"
        value = getattr(value, name)
    try:
        hash(_hashable(value))
    except TypeError:
        return f"{path!r} is a whole object; name single fields, such as 'metadata.labels'"
    return ""


def _follow(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = getattr(value, name)
    return value


def _hashable(value: Any) -> Hashable:
    return tuple(sorted(value.items())) if isinstance(value, dict) else value
