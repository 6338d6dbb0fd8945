"""Requests that are sent to two servers, whose answers must be the same.

What differs from server to server and from run to run is left out of an answer.
"""

import json
import re
from dataclasses import dataclass, field

from tests.support.control_plane.sides import Side

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ADDRESS = re.compile(r"\b10\.96\.\d+\.\d+\b")
_VERSION_WORD = re.compile(
    r"(resource version|ResourceVersion|ResourceVersion in record|object meta|current)"
    r"(:? )\(?\d+\)?( \(\d+\))?"
)
# What etcd says about a key, and a whole object inside a message: internals of the other server.
_STORAGE_ERROR = re.compile(
    r"StorageError: invalid object, Code: 4, Key: \S+, ResourceVersion: \S+, AdditionalErrorMsg: "
)
_DUMP = re.compile(r'patch: Invalid value: "(?:\{.*\}|map\[.*\])": ', re.DOTALL)
_DUMPED_VALUE = re.compile(r'^Invalid value: "(?:\{.*\}|map\[.*\])": ', re.DOTALL)
_DUMPED_DEVICES = re.compile(
    r'Invalid value: \{"(?:[Dd]evices|[Ss]pec|labels)":.*\}: field is immutable', re.DOTALL
)
_BODY_END = re.compile(
    r"((?:json parse error|unrecognized \(must be of type \w+\)): .*) \([^()]*\)$", re.DOTALL
)
# What is wrong with text that is no JSON or YAML, in the words of one parser or the other.
_PARSER = re.compile(
    r"(json parse error: |continue key is not valid: |decoding patch: |yaml: |^)"
    r"(invalid character .*|JSON is malformed.*|(line \d+: )?did not find .*|not readable .*)",
    re.DOTALL,
)
_UNTYPED = re.compile(r"('Kind' is missing in ').*'", re.DOTALL)
_RANDOM = re.compile(r"\bBad_Name-[a-z0-9]{5}\b")  # made from the one prefix that is refused
_AGE = re.compile(r"^(\d+[smhd])+$")
_SELF_TYPE = re.compile(r"\bselfType\d+\b")  # of a custom resource, in expressions about it
_SERVER = re.compile(r"\b127\.0\.0\.1:\d+\b")
_DIFF = re.compile(r"\n@@ .*", re.DOTALL)  # of Go's structs, after some refusals of updates
_PLACEHOLDERS = {
    "resourceVersion": "<version>",
    "continue": "<token>",
    "storageVersionHash": "<hash>",
    "nodePort": "<port>",
}


def normal(value):
    """The value with placeholders for uids, versions, times, addresses and generated names."""
    match value:
        case dict():
            return {key: _field(key, one) for key, one in _named(_without_prose(value)).items()}
        case []:
            return None  # Go writes an empty list either way
        case list():
            return [normal(one) for one in value]
        case str():
            return normal_text(value)
        case _:
            return value


def normal_text(text):
    text = _DUMP.sub('patch: Invalid value: "<object>": ', _STORAGE_ERROR.sub("", text))
    text = _DUMPED_VALUE.sub('Invalid value: "<object>": ', _BODY_END.sub(r"\1", text))
    text = _DUMPED_DEVICES.sub("Invalid value: <devices>: field is immutable", text)
    text = _RANDOM.sub("Bad_Name-<random>", _PARSER.sub(r"\1<parser>", _DIFF.sub("", text)))
    text = _UNTYPED.sub(r"\1<object>'", text)
    text = _UID.sub("<uid>", _TIME.sub("<time>", text))
    text = _SELF_TYPE.sub("<self>", text)
    text = _SERVER.sub("<server>", _ADDRESS.sub("<address>", text))
    return _VERSION_WORD.sub(r"\1\2<version>", text)


def _field(key, value):
    if key in _PLACEHOLDERS and value and isinstance(value, str | int):
        return _PLACEHOLDERS[key]
    if key == "causes":  # some are told twice
        told = [normal(one) for one in value]
        return [one for at, one in enumerate(told) if one not in told[:at]]
    if key == "managedFields" and isinstance(value, list):  # their order goes by whole seconds
        return sorted(map(normal, value), key=_writer)
    if key == "cells":
        return [
            _AGE.sub("<age>", one) if isinstance(one, str) else one for one in map(normal, value)
        ]
    return normal(value)


