"""Named formats, such as ``format.uuid().validate("x")``, with the API server's messages."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final

from podium.cel import types
from podium.cel.environment import Library, function, library, overload
from podium.cel.times import parse_timestamp
from podium.cel.types import Type
from podium.cel.urls import parse_url
from podium.cel.values import NONE, Optional
from podium.errors import EvaluationError

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must"
    " start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for"
    f" validation is '{_LABEL}')"
)
_LABEL_1035_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an"
    " alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123',"
    f" regex used for validation is '{_LABEL_1035}')"
)
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'example.com', regex used for"
    f" validation is '{_SUBDOMAIN}')"
)
_NAME_TEXT: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    " alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    f" validation is '{_NAME}')"
)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or"
    f" '12345', regex used for validation is '({_NAME})?')"
)
_QUALIFIED_TEXT: Final = (
    "a qualified name " + _NAME_TEXT + " with an optional DNS subdomain prefix and '/'"
    " (e.g. 'example.com/MyName')"
)
_UUID: Final = re.compile("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, eq=False)
class NamedFormat:
    """A format that texts can be validated against."""

    name: str
    validate: Callable[[str], list[str]]
    cel_type: ClassVar[Type] = types.struct("kubernetes.NamedFormat")
    go_name: ClassVar[str] = "cel.Format"
    equals_only_itself: ClassVar[bool] = True


def _limited(pattern: str, message: str, longest: int) -> Callable[[str], list[str]]:
    compiled = re.compile(pattern)

    def validate(text: str) -> list[str]:
        too_long = [f"must be no more than {longest} bytes"] if len(text.encode()) > longest else []
        return too_long + ([] if compiled.fullmatch(text) else [message])

    return validate


def _prefix(validate: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Accept a text that ends in a dash, because a suffix is going to follow."""
    return lambda text: validate(text[:-1] + "a" if text[1:] and text.endswith("-") else text)


_label = _limited(_LABEL, _LABEL_TEXT, 63)
_subdomain = _limited(_SUBDOMAIN, _SUBDOMAIN_TEXT, 253)
_label_1035 = _limited(_LABEL_1035, _LABEL_1035_TEXT, 63)
_label_value = _limited(f"({_NAME})?", _VALUE_TEXT, 63)


def _qualified_name(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return [_QUALIFIED_TEXT]
    found = []
    if slash:
        found = ["prefix part must be non-empty"] if not prefix else []
        found += [f"prefix part {message}" for message in _subdomain(prefix)] if prefix else []
    if not name:
        found.append("name part must be non-empty")
    elif len(name) > 63:
        found.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_NAME, name):
        found.append(f"name part {_NAME_TEXT}")
    return found


def _uri(text: str) -> list[str]:
    try:
        parse_url(text)
    except EvaluationError as error:
        return [str(error).removeprefix("URL parse error during conversion from string: ")]
    return []


def _checked(message: str, check: Callable[[str], object]) -> Callable[[str], list[str]]:
    def validate(text: str) -> list[str]:
        try:
            return [] if check(text) else [message]
        except (ValueError, EvaluationError):
            return [message]

    return validate


def _is_base64(text: str) -> bool:
    return len(text) > 0 and b64decode(text, validate=True) is not None


def _is_date(text: str) -> bool:
    return len(text) == 10 and date.fromisoformat(text) is not None


FORMATS: Final = {
    "dns1123Label": NamedFormat("DNS1123Label", _label),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", _subdomain),
    "dns1035Label": NamedFormat("DNS1035Label", _label_1035),
    "qualifiedName": NamedFormat("QualifiedName", _qualified_name),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _prefix(_label)),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", _prefix(_subdomain)),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _prefix(_label_1035)),
    "labelValue": NamedFormat("LabelValue", _label_value),
    "uri": NamedFormat("URI", _uri),
    "uuid": NamedFormat("uuid", _checked("does not match the UUID format", _UUID.fullmatch)),
    "byte": NamedFormat("byte", _checked("invalid base64", _is_base64)),
    "date": NamedFormat("date", _checked("invalid date", _is_date)),
    "datetime": NamedFormat("datetime", _checked("invalid datetime", parse_timestamp)),
}


def _validated(format_: NamedFormat, text: str) -> Optional:
    found = format_.validate(text)
    return Optional(list(found)) if found else NONE


def _named(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


NAMED_FORMATS: Final[Library] = library(
    function(
        "validate",
        overload(
            "format-validate",
            "kubernetes.NamedFormat.(string) -> optional(list(string))",
            _validated,
        ),
    ),
    function(
        "format.named",
        overload("format-named", "(string) -> optional(kubernetes.NamedFormat)", _named),
    ),
    *(
        function(
            f"format.{name}",
            overload(f"format.{name}", "() -> kubernetes.NamedFormat", lambda found=found: found),
        )
        for name, found in FORMATS.items()
    ),
)
