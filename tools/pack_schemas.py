"""Pack the published JSON schemas of the Kubernetes releases that podium knows: `make schemas`.

They come from the package kubernetes-validate of the development environment, which has those of
every release. The wheel has a compressed file for each release that podium can behave as.
"""

from __future__ import annotations

import gzip
from importlib import resources

import msgspec

from podium.apiserver.published import schemas_file
from podium.release import RELEASES, Release


def packed(release: Release) -> bytes:
    """Return the definitions of a release; the same bytes for the same definitions."""
    package = resources.files("kubernetes_validate").joinpath("kubernetes-json-schema")
    path = package.joinpath(f"v{release}.0-local", "_definitions.json")
    definitions = msgspec.json.decode(path.read_bytes())["$defs"]
    return gzip.compress(msgspec.json.encode(definitions, order="sorted"), 9, mtime=0)


def main() -> None:
    for release in RELEASES:
        path = schemas_file(release)
        path.write_bytes(packed(release))
        print(f"{path}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
