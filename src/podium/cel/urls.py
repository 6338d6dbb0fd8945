"""URLs as values of CEL, read as Go's ``url.ParseRequestURI`` reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Final
from urllib.parse import quote, unquote_plus

from podium.cel import types
from podium.cel.environment import Library, function, library, overload
from podium.cel.types import Type
from podium.cel.values import Value, quoted
from podium.errors import EvaluationError

_URL_TYPE: Final = types.struct("kubernetes.URL")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}")
_HOST: Final = re.compile(r"(\[[^\]/?#]*\]|[^:\[\]]*)(?::([0-9]*))?")
_SAFE: Final = "/!$&'()*+,;=:@-._~%[]"


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL; ``text`` is the whole, by which two are compared."""

    text: str
    scheme: str
    host: str
    path: str
    query: str
    cel_type: ClassVar[Type] = _URL_TYPE
    go_name: ClassVar[str] = "cel.URL"
    equals_only_itself: ClassVar[bool] = True

    @property
    def hostname(self) -> str:
        found = _HOST.fullmatch(self.host)
        return found[1].strip("[]") if found else self.host

    @property
    def port(self) -> str:
        found = _HOST.fullmatch(self.host)
        return (found[2] or "") if found else ""


def parse_url(text: str) -> Url:
    try:
        return _parsed(text)
    except ValueError as error:
        reason = f"parse {quoted(text)}: {error}"
        raise EvaluationError(f"URL parse error during conversion from string: {reason}") from None


def _parsed(text: str) -> Url:
    if not text:
        raise ValueError("empty url")
    if any(char < " " or char == "\x7f" for char in text):
        raise ValueError("net/url: invalid control character in URL")
    if text.startswith(":"):
        raise ValueError("missing protocol scheme")
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    rest = text[found.end() :] if found else text
    if not rest.startswith("/") and not (scheme and rest):
        raise ValueError("invalid URI for request")
    rest = rest.partition("#")[0]
    rest, _, query = rest.partition("?")
    host = ""
    if rest.startswith("//") and scheme:
        host, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = _checked_host(host.rpartition("@")[2])
    wrong = _BAD_ESCAPE.search(rest)
    if wrong:
        raise ValueError(f"invalid URL escape {quoted(wrong[0])}")
    return Url(text, scheme, host, quote(rest, safe=_SAFE), query)


def _checked_host(host: str) -> str:
    if " " in host:
        raise ValueError('invalid character " " in host name')
    if not _HOST.fullmatch(host):
        port = host.rpartition(":")[2]
        raise ValueError(f"invalid port {quoted(':' + port)} after host")
    return host


def _is_url(text: str) -> bool:
    try:
        _parsed(text)
    except ValueError:
        return False
    return True


def _query(url: Url) -> dict[str, Value]:
    found: dict[str, list[Value]] = {}
    for part in url.query.split("&"):
        name, _, value = part.partition("=")
        if part and ";" not in part and not _BAD_ESCAPE.search(part):
            found.setdefault(unquote_plus(name), []).append(unquote_plus(value))
    return dict(found)


URLS: Final[Library] = library(
    function("url", overload("string_to_url", "(string) -> kubernetes.URL", parse_url)),
    function("isURL", overload("is_url_string", "(string) -> bool", _is_url)),
    function(
        "getScheme",
        overload("url_get_scheme", "kubernetes.URL.() -> string", lambda url: url.scheme),
    ),
    function(
        "getHost", overload("url_get_host", "kubernetes.URL.() -> string", lambda url: url.host)
    ),
    function(
        "getHostname",
        overload("url_get_hostname", "kubernetes.URL.() -> string", lambda url: url.hostname),
    ),
    function(
        "getPort", overload("url_get_port", "kubernetes.URL.() -> string", lambda url: url.port)
    ),
    function(
        "getEscapedPath",
        overload("url_get_escaped_path", "kubernetes.URL.() -> string", lambda url: url.path),
    ),
    function(
        "getQuery",
        overload("url_get_query", "kubernetes.URL.() -> map(string, list(string))", _query),
    ),
)
