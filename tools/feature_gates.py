"""Write the feature gates of a Kubernetes release, as data for ``podium.config.feature_gates``.

    make feature-gates KUBERNETES=path/to/a/checkout/of/kubernetes RELEASE=1.37

A line of the file is a gate: its name, its stage, whether
it is on by default, ``locked`` if it cannot be changed, and the gates it needs to be on.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

OUTPUT: Final = Path(__file__).parent.parent / "src/podium/config/published"

# Where the gates are defined that kube-scheduler accepts.
SOURCES: Final = (
    "pkg/features/kube_features.go",
    "staging/src/k8s.io/apiextensions-apiserver/pkg/features/kube_features.go",
    "staging/src/k8s.io/apiserver/pkg/features/kube_features.go",
    "staging/src/k8s.io/client-go/features/known_features.go",
    "staging/src/k8s.io/component-base/logs/api/v1/kube_features.go",
    "staging/src/k8s.io/component-base/metrics/features/kube_features.go",
    "staging/src/k8s.io/component-base/zpages/features/kube_features.go",
    "staging/src/k8s.io/controller-manager/pkg/features/kube_features.go",
)
# Defined in the last file, but not accepted by kube-scheduler.
_NOT_ACCEPTED: Final = frozenset({"ControllerManagerReleaseLeaderElectionLockOnExit"})

_NAME = re.compile(r'^\s*(\w+)(?:\s+(?:featuregate\.)?Feature)?\s*=\s*"(\w+)"', re.MULTILINE)
_COMMENT = re.compile(r"//.*")
_SPECS = re.compile(r"(?:\w+\.)?(\w+):\s*\{((?:\s*\{[^{}]*\},?)+)\s*\}")
_SPEC = re.compile(r"\{([^{}]*)\}")
_VERSION = re.compile(r'\bVersion:\s*version\.MustParse\("(\d+)\.(\d+)"\)')
_NEEDS = re.compile(r"Dependencies = map.*?\n\}", re.DOTALL)
_NEED = re.compile(r"(?:\w+\.)?(\w+):\s*\{([^{}]+)\}")


class Spec(NamedTuple):
    """What a gate is from a version on."""

    since: tuple[int, int]
    stage: str
    is_on: bool
    is_locked: bool

    def line(self, name: str, needs: Iterable[str]) -> str:
        words = [name, self.stage, "on" if self.is_on else "off"]
        words += ["locked"] if self.is_locked else []
        return " ".join([*words, *(f"+{need}" for need in sorted(needs))])


def specs_in(text: str) -> Iterator[tuple[str, list[Spec]]]:
    """Yield the gates of a Go file by the names of their constants."""
    for found in _SPECS.finditer(_COMMENT.sub("", text)):
        specs = [spec for body in _SPEC.findall(found[2]) if (spec := _spec(body))]
        if specs:
            yield found[1], specs


def _spec(body: str) -> Spec | None:
    version = _VERSION.search(body)
    stage = re.search(r"PreRelease:\s*(?:\w+\.)?(\w+)", body)
    if version is None or stage is None or "MinCompatibilityVersion" in body:
        return None  # the last: on only where every server of the cluster is new enough
    is_on = bool(re.search(r"Default:\s*true", body))
    is_locked = bool(re.search(r"LockToDefault:\s*true", body))
    return Spec((int(version[1]), int(version[2])), stage[1], is_on, is_locked)


def needs_in(text: str) -> dict[str, list[str]]:
    """Return, by constant, the constants of the gates that must be on."""
    found = _NEEDS.search(_COMMENT.sub("", text))
    if found is None:
        return {}
    return {
        name: re.findall(r"(\w+)\)?(?:,|$)", needs.strip())
        for name, needs in _NEED.findall(found[0])
    }


def lines(checkout: Path, release: tuple[int, int]) -> list[str]:
    """Return a line for each gate of the release, sorted by name."""
    texts = [path.read_text() for each in SOURCES if (path := checkout / each).exists()]
    names = dict(pair for text in texts for pair in _NAME.findall(text))
    needs = {name: found for text in texts for name, found in needs_in(text).items()}
    written = {}
    for text in texts:
        for constant, specs in specs_in(text):
            known = [spec for spec in specs if spec.since <= release]
            if known and constant in names.keys() - _NOT_ACCEPTED:
                needed = [names[each] for each in needs.get(constant, ())]
                latest = max(known, key=lambda spec: spec.since)
                written[names[constant]] = latest.line(names[constant], needed)
    return [written[name] for name in sorted(written)]


def main(checkout: str, release: str) -> None:
    major, minor = map(int, release.split("."))
    found = lines(Path(checkout), (major, minor))
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / f"feature-gates-{release}.txt"
    path.write_text("\n".join(found) + "\n", encoding="utf-8")
    print(f"{path}: {len(found)} gates")


if __name__ == "__main__":
    main(*sys.argv[1:])
