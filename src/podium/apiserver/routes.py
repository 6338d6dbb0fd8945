"""From a parsed request to its answer, the same way for all kinds. Contains no HTTP library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.apiserver import protobuf, statuses
from podium.apiserver.answers import Answer, View, encode
from podium.apiserver.api import Api, Call
from podium.apiserver.decoding import YamlReader, parse_json, parse_yaml, read_yaml
from podium.apiserver.deletion import (
    DELETE_OPTIONS,
    DeleteOptions,
    by_default,
    orphaning_warnings,
    typed_options,
)
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.reviews import review
from podium.apiserver.listing import list_page, selection_of
from podium.apiserver.patching import Patch, patch, patched
from podium.apiserver.requests import Query, Target, accepted, call_of, flag, number, version
from podium.apiserver.schemas import Schema
from podium.apiserver.statuses import Json, Refusal
from podium.apiserver.subresources import bind, evict, finalize, scale_of, set_scale
from podium.apiserver.tables import TableOptions
from podium.apiserver.watches import Item
from podium.apiserver.watching import WatchRequest

_BODY_KINDS = {
    "binding": "io.k8s.api.core.v1.Binding",
    "eviction": "io.k8s.api.policy.v1.Eviction",
}
_CHOOSING = ("labelSelector", "fieldSelector", "resourceVersion", "timeoutSeconds")
YAML_MEDIA = ("application/yaml", "application/x-yaml", "text/yaml")
_SIMULATED = ("log", "exec", "attach", "portforward")


@dataclass(frozen=True, slots=True)
class Request:
    """One request whose body is read and whose path is parsed."""

    method: str
    target: Target
    query: Query
    body: bytes = b""
    content_type: str = ""
    accept: str = ""
    agent: str = ""
    read_yaml: YamlReader = read_yaml  # or one that returns what was parsed in a thread

    def parsed(self, definition: str = "") -> Any:
        """Return the body as plain values; ``definition`` is its type, if not that of the path."""
        media = self.content_type.split(";")[0].strip().lower()
        kind = self._body_kind(definition)
        if media in ("", "application/json"):
            return parse_json(self.body, kind)
        if media in YAML_MEDIA:
            return parse_yaml(self.body, kind, self.read_yaml)
        if media == protobuf.MEDIA:
            return protobuf.decode(self.body, self._schema(definition))
        raise statuses.unsupported_media_type()

    def _body_kind(self, definition: str) -> str:
        named_as = definition or _BODY_KINDS.get(self.target.subresource, "")
        return named_as.rpartition(".")[2] or self.target.kind.kind

    def _schema(self, definition: str) -> Schema:
        named_as = definition or _BODY_KINDS.get(self.target.subresource)
        kind = self.target.kind
        return kind.schemas.named(named_as) if named_as else kind.schema

    def call(self, options: str) -> Call:
        return call_of(self.query, self.agent, options, self.target.subresource)


@dataclass(frozen=True, slots=True)
class Watching:
    """An answer that is a stream of events."""

    request: WatchRequest
    view: View


class Routes:
    """The operations of the API, by method and form of the path."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def handle(self, request: Request) -> Answer | Watching:
        warning = request.target.kind.deprecation
        if not warning:
            return self._handled(request)
        try:
            found = self._handled(request)
        except Refusal as error:
            if not _is_unhandled(request, error):
                error.warnings = (warning,)
            raise
        if isinstance(found, Answer):
            return found._replace(warnings=(warning, *found.warnings))
        return found

    def _handled(self, request: Request) -> Answer | Watching:
        target = request.target
        if target.subresource:
            return self._subresource(request)
        if target.kind.verbs == ("create",):
            return self._review(request)
        if target.name:
            return self._object(request)
        return self._collection(request)

    # Forms of paths

    def _collection(self, request: Request) -> Answer | Watching:
        match request.method:
            case "GET":
                if request.target.watch or flag(request.query, "watch"):
                    return self._watch(request)
                page = list_page(self.api, request.target, request.query)
                return self._view(request).many(page.items, page.meta)
            case "POST":
                return self._create(request)
            case "DELETE":
                return self._delete(request)
            case _:
                raise statuses.method_not_allowed()

    def _object(self, request: Request) -> Answer | Watching:
        target = request.target
        match request.method:
            case "GET":
                if target.watch or flag(request.query, "watch"):
                    return self._watch(request)
                view = self._view(request)
                self._check_age(request)
                return view.one(self.api.item(target.kind, target.key))
            case "PUT":
                return self._put(request)
            case "PATCH":
                return self._patch(request)
            case "DELETE":
                return self._delete(request)
            case _:
                raise statuses.method_not_allowed()

    def _subresource(self, request: Request) -> Answer | Watching:
        name, method = request.target.subresource, request.method
        if name in _SIMULATED:
            return self._simulated(request)
        if name in ("status", "ephemeralcontainers"):
            if method not in ("GET", "PUT", "PATCH"):
                raise statuses.method_not_allowed()
            return self._object(request)
        handler = self._handlers().get((name, method))
        if handler is None:
            raise statuses.method_not_allowed()
        return handler(request)

    def _handlers(self) -> dict[tuple[str, str], Callable[[Request], Answer]]:
        return {
            ("scale", "GET"): self._get_scale,
            ("scale", "PUT"): self._put_scale,
            ("scale", "PATCH"): self._patch_scale,
            ("binding", "POST"): self._bind,
            ("eviction", "POST"): self._evict,
            ("finalize", "PUT"): self._finalize,
            ("token", "POST"): self._token,
        }

    # Operations

    def _watch(self, request: Request) -> Watching:
        target, query = request.target, dict(request.query)
        if target.name:  # a watch of one object is a watch with a selector on its name
            selector = query.get("fieldSelector", "")
            query["fieldSelector"] = ",".join(
                filter(None, (selector, f"metadata.name={target.name}"))
            )
        return Watching(WatchRequest(self.api, target, query), self._view(request))

    def _create(self, request: Request) -> Answer:
        target = request.target
        if target.kind.namespaced and target.namespace is None:
            raise statuses.method_not_allowed()
        view, call = self._view(request), request.call("CreateOptions")
        try:
            item = self.api.create(target.kind, target.namespace or "", request.parsed(), call)
        except Refusal as error:
            if error.reason == statuses.ALREADY_EXISTS:  # the only problem was that it exists
                error.warnings = tuple(call.warnings)
            raise
        return _warned(view.one(item, 201), call, target.kind, item)

    def _put(self, request: Request) -> Answer:
        target = request.target
        view, call = self._view(request), request.call("UpdateOptions")
        is_new = self.api.store.find(target.kind.storage, target.key) is None
        item = self.api.update(target.kind, target.key, request.parsed(), call)
        return _warned(view.one(item, 201 if is_new else 200), call, target.kind, item)

    def _patch(self, request: Request) -> Answer:
        target = request.target
        view, call = self._view(request), request.call("PatchOptions")
        is_new = self.api.store.find(target.kind.storage, target.key) is None
        item = patch(self.api, target, _patch_of(request), call)
        return _warned(view.one(item, 201 if is_new else 200), call, target.kind, item)

    def _delete(self, request: Request) -> Answer:
        """Delete one object or a collection. Warnings are part of a refusal as well."""
        target, view = request.target, self._view(request)
        if not target.name:
            self._check_collection(request)
        given = self._delete_options(request)
        warnings = tuple(orphaning_warnings(target.kind, given))
        delete = self._delete_one if target.name else self._delete_all
        try:
            answer = delete(request, by_default(target.kind, given), view)
        except Refusal as error:
            error.warnings = warnings
            raise
        return answer._replace(warnings=warnings)

    def _delete_one(self, request: Request, options: DeleteOptions, view: View) -> Answer:
        target = request.target
        item = self.api.delete(target.kind, target.key, options)
        is_gone = self.api.store.find(target.kind.storage, target.key) is None
        if options.dry_run:
            is_gone = not item.decode()["metadata"].get("finalizers")
        if is_gone and not target.kind.shown_when_deleted:
            return encode(statuses.success(_deleted(request, item)), accepted(""))
        return view.one(item)

    def _check_collection(self, request: Request) -> None:
        target, query = request.target, request.query
        is_everywhere = target.kind.namespaced and target.namespace is None
        if is_everywhere or "deletecollection" not in target.kind.verbs:
            raise statuses.method_not_allowed()
        number(query, "limit")
        selection_of(target, query)

    def _delete_all(self, request: Request, options: DeleteOptions, view: View) -> Answer:
        target = request.target
        query = {name: one for name, one in request.query.items() if name in _CHOOSING}
        page = list_page(self.api, target, query)
        for item in page.items:
            if self.api.store.find(target.kind.storage, item.key):
                self.api.delete(target.kind, item.key, options)
        return view.many(page.items, page.meta)

    def _delete_options(self, request: Request) -> DeleteOptions:
        raw: Json = request.parsed(DELETE_OPTIONS) if request.body.strip() else {}
        query = request.query
        found = typed_options(raw, request.target.kind.schemas)
        grace = number(query, "gracePeriodSeconds")
        if grace is not None:
            found["gracePeriodSeconds"] = grace
        if "propagationPolicy" in query:
            found["propagationPolicy"] = query["propagationPolicy"]
        if "orphanDependents" in query:
            found["orphanDependents"] = flag(query, "orphanDependents")
        if "dryRun" in query and not found.get("dryRun"):
            found["dryRun"] = [query["dryRun"]]
        return DeleteOptions.read(found)

    # Subresources

    def _get_scale(self, request: Request) -> Answer:
        target = request.target
        return encode(
            scale_of(target.kind, self.api.get(target.kind, target.key)), accepted(request.accept)
        )

    def _put_scale(self, request: Request) -> Answer:
        target, call = request.target, request.call("UpdateOptions")
        scale = set_scale(self.api, target.kind, target.key, request.parsed(), call)
        return encode(scale, accepted(request.accept))

    def _patch_scale(self, request: Request) -> Answer:
        target, call = request.target, request.call("PatchOptions")
        before = scale_of(target.kind, self.api.get(target.kind, target.key))
        after = {**before, **_patched_scale(before, request)}
        scale = set_scale(self.api, target.kind, target.key, after, call)
        return encode(scale, accepted(request.accept))

    def _bind(self, request: Request) -> Answer:
        call = request.call("CreateOptions")
        body, key = request.parsed(), request.target.key
        if not request.target.name:
            key = (key[0], str((body.get("metadata") or {}).get("name", "")))
        status = bind(self.api, key, body, call)
        return encode(status, accepted(request.accept), 201)

    def _evict(self, request: Request) -> Answer:
        call = request.call("CreateOptions")
        body = request.parsed() if request.body.strip() else {}
        return encode(
            evict(self.api, request.target.key, body, call), accepted(request.accept), 201
        )

    def _finalize(self, request: Request) -> Answer:
        call = request.call("UpdateOptions")
        found = finalize(self.api, request.target.key, request.parsed(), call)
        return encode(found, accepted(request.accept))

    def _token(self, request: Request) -> Answer:
        self.api.item(request.target.kind, request.target.key)
        raise statuses.bad_request("this embedded cluster issues no service account tokens")

    def _simulated(self, request: Request) -> Answer:
        self.api.item(request.target.kind, request.target.key)
        raise statuses.bad_request(
            f"pods of podium's embedded cluster are simulated: there is no process behind "
            f'pod "{request.target.name}", so {request.target.subresource} has nothing to show'
        )

    def _review(self, request: Request) -> Answer:
        if request.method != "POST" or request.target.name:
            raise statuses.method_not_allowed()
        # Newer versions of kubectl send protobuf. The answer does not depend on the body.
        is_opaque = "protobuf" in request.content_type
        found = review(request.target.kind, {} if is_opaque else request.parsed())
        return encode(found, accepted(request.accept), 201)

    # Shared

    def _view(self, request: Request) -> View:
        accept = accepted(request.accept)
        include = request.query.get("includeObject") or "Metadata"
        if accept.view == "Table" and include not in ("Metadata", "Object", "None"):
            detail = "must be 'Metadata', 'Object', 'None', or empty"
            cause = statuses.bad_value("includeObject", include, detail)
            raise statuses.bad_request(f"Unable to convert to Table as requested: {cause}")
        options = TableOptions(self.api.store.clock, accept.version or "v1", include)
        return View(request.target.kind, accept, options)

    def _check_age(self, request: Request) -> None:
        wanted = version(request.query)
        if wanted and wanted > self.api.store.version:
            raise statuses.too_new(wanted, self.api.store.version)


def _is_unhandled(request: Request, error: Refusal) -> bool:
    """Return whether a real server refuses the request before it looks at the kind."""
    return error.code in (405, 406) or (error.code == 415 and request.method == "PATCH")


def _patch_of(request: Request) -> Patch:
    return Patch(request.body, request.content_type, request.query, request.read_yaml)


def _patched_scale(before: Json, request: Request) -> Json:
    found = patched(before, _patch_of(request))
    return found if isinstance(found, dict) else {}


def _warned(answer: Answer, call: Call, kind: ApiKind, item: Item) -> Answer:
    warnings = (*call.warnings, *kind.warnings(item))
    return answer._replace(warnings=warnings) if warnings else answer


def _deleted(request: Request, item: Item) -> Json:
    kind = request.target.kind
    details: Json = {"name": item.key[1], "kind": kind.plural, "uid": item.meta.uid}
    return {**details, "group": kind.group} if kind.group else details
