"""Answers without what differs from server to server and from run to run."""

import re

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
    text = _RANDOM.sub("Bad_Name-<random>", _PARSER.sub(r"\1<parser>", _DIFF.sub("", text)))
    text = _UNTYPED.sub(r"\1<object>'", text)
    text = _UID.sub("<uid>", _TIME.sub("<time>", text))
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
    return tuple(entry.get(name, "") for name in ("manager", "operation", "subresource"))


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