def _writer(entry):
    names = ("manager", "operation", "subresource", "apiVersion")
    return tuple(entry.get(name, "") for name in names)


def _without_prose(found):
    """A Table's column without what nobody reads: its type, and a sentence of documentation."""
    if "priority" not in found or "format" not in found:
        return found
    return {key: one for key, one in found.items() if key not in ("description", "type")}


def _named(found):
    """An object whose name was made from a prefix is called after the prefix."""
    prefix = found.get("generateName")
    if prefix and str(found.get("name", "")).startswith(prefix):
        return {**found, "name": f"{prefix}<random>"}
    return found


def differences(ours, theirs, path=""):
    """Where two normal answers differ, one line each."""
    if type(ours) is not type(theirs):
        return [f"{path or '.'}: podium {ours!r}, kube-apiserver {theirs!r}"]
    match ours:
        case dict():
            keys = sorted({*ours, *theirs}, key=str)
            pairs = [
                (f"{path}.{key}", ours.get(key, _ABSENT), theirs.get(key, _ABSENT)) for key in keys
            ]
        case list() if len(ours) == len(theirs):
            pairs = [
                (f"{path}[{at}]", *pair) for at, pair in enumerate(zip(ours, theirs, strict=True))
            ]
        case _:
            pairs = []
    if pairs:
        return [line for where, one, other in pairs for line in differences(one, other, where)]
    return [] if ours == theirs else [f"{path or '.'}: podium {ours!r}, kube-apiserver {theirs!r}"]


class _Absent:
    def __repr__(self):
        return "nothing"


_ABSENT = _Absent()


JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


@dataclass
class Ask:
    """Requests of one script to one server, in a namespace of the script's own."""

    side: Side
    namespace: str
    answers: list = field(default_factory=list)

    def core(self, rest=""):
        return f"/api/v1/namespaces/{self.namespace}/{rest}"

    def group(self, version, rest):
        return f"/apis/{version}/namespaces/{self.namespace}/{rest}"

    def apps(self, rest):
        return self.group("apps/v1", rest)

    def __call__(self, method, path, body=None, content=JSON, accept=JSON):
        """Ask and keep the answer; returns the body as it came."""
        data = (
            body
            if isinstance(body, bytes | None)
            else json.dumps(body, separators=(",", ":")).encode()
        )
        headers = {"Accept": accept, "User-Agent": "script/1.0"}
        if data is not None and content is not None:
            headers["Content-Type"] = content
        code, parsed, warnings = self.side.request(method, path, data, **headers)
        kept = {"code": code, "body": parsed, "warnings": warnings}
        self.answers.append((f"{method} {path}", normal(kept)))
        return parsed

    def get(self, path, accept=JSON):
        return self("GET", path, accept=accept)

    def create(self, path, body):
        return self("POST", path, body)

    def put(self, path, body):
        return self("PUT", path, body)

    def patch(self, path, body, content):
        return self("PATCH", path, body, content)

    def apply(self, path, body, manager, force=False):
        more = "&force=true" if force else ""
        return self("PATCH", f"{path}?fieldManager={manager}{more}", body, APPLY)

    def delete(self, path, options=None):
        return self("DELETE", path, options)

    def watch(self, path, count):
        """The first ``count`` events of a watch."""
        code, events = self.side.events(path, count)
        self.answers.append((f"WATCH {path}", normal({"code": code, "events": events})))
        return events


def compare(script, ours, theirs):
    """Run a script against both servers: how many answers, and where they differ."""
    asks = [Ask(side, script.__name__.replace("_", "-")) for side in (ours, theirs)]
    for ask in asks:
        namespace = {"metadata": {"name": ask.namespace}}
        ask.side.request("POST", "/api/v1/namespaces", json.dumps(namespace).encode())
        script(ask)
    return len(asks[0].answers), all_differences(*(ask.answers for ask in asks))


def all_differences(ours, theirs):
    return [
        f"{at}: {step}\n    {line}"
        for at, ((step, one), (_, other)) in enumerate(zip(ours, theirs, strict=True))
        if not _is_better_refused(one, other)
        for line in differences(one, other)
    ]


def _is_better_refused(ours, theirs):
    """podium never answers 500 to a fault of the request, and every refusal of it is a Status."""
    is_text = isinstance(theirs.get("body"), str) and theirs["code"] == ours["code"] == 404
    return is_text or (theirs["code"] == 500 and ours["code"] in (400, 422))
