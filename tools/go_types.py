"""Write down what only the Go types of Kubernetes know: numbers of fields, and zeros left out.

    make go-types KUBERNETES=path/to/a/checkout/of/kubernetes RELEASE=1.37

The published schemas say which fields there are. They do not say which number a field has in
protobuf, whether Go leaves it out while it is zero, or whether it is part of the object from the
start. All three follow from the declaration of the field, a name, a type and a tag:

    Replicas *int32 `json:"replicas,omitempty" protobuf:"varint,1,opt,name=replicas"`

This program reads the declarations of all stable versions, and of those that podium serves with a
feature gate, and writes one line per type, so that
two Kubernetes versions can be compared with `diff`. It downloads nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from podium.apiserver.published import go_types_file
from podium.release import release_named

_SOURCES = (
    "api/*/v*",
    "apimachinery/pkg/apis/meta/v1",
    "apiextensions-apiserver/pkg/apis/apiextensions/v1",
)
_STABLE = re.compile(r"v\d+")
# Versions that are not stable, of kinds that podium serves with a feature gate.
_ALSO = ("api/scheduling/v1alpha3", "api/scheduling/v1beta1")
_IMPORT = re.compile(r'^\t(?:(\w+) )?"k8s\.io/([^"]+)"$', re.MULTILINE)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\t(?:\w+\s+)?(\S+)\s+`(.*)`", re.MULTILINE)
_JSON = re.compile(r'json:"([^",]*)((?:,\w+)*)"')
_NUMBER = re.compile(r'protobuf:"\w+,(\d+)')


@dataclass(frozen=True)
class GoField:
    """One field: its name in JSON, its Go type, its number (0 without one) and its options."""

    name: str
    type: str
    number: int
    options: frozenset[str]

    def line(self, structs: Structs) -> str:
        if not self.name:  # Go puts the fields of an embedded struct without a name in its place
            return f"{self.number}:~{self.type}"
        is_struct = self.type in structs
        is_value = not is_struct and not self.type.startswith("*")
        mark = "{}" if is_struct else "?" if is_value and "omitempty" in self.options else ""
        return f"{self.number}:{self.name}{mark}"


Structs = dict[str, list[GoField]]


def read(sources: Path) -> Structs:
    """Return the structs of a checkout by name, such as ``api.core.v1.Container``."""
    found = {}
    for pattern in _SOURCES:
        for folder in sorted(sources.glob(pattern)):
            name = folder.relative_to(sources).as_posix()
            if _STABLE.fullmatch(folder.name) or name in _ALSO:
                package = ".".join(folder.relative_to(sources).parts)
                for path in sorted(folder.glob("types*.go")):
                    found.update(parse(path.read_text(), package))
    return found


def parse(source: str, package: str) -> Iterator[tuple[str, list[GoField]]]:
    """Yield the structs that a Go file declares."""
    imports = {
        alias or path.rpartition("/")[2]: path.replace("/", ".")
        for alias, path in _IMPORT.findall(source)
    }
    for name, body in _STRUCT.findall(source):
        fields = [
            _field(go_type, tags, package, imports)
            for go_type, tags in _FIELD.findall(body)
            if 'json:"-"' not in tags
        ]
        yield f"{package}.{name}", [one for one in fields if one is not None]


def _field(go_type: str, tags: str, package: str, imports: dict[str, str]) -> GoField | None:
    found = _JSON.search(tags)
    if found is None:
        return None
    number = _NUMBER.search(tags)
    options = frozenset(found[2].split(",")) - {""}
    qualified = _qualified(go_type, package, imports)
    return GoField(found[1], qualified, int(number[1]) if number else 0, options)


def _qualified(go_type: str, package: str, imports: dict[str, str]) -> str:
    """Return a type with the full name of its package; of pointers and lists only that much."""
    if not re.fullmatch(r"[\w.]+", go_type):
        return go_type
    alias, _, name = go_type.rpartition(".")
    return f"{imports.get(alias, alias)}.{name}" if alias else f"{package}.{name}"


def text(structs: Structs) -> str:
    """Return the data file: a type and its fields per line, sorted by name."""
    lines = [
        " ".join([name, *(one.line(structs) for one in fields)])
        for name, fields in sorted(structs.items())
        if fields
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    sources = Path(sys.argv[1]) / "staging" / "src" / "k8s.io"
    structs = read(sources)
    if not structs:
        sys.exit(f"no Go types below {sources}: give the path of a checkout of kubernetes")
    path = go_types_file(release_named(sys.argv[2]))
    path.write_text(text(structs))
    print(f"{path}: {len(structs)} types")


if __name__ == "__main__":
    main()
