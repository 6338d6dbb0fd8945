"""Pack the published JSON schemas of the served Kubernetes release: `make schemas`.

They come from the package kubernetes-validate of the development environment, which has those of
every release. The wheel has one release of them, compressed, so that no user installs the others.
"""

from __future__ import annotations

import gzip
from importlib import resources

import msgspec

from podium.apiserver.published import RELEASE, SCHEMAS


def packed(release: str) -> bytes:
    """Return the definitions of a release; the same bytes for the same definitions."""
    package = resources.files("kubernetes_validate").joinpath("kubernetes-json-schema")
    path = package.joinpath(f"v{release}-local", "_definitions.json")
    definitions = msgspec.json.decode(path.read_bytes())["$defs"]
    return gzip.compress(msgspec.json.encode(definitions, order="sorted"), 9, mtime=0)


def main() -> None:
    SCHEMAS.write_bytes(packed(RELEASE))
    print(f"{SCHEMAS}: {SCHEMAS.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
