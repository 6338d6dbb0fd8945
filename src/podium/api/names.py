"""Validate label keys and values as the API does, with its messages."""

import re
from functools import lru_cache

_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_ALPHANUMERIC = (
    "consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_QUALIFIED_RULE = (
    f"must {_ALPHANUMERIC} (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_QUALIFIED}')"
)
_VALUE_RULE = (
    f"a valid label must be an empty string or {_ALPHANUMERIC} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
    "'-' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_NAME_LENGTH = 63
_PREFIX_LENGTH = 253


@lru_cache(maxsize=4096)
def label_key_problems(key: str) -> tuple[str, ...]:
    """Return what is wrong with a label key or another qualified name; empty if valid."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        suffix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return (f"a qualified name {_QUALIFIED_RULE} {suffix}",)
    found = [f"prefix part {problem}" for problem in _prefix_problems(prefix)] if slash else []
    if not name:
        found.append("name part must be non-empty")
    elif len(name) > _NAME_LENGTH:
        found.append(f"name part must be no more than {_NAME_LENGTH} bytes")
    if not re.fullmatch(_QUALIFIED, name):
        found.append(f"name part {_QUALIFIED_RULE}")
    return tuple(found)


def _prefix_problems(prefix: str) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    found = []
    if len(prefix) > _PREFIX_LENGTH:
        found.append(f"must be no more than {_PREFIX_LENGTH} bytes")
    if not re.fullmatch(_SUBDOMAIN, prefix):
        found.append(_SUBDOMAIN_RULE)
    return found


@lru_cache(maxsize=4096)
def label_value_problems(value: str) -> tuple[str, ...]:
    """Return what is wrong with a label value; empty if valid. The empty value is valid."""
    found = []
    if len(value) > _NAME_LENGTH:
        found.append(f"must be no more than {_NAME_LENGTH} bytes")
    if not re.fullmatch(_VALUE, value):
        found.append(_VALUE_RULE)
    return tuple(found)
