"""Answers to requests: objects and lists, encoded in the form that a client accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
import yaml

from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.requests import Accept
from podium.apiserver.statuses import Json
from podium.apiserver.tables import TableOptions, partial, table, table_of_list
from podium.apiserver.watches import Item


class Answer(NamedTuple):
    """A response: a status code, a body and its media type."""

    body: bytes
    code: int = 200
    media: str = "application/json"
    warnings: tuple[str, ...] = ()
    retry_after: int = 0


def encode(value: Any, accept: Accept, code: int = 200) -> Answer:
    if accept.media == "application/yaml":
        text = yaml.safe_dump(value, sort_keys=False)
        return Answer(text.encode(), code, "application/yaml")
    return Answer(msgspec.json.encode(value), code)


class View:
    """The form in which one request wants to see its objects."""

    def __init__(self, kind: ApiKind, accept: Accept, options: TableOptions) -> None:
        self._kind = kind
        self._accept = accept
        self._options = options

    @property
    def is_plain(self) -> bool:
        """Whether objects are sent as they are stored, without decoding them."""
        json = self._accept.media == "application/json"
        return json and not self._accept.view and not self._kind.stored_version

    def one(self, item: Item, code: int = 200) -> Answer:
        if self.is_plain:
            return Answer(item.encoded, code)
        return encode(self._shown(item), self._accept, code)

    def event(self, item: Item) -> bytes:
        """Encode an object for a watch event. Only the first event carries a Table's headers."""
        if self.is_plain:
            return item.encoded
        shown = msgspec.json.encode(self._shown(item))
        self._options.headers = False
        return shown

    def many(self, items: Iterable[Item], meta: Json) -> Answer:
        if self.is_plain:
            head = msgspec.json.encode(
                {
                    "kind": self._kind.list_kind,
                    "apiVersion": self._kind.api_version,
                    "metadata": meta,
                }
            )
            body = b",".join(self._elements(items))
            return Answer(b"".join((head[:-1], b',"items":[', body, b"]}")))
        # One object at a time: a Table of many thousands of pods keeps little of each.
        objects = (self._kind.from_stored(item.decode()) for item in items)
        return encode(self._listed(objects, meta), self._accept)

    def _elements(self, items: Iterable[Item]) -> Iterator[bytes]:
        """Encode the items of a list. Built-in kinds leave out apiVersion and kind there."""
        if self._kind.custom:
            yield from (item.encoded for item in items)
            return
        said = {"apiVersion": self._kind.api_version, "kind": self._kind.kind}
        tail = b"," + msgspec.json.encode(said)[1:]
        for item in items:
            if item.encoded.endswith(tail):
                yield item.encoded[: -len(tail)] + b"}"
            else:
                yield msgspec.json.encode(self._untyped(item.decode()))

    def _untyped(self, obj: Json) -> Json:
        hidden = () if self._kind.custom else ("apiVersion", "kind")
        return {name: value for name, value in obj.items() if name not in hidden}

    def _shown(self, item: Item) -> Json:
        obj = self._kind.from_stored(item.decode())
        match self._accept.view:
            case "Table":
                version = obj["metadata"].get("resourceVersion")  # a dry run has no version
                meta = {"resourceVersion": version} if version else {}
                return table(self._kind, obj, meta, self._options)
            case "PartialObjectMetadata" | "PartialObjectMetadataList":
                return partial(obj, self._accept.version)
            case _:
                return obj

    def _listed(self, objects: Iterable[Json], meta: Json) -> Json:
        match self._accept.view:
            case "Table":
                return table_of_list(self._kind, objects, meta, self._options)
            case "PartialObjectMetadata" | "PartialObjectMetadataList":
                return {
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": f"meta.k8s.io/{self._accept.version}",
                    "metadata": meta,
                    "items": [partial(obj, self._accept.version) for obj in objects],
                }
            case _:
                return {
                    "kind": self._kind.list_kind,
                    "apiVersion": self._kind.api_version,
                    "metadata": meta,
                    "items": [self._untyped(obj) for obj in objects],
                }
