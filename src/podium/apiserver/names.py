"""Rules for names of objects, with kube-apiserver's messages."""

from __future__ import annotations

import re

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_MAX_SUBDOMAIN, _MAX_LABEL = 253, 63

_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    f"validation is '{_SUBDOMAIN}')"
)
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must"
    " start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    f"validation is '{_LABEL}')"
)


def label_problems(name: str) -> list[str]:
    return _checked(name, _MAX_LABEL, _LABEL, _LABEL_RULE)


def label_without_dots_problems(name: str) -> list[str]:
    return ["must not contain dots"] if "." in name else label_problems(name)


def subdomain_problems(name: str) -> list[str]:
    return _checked(name, _MAX_SUBDOMAIN, _SUBDOMAIN, _SUBDOMAIN_RULE)


def subdomain_bytes_problems(name: str) -> list[str]:
    """Check a name like a subdomain, in the words of kinds with newer validation."""
    old, new = (f"no more than {_MAX_SUBDOMAIN} {unit}" for unit in ("characters", "bytes"))
    return [one.replace(old, new) for one in subdomain_problems(name)]


def path_problems(name: str) -> list[str]:
    """Check a name of a kind whose names only have to fit into a path."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in name]


def _checked(name: str, longest: int, pattern: str, rule: str) -> list[str]:
    found = [f"must be no more than {longest} characters"] if len(name) > longest else []
    return found if re.fullmatch(pattern, name) else [*found, rule]
