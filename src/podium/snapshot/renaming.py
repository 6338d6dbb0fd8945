"""Walk through an object and rename every word in it that may say whose cluster it is.

A word is renamed wherever it stands: a node's name also as the value of a label, in a nomination
and in an owner reference. So everything that was equal stays equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from podium.api.codec import UNREADABLE
from podium.api.images import full_name
from podium.snapshot import well_known
from podium.snapshot.model import Json

# Returns the new name of a word.
Rename = Callable[[str], str]

_SELECTOR_FIELDS: Final = ("matchLabels", "matchExpressions", "nodeSelectorTerms", "matchFields")
_ZONES: Final = "__"  # separates the zones in a label of a volume
_VERSION: Final = re.compile(r"v\d+((alpha|beta)\d+)?")
_AMOUNT: Final = re.compile(r"\d+%?")


class Renaming:
    """Renames the words of objects; the objects stay unchanged and new ones are returned."""

    def __init__(self, rename: Rename) -> None:
        self._rename = rename

    def of_object(self, obj: Json) -> Json:
        """Return the object with other words."""
        renamed = self._fields(obj)
        if obj.get("kind") in well_known.KINDS_WITH_KEPT_NAMES and "metadata" in obj:
            renamed["metadata"]["name"] = obj["metadata"]["name"]
        if obj.get("kind") == "DeviceClass":
            renamed["spec"] = self._devices(obj.get("spec"))
        if obj.get("kind") == "CSINode":
            _keep_driver_names(obj, renamed)
        return renamed

    def name(self, text: str) -> str:
        """Return the new name of an object, or a new text; only an empty one stays."""
        return self._rename(text) if text else text

    def label_value(self, key: str, text: str) -> str:
        """Return a new value of a label; numbers stay, because selectors compare them."""
        if key in well_known.NAMES_OF_OBJECTS:
            return self.name(text)
        if key in well_known.KEPT_VALUES_OF or is_plain(text):
            return text
        return _ZONES.join(map(self.word, text.split(_ZONES)))

    def key(self, text: str) -> str:
        """Return a new key of a label, a taint or a topology, unless it is well known."""
        domain = text.rpartition("/")[0]
        is_kept = text in well_known.KEPT_KEYS or domain in well_known.KEPT_DOMAINS
        return text if is_kept else self.word(text)

    def word(self, text: str) -> str:
        """Return another word, unless this one says nothing about its owner."""
        return text if is_plain(text) else self._rename(text)

    def group_version(self, text: str) -> str:
        """Return a new apiVersion, unless it is one of Kubernetes."""
        group, slash, version = text.rpartition("/")
        kept = version if _VERSION.fullmatch(version) else self.word(version)
        return f"{self.group(group)}{slash}{kept}"

    def group(self, text: str) -> str:
        is_kept = text in well_known.GROUPS or text.endswith(".k8s.io")
        return text if is_kept else self.word(text)

    def kind(self, text: str) -> str:
        return text if text in well_known.KINDS else self.word(text)

    def condition_type(self, text: str) -> str:
        return text if text in well_known.CONDITIONS else self.word(text)

    def request(self, text: str) -> str:
        """Return the new name of a request for devices, or of one of its alternatives."""
        return "/".join(map(self.word, text.split("/")))

    def amount(self, text: str) -> str:
        return text if _AMOUNT.fullmatch(text) else self.word(text)

    # --- the walk --------------------------------------------------------------------------------

    def _fields(self, obj: Json) -> Json:
        found = {
            name: self._field(name, value, obj)
            for name, value in obj.items()
            if name not in well_known.DROPPED_FIELDS
        }
        if isinstance(image := obj.get("image"), str):
            found["image"] = self._image(full_name(image))
        if "containerPort" in obj and isinstance(address := obj.get("hostIP"), str):
            found["hostIP"] = address if address in well_known.ANY_ADDRESS else self.name(address)
        return found

    def _field(self, name: str, value: Any, within: Json) -> Any:
        if (name in well_known.KEPT_FIELDS or _is_time(name)) and _is_flat(value):
            return value
        if name in ("value", "values") and isinstance(within.get("key"), str):
            return self._values(value, within)
        if rule := _TEXTS.get(name):
            return _each(lambda text: rule(self, text), value)
        structure = _STRUCTURES.get(name)
        return structure(self, value) if structure else self._other(value)

    def _other(self, value: Any) -> Any:
        match value:
            case dict():
                return self._fields(value)
            case list():
                return [self._other(each) for each in value]
            case str():
                return self.name(value)
        return value

    def _values(self, value: Any, within: Json) -> Any:
        if within.get("operator") in ("Gt", "Lt"):
            return value
        return _each(lambda text: self.label_value(within["key"], text), value)

    def _labels(self, value: Any) -> Any:
        """Rename a map of labels; a selector with fields of its own is walked as usual."""
        if not _is_map_of_texts(value) or any(name in value for name in _SELECTOR_FIELDS):
            return self._other(value)
        return {self.key(key): self.label_value(key, text) for key, text in value.items()}

    def _annotations(self, value: Any) -> Json:
        if not _is_map_of_texts(value):
            return {}
        return {self.key(key): self._annotation(key, text) for key, text in value.items()}

    def _annotation(self, key: str, text: str) -> str:
        if key in well_known.NAMES_IN_ANNOTATIONS:
            return self.name(text)
        if key in well_known.JSON_IN_ANNOTATIONS:
            try:
                return msgspec.json.encode(self._other(msgspec.json.decode(text))).decode()
            except UNREADABLE:
                pass  # the scheduler cannot read it either
        return text if key in well_known.KEPT_ANNOTATIONS else self.word(text)

    def _by_name(self, value: Any) -> Json:
        """Rename the keys of a map from names to times."""
        return (
            {self.name(key): time for key, time in value.items()} if _is_map_of_texts(value) else {}
        )

    def _conditions(self, value: Any) -> list[Json]:
        return [self._condition(each) for each in _dicts(value)]

    def _condition(self, condition: Json) -> Json:
        found = {name: value for name, value in condition.items() if _is_kept_of_condition(name)}
        if isinstance(kind := condition.get("type"), str):
            found["type"] = self.condition_type(kind)
        if (reason := condition.get("reason")) in well_known.REASONS:
            found["reason"] = reason
        return found

    def _images(self, value: Any) -> list[Json]:
        return [
            {**image, "names": _each(self._image, image.get("names"))} for image in _dicts(value)
        ]

    def _image(self, name: str) -> str:
        """Return a new name with a tag, since the scheduler adds one to names without."""
        return f"{self._rename(name)}:1"

    # --- devices: drivers, devices and expressions refer to each other, only places are renamed ---

    def _devices(self, value: Any) -> Any:
        match value:
            case dict():
                return {
                    name: self._field_of_device(name, each)
                    for name, each in value.items()
                    if name not in ("data", "networkData")
                }
            case list():
                return [self._devices(each) for each in value]
        return value

    def _field_of_device(self, name: str, value: Any) -> Any:
        if rule := _TEXTS_OF_DEVICES.get(name):
            return _each(lambda text: rule(self, text), value)
        if name in ("requests", "firstAvailable") and isinstance(value, list):
            return [self._device_request(each) for each in value]
        if name == "conditions":
            return self._conditions(value)
        if name == "nodeSelector":
            return self._other(value)
        return {} if name == "parameters" else self._devices(value)

    def _device_request(self, request: Any) -> Any:
        """Rename a request, or a reference to one."""
        if isinstance(request, str):
            return self.request(request)
        found = self._devices(request)
        if isinstance(found, dict) and isinstance(name := found.get("name"), str):
            found["name"] = self.request(name)
        return found


# How the texts of a field are renamed, alone or in a list; other texts become new names.
_TEXTS: Final[Mapping[str, Callable[[Renaming, str], str]]] = {
    "apiGroup": Renaming.group,
    "apiVersion": Renaming.group_version,
    "bindingConditions": Renaming.condition_type,
    "bindingFailureConditions": Renaming.condition_type,
    "conditionType": Renaming.condition_type,
    "finalizers": Renaming.key,
    "key": Renaming.key,
    "kind": Renaming.kind,
    "matchLabelKeys": Renaming.key,
    "maxSurge": Renaming.amount,
    "maxUnavailable": Renaming.amount,
    "minAvailable": Renaming.amount,
    "mismatchLabelKeys": Renaming.key,
    "request": Renaming.request,
    "requestName": Renaming.request,
    "schedulerName": Renaming.word,
    "topologyKey": Renaming.key,
    "topologyKeys": Renaming.key,
}
_TEXTS_OF_DEVICES: Final[Mapping[str, Callable[[Renaming, str], str]]] = {
    "bindingConditions": Renaming.condition_type,
    "bindingFailureConditions": Renaming.condition_type,
    "nodeName": Renaming.name,
    "pool": Renaming.name,
    "request": Renaming.request,
}
# How other fields are renamed.
_STRUCTURES: Final[Mapping[str, Callable[[Renaming, Any], Any]]] = {
    "annotations": Renaming._annotations,
    "conditions": Renaming._conditions,
    "deviceSelector": Renaming._devices,
    "devices": Renaming._devices,
    "disruptedPods": Renaming._by_name,
    "images": Renaming._images,
    "labels": Renaming._labels,
    "matchLabels": Renaming._labels,
    "nodeSelector": Renaming._labels,
    "selector": Renaming._labels,
    "sharedCounters": Renaming._devices,
    "taint": Renaming._devices,
}


def is_plain(text: str) -> bool:
    """Whether a word says nothing about its owner: a number, or one of a few words."""
    return text in well_known.KEPT_WORDS or text.removeprefix("-").isdecimal()


def _each(rename: Rename, value: Any) -> Any:
    """Rename a text, or all texts of a list; anything else stays."""
    if isinstance(value, list):
        return [_each(rename, each) for each in value]
    return rename(value) if isinstance(value, str) else value


def _is_time(name: str) -> bool:
    return name.endswith(("Time", "Timestamp", "At", "timeAdded"))


def _is_kept_of_condition(name: str) -> bool:
    return name in ("status", "observedGeneration") or _is_time(name)


def _is_flat(value: Any) -> bool:
    """Whether a value is a scalar, or a list or map of scalars such as quantities."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not any(isinstance(each, dict | list) for each in inner)


def _dicts(value: Any) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _is_map_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _keep_driver_names(node: Json, renamed: Json) -> None:
    match node, renamed:
        case {"spec": {"drivers": list(drivers)}}, {"spec": {"drivers": list(found)}}:
            for old, new in zip(drivers, found, strict=True):
                if isinstance(new, dict) and "name" in new:
                    new["name"] = old["name"]
