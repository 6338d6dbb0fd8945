"""Objects with a marker in every text of their published schema, and in every key of a map.

A marker says nothing by itself; ``MarkedObjects.found_in`` tells the fields of those in a text.
"""

import itertools
import re

from podium.apiserver.published import definitions
from podium.snapshot.kinds import KINDS

QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
# These may hold anything; other objects without fields are empty.
ANYTHING = (
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
)
# How users write words, so that rules for such texts are tried.
FORMS = (
    "{}",
    "{}.example.com/name",
    "example.com/{}",
    "payments.kubernetes.io/{}",
    "{}__{}",
    "https://user:{}@example.com:443/path?q={}",
    "{} with blanks\nand lines",
    "registry.example.com:5000/{}",
    "v1/{}",
)


class MarkedObjects:
    """Makes one object of each kind; each optional field is there or not, as ``chance`` decides."""

    def __init__(self, release, chance):
        self._definitions = definitions(release)
        self._chance = chance
        self._numbers = itertools.count()
        self._fields = {}  # by marker

    def all(self):
        """One object of each kind of a snapshot, in each version."""
        groups = {(each.group, each.kind) for each in KINDS}
        for (group, version, kind), name in sorted(self._definitions._names.items()):
            if (group, kind) in groups:
                made = self._fields_of(self._definitions[name], (kind,), (name,))
                api_version = f"{group}/{version}" if group else version
                yield {**made, "apiVersion": api_version, "kind": kind}

    def found_in(self, text):
        """The paths of the fields whose markers are in a text."""
        return {self._fields[marker] for marker in re.findall(r"mark\d+er", text)}

    def text(self, path=()):
        marker = f"mark{next(self._numbers)}er"
        self._fields[marker] = path
        return self._chance.choice(FORMS).format(marker, marker)

    def _value(self, schema, path, within):
        reference = schema.get("$ref") or (schema.get("allOf") or [{}])[0].get("$ref")
        if reference:
            name = reference.rsplit("/", 1)[1]
            return self._referred(name, path, within)
        if "properties" in schema:
            return self._fields_of(schema, path, within)
        return self._simple(schema, path, within)

    def _referred(self, name, path, within):
        if name == QUANTITY:
            return "5"
        if name in ANYTHING:
            return {self.text((*path, "?")): self.text((*path, "?"))}
        return (
            None if name in within else self._value(self._definitions[name], path, (*within, name))
        )

    def _fields_of(self, schema, path, within):
        values = {
            name: self._value(each, (*path, name), within)
            for name, each in schema["properties"].items()
            if name in ("metadata", "name") or self._chance.random() < 0.9
        }
        return {name: value for name, value in values.items() if value is not None}

    def _simple(self, schema, path, within):
        kinds = schema.get("type", "string" if "oneOf" in schema else "object")
        match kinds if isinstance(kinds, str) else kinds[0]:
            case "array":
                item = self._value(schema["items"], (*path, "[]"), within)
                return None if item is None else [item]
            case "object" if "additionalProperties" in schema:
                value = self._value(schema["additionalProperties"], (*path, "{}"), within)
                return None if value is None else {self.text((*path, "{}")): value}
            case "object":
                return {}
            case "string" if schema.get("format") == "date-time":
                return "2026-01-02T03:04:05Z"
            case "string":
                return self.text(path)
            case "boolean":
                return True
        return 3
