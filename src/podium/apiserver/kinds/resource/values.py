"""Checks that the kinds of resource.k8s.io share: names, lists, quoted problems.

Since 1.37 Kubernetes declares many rules at the Go types. Violations of these come after all others
and are worded differently, so they are `Declared` here, with the words of both releases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from podium.api.names import label_key_problems
from podium.apiserver import statuses
from podium.apiserver.names import label_problems, subdomain_problems
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_37, Release

_LONGEST_DRIVER, _LONGEST_ID, _LONGEST_POOL = 63, 32, 253
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER_RULE = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    f"validation is '{_IDENTIFIER}')"
)
_NOT_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"


class Declared(NamedTuple):
    """Violations of one declared rule: in 1.36's words, and in those of later releases."""

    older: tuple[Cause, ...]
    newer: tuple[Cause, ...]


Found = Iterator[Cause | Declared]
Check = Callable[[Any, str], Found]


def in_order(found: Iterable[Cause | Declared], release: Release) -> Iterator[Cause]:
    """Yield the causes as a release reports them: since 1.37 the declared rules come last."""
    declared: list[Cause] = []
    for one in found:
        if isinstance(one, Cause):
            yield one
        elif release < V1_37:
            yield from one.older
        else:
            declared += one.newer
    yield from declared


def same(cause: Cause) -> Declared:
    """Return a declared rule that both releases word alike."""
    return Declared((cause,), (cause,))


def worded(cause: Cause, newer: Cause) -> Declared:
    return Declared((cause,), (newer,))


def listed(items: list[Any] | None, path: str, most: int, check: Check) -> Found:
    """Check each item of a list, or only its length if that is too much."""
    if len(items or ()) > most:
        yield same(statuses.too_many(path, len(items or ()), most))
        return
    for index, item in enumerate(items or ()):
        yield from check(item, f"{path}[{index}]")


def distinct(items: list[Any] | None, path: str, most: int, check: Check) -> Found:
    """Check a list whose items have different names, or are different strings."""
    yield from listed(items, path, most, check)
    if len(items or ()) <= most:
        yield from repeated(items, path, _name)


def _name(item: Any) -> Any:
    return item if isinstance(item, str) else item.get("name", "")


def repeated(items: list[Any] | None, path: str, key: Callable[[Any], Any]) -> Found:
    """Yield a cause for each item whose key has occurred before."""
    seen: list[Any] = []
    for index, item in enumerate(items or ()):
        name = key(item)
        if name in seen:
            where = f"{path}[{index}]"
            yield worded(statuses.duplicate(where, name), statuses.duplicate(where, item))
        else:
            seen.append(name)


def label(name: str | None, path: str) -> Iterator[Cause]:
    for problem in label_problems(name or ""):
        yield statuses.bad_value(path, name or "", problem)


def subdomain(name: str | None, path: str) -> Iterator[Cause]:
    for problem in subdomain_problems(name or ""):
        yield statuses.bad_value(path, name or "", problem)


def qualified_label(name: str, path: str) -> Iterator[Cause]:
    for problem in label_key_problems(name):
        yield statuses.bad_value(path, name, problem)


def declared(causes: Iterable[Cause]) -> Found:
    """Mark causes whose rule is declared, with lengths counted in bytes since 1.37."""
    for cause in causes:
        yield worded(cause, in_bytes(cause))


def in_bytes(cause: Cause) -> Cause:
    return cause._replace(
        message=re.sub(r"(no more than \d+) characters$", r"\1 bytes", cause.message)
    )


def driver(name: str | None, path: str) -> Iterator[Cause]:
    """Check the name of a driver, in which upper case is allowed."""
    if not name:
        yield statuses.required(path)
        return
    if len(name) > _LONGEST_DRIVER:
        yield statuses.too_long(path, _LONGEST_DRIVER)
    for problem in subdomain_problems(name.lower()):
        yield statuses.bad_value(path, name, problem)


def declared_driver(name: str | None, path: str) -> Found:
    for cause in driver(name, path):
        yield worded(cause, cause._replace(message=_caseless(cause.message)))


def _caseless(message: str) -> str:
    """Return the message of a rule that says that upper case is allowed."""
    words = (
        ("a lowercase RFC 1123", "an RFC 1123"),
        ("lower case alphanumeric", "alphanumeric"),
        ("'example.com'", "'Example.com'"),
        (f"than {_LONGEST_DRIVER} bytes", f"than {_LONGEST_DRIVER} characters"),
    )
    for old, new in words:
        message = message.replace(old, new)
    return message


def pool(name: str | None, path: str) -> Iterator[Cause]:
    """Check the name of a pool: subdomains that are separated by slashes."""
    if not name:
        yield statuses.required(path)
        return
    if len(name) > _LONGEST_POOL:
        yield statuses.too_long(path, _LONGEST_POOL)
    for part in name.split("/"):
        yield from subdomain(part, path)


def declared_pool(name: str | None, path: str) -> Found:
    older = tuple(pool(name, path))
    newer = tuple(one for one in older if "RFC 1123" not in one.message)
    newer += tuple(
        statuses.bad_value(path, part, f"segment {number}: {problem}")
        for number, part in enumerate((name or "x").split("/"))
        for problem in subdomain_problems(part)
    )
    if older:
        yield Declared(older, newer)


def attribute_name(name: str, path: str) -> Iterator[Cause]:
    """Check the name of an attribute or capacity, which may have a domain."""
    domain, slash, rest = name.partition("/")
    if "/" in rest:
        return  # kube-apiserver accepts names with two slashes
    if not slash:
        yield from _identifier(name, path)
        return
    if not domain:
        yield statuses.bad_value(path, "", "the domain must not be empty")
    else:
        yield from driver(domain, path)
    if not rest:
        yield statuses.bad_value(path, "", "the name must not be empty")
    else:
        yield from _identifier(rest, path)


def _identifier(text: str, path: str) -> Iterator[Cause]:
    if len(text) > _LONGEST_ID:
        yield statuses.too_long(path, _LONGEST_ID)
    if not re.fullmatch(_IDENTIFIER, text):
        yield statuses.bad_value(path, text, _IDENTIFIER_RULE)


def qualified_attribute(name: str, path: str) -> Found:
    """Check the name of an attribute that must have a domain."""
    older = [*attribute_name(name, path)]
    if "/" not in name:
        older.append(statuses.bad_value(path, name, _NOT_QUALIFIED))
    if older:
        newer = [statuses.bad_value(path, name, _NOT_QUALIFIED)] if "/" not in name else older
        yield Declared(tuple(older), tuple(map(_as_prefix, newer)))


def _as_prefix(cause: Cause) -> Cause:
    message = cause.message.replace("the domain must", "prefix must").replace(
        "the name must", "name must"
    )
    return cause._replace(message=message.replace(": a lowercase RFC", ": prefix: a lowercase RFC"))


def reference(names: dict[str, set[str]], name: str, path: str) -> Iterator[Cause]:
    """Check that a text names a request of the claim, or one of its alternatives."""
    parts = name.split("/")
    if len(parts) <= 2:
        for part in parts:
            yield from label(part, path)
    is_known = len(parts) <= 2 and parts[0] in names
    if not is_known or (len(parts) == 2 and parts[1] not in names[parts[0]]):
        yield statuses.bad_value(path, name, _UNKNOWN_REQUEST)


_UNKNOWN_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)


def request_names(claim: Json) -> dict[str, set[str]]:
    """Return the names of a claim's requests, each with those of its alternatives."""
    return {
        request.get("name", ""): {
            one.get("name", "") for one in request.get("firstAvailable") or []
        }
        for request in claim.get("requests") or []
    }
