"""Find the API kind for words such as ``po``, ``deploy/web`` and ``deployments.apps``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final
from urllib.parse import quote

from podium.apiserver.statuses import Json
from podium.cli.session import Session
from podium.errors import PodiumError

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of the server in one version."""

    group: str
    version: str
    kind: str
    plural: str
    names: tuple[str, ...]  # all that a user may type for it
    categories: tuple[str, ...]
    namespaced: bool

    @property
    def title(self) -> str:
        """Return the name in kubectl's output: ``deployment.apps``."""
        return f"{self.kind.lower()}.{self.group}" if self.group else self.kind.lower()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None, name: str = "") -> str:
        """Return the path of its objects, in one namespace or in all."""
        prefix = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        parts = ["namespaces", namespace] if namespace and self.namespaced else []
        parts += [self.plural, name] if name else [self.plural]
        return "/".join([prefix, *(quote(part, safe="") for part in parts)])


PODS: Final = Resource("", "v1", "Pod", "pods", ("pods",), (), True)


class Resources:
    """All kinds of the server, read from its discovery."""

    def __init__(self, session: Session) -> None:
        try:
            self._all = [
                resource
                for root in ("/api", "/apis")
                for group in session.get(root, _AGGREGATED).get("items") or []
                for resource in _of_group(group)
            ]
        except (KeyError, TypeError, AttributeError) as error:
            raise PodiumError("the server's discovery cannot be read") from error

    def named(self, words: str) -> list[Resource]:
        """Return the kinds of ``"pods,svc"`` or of a category such as ``all``."""
        return [resource for word in words.split(",") for resource in self._named(word)]

    def _named(self, word: str) -> Sequence[Resource]:
        lower = word.lower()
        if found := next((one for one in self._all if lower in one.names), None):
            return [found]
        if in_category := [one for one in self._all if lower in one.categories]:
            return in_category
        known = sorted({name for one in self._all for name in one.names})
        close = get_close_matches(lower, known, 1)
        hint = f'; did you mean "{close[0]}"?' if close else ""
        raise PodiumError(f'the server has no kind "{word}"{hint}')

    def of(self, obj: Json) -> Resource:
        """Return the kind of an object."""
        version, kind = obj.get("apiVersion"), obj.get("kind")
        for one in self._all:
            if (one.api_version, one.kind) == (version, kind):
                return one
        raise PodiumError(f'the server has no kind "{kind}" in apiVersion "{version}"')


def _of_group(group: Json) -> Iterator[Resource]:
    name = (group.get("metadata") or {}).get("name", "")
    for version in group.get("versions") or []:
        for raw in version.get("resources") or []:
            yield _resource(name, version["version"], raw)


def _resource(group: str, version: str, raw: Json) -> Resource:
    plural, singular = raw["resource"], raw.get("singularResource", "")
    words = [plural, singular, *(raw.get("shortNames") or [])]
    if group:
        words += [f"{plural}.{group}", f"{singular}.{group}"]
    return Resource(
        group,
        version,
        (raw.get("responseKind") or {}).get("kind", ""),
        plural,
        tuple(word for word in words if word),
        tuple(raw.get("categories") or []),
        raw.get("scope") == "Namespaced",
    )


def split_names(words: Sequence[str]) -> tuple[str, list[str]]:
    """Split ``["pod", "a", "b"]`` or ``["pod/a", "pod/b"]`` into a kind and names."""
    if "/" not in words[0]:
        return words[0], list(words[1:])
    pairs = [word.partition("/") for word in words]
    kinds = {kind for kind, _, _ in pairs}
    if len(kinds) > 1 or not all(name for _, _, name in pairs):
        raise PodiumError("write KIND NAME…, or KIND/NAME… of one kind")
    return kinds.pop(), [name for _, _, name in pairs]
