"""Label and field selectors of query parameters, and which objects they select."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.api.selector_text import parse_selector
from podium.api.selectors import EVERYTHING, Selector
from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.statuses import Json
from podium.apiserver.watches import Item


def parse_labels(text: str) -> Selector:
    """Parse ``app=web,tier in (a, b),!old``; raise the server's 400."""
    try:
        return parse_selector(text)
    except ValueError as error:
        raise statuses.bad_request(str(error)) from None


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One requirement on a field: it equals this text, or it does not."""

    path: str
    equals: bool
    value: str


_NOT_TEXT = {"spec.unschedulable": "false", "spec.hostNetwork": "false", "status.replicas": "0"}


def parse_fields(text: str, kind: ApiKind) -> tuple[FieldTerm, ...]:
    """Parse ``status.phase!=Running,spec.nodeName=``; raise the server's 400."""
    known = ("metadata.name", "metadata.namespace", *kind.selectable_fields)
    found = []
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"([^=!]*)(!=|==|=)(.*)", part, re.DOTALL)
        if match is None:
            raise statuses.bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        path, operator, value = match.groups()
        if path not in known:
            raise statuses.bad_request(kind.unknown_field.format(path=path))
        found.append(FieldTerm(path, operator != "!=", value))
    return tuple(found)


def field_text(obj: Json, path: str) -> str:
    """Return a field as text for comparison, with Go's zero value where it is missing."""
    value: Any = obj
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if path == "source":
        value = (obj.get("source") or {}).get("component") or obj.get("reportingComponent")
    if value is None:
        return _NOT_TEXT.get(path, "")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


@dataclass(frozen=True, slots=True)
class Selection:
    """What a list or watch selects; ``matches`` decides about one object."""

    namespace: str | None = None
    labels: Selector = EVERYTHING
    fields: tuple[FieldTerm, ...] = ()
    convert: Callable[[Json], Json] | None = None

    def matches(self, item: Item) -> bool:
        if self.namespace is not None and item.key[0] != self.namespace:
            return False
        if not self.labels.is_empty and not self.labels.matches(item.labels):
            return False
        return not self.fields or self._fields_match(item)

    def _fields_match(self, item: Item) -> bool:
        by_key = {"metadata.name": item.key[1], "metadata.namespace": item.key[0]}
        if all(term.path in by_key for term in self.fields):  # the usual case, without decoding
            return all((by_key[t.path] == t.value) == t.equals for t in self.fields)
        obj = item.decode()
        obj = self.convert(obj) if self.convert else obj
        return all((field_text(obj, t.path) == t.value) == t.equals for t in self.fields)

    @property
    def is_everything(self) -> bool:
        return self.labels.is_empty and not self.fields
