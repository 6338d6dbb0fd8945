"""Read a policy from inside a ConfigMap, or from the file that a v1alpha1 file names.

A ConfigMap is one as ``kubectl get -o yaml`` prints it, with the policy under ``policy.cfg``.
"""

from typing import Any

from podium.config import document, wire
from podium.config.decode import decode
from podium.config.document import Unreadable
from podium.config.problems import Problems, child
from podium.config.version import Meaning, Notes
from podium.legacy.policy.policy import translate
from podium.legacy.policy.profile_builder import PROFILE
from podium.legacy.policy.types import Policy

KEY = "policy.cfg"
_PATH = child("data", KEY)


def unwrap_config_map(value: Any, problems: Problems) -> tuple[Any, Problems]:
    """Return the policy in a ConfigMap, with its lines in the file; other values as they are."""
    if not isinstance(value, dict) or value.get("kind") != "ConfigMap":
        return value, problems
    data = value.get("data")
    text = data.get(KEY) if isinstance(data, dict) else None
    if not isinstance(text, str):
        keys = f"; it has {', '.join(sorted(data))}" if isinstance(data, dict) and data else ""
        problems.add("data", f'missing policy config map value at key "{KEY}"{keys}')
        return {"apiVersion": "v1", "kind": "Policy"}, problems
    policy, inner = document.read(text)
    return policy, _with_lines_of_file(inner, problems, text)


def _with_lines_of_file(inner: Problems, outer: Problems, text: str) -> Problems:
    """Give the policy's problems line numbers of the file around it.

    A block of text begins on the line after its key; any other text is on the line of its key.
    """
    start = outer.line(_PATH)

    def shifted(line: int | None) -> int | None:
        if start is None or line is None:
            return start
        return start + line if "\n" in text else start

    lines = {path: shifted(line) for path, line in inner.lines.items()}
    joined = Problems({path: line for path, line in lines.items() if line is not None})
    for problem in outer.found:
        joined.add_at(problem.path, problem.line, problem.message)
    for problem in inner.found:
        joined.add_at(problem.path, shifted(problem.line), problem.message)
    return joined


class PolicyFile(wire.Wire, frozen=True):
    path: str = ""


class PolicyConfigMap(wire.Wire, frozen=True):
    namespace: str = ""
    name: str = ""


class PolicySource(wire.Wire, frozen=True):
    file: PolicyFile | None = None
    config_map: PolicyConfigMap | None = None


def read_policy(source: PolicySource, path: str, notes: Notes) -> Meaning:
    """Translate the policy that a v1alpha1 file names; report at ``path`` if it cannot be read."""
    inner = Notes(Problems(), Problems())
    policy = Policy()
    if source.config_map is not None:
        advice = "save its policy.cfg as a file and name that in policy.file.path"
        notes.problems.add(f"{path}.configMap", f"no cluster to read it from; {advice}")
    elif source.file is None or not source.file.path:
        notes.problems.required(f"{path}.file.path", "name the file of the policy")
    else:
        path_of_file = f"{path}.file.path"
        policy, inner = _read(source.file.path, path_of_file, notes)
    meaning = translate(policy, inner)
    _report(inner, source.file.path if source.file else "", path, notes)
    return meaning


def _read(name: str, path: str, notes: Notes) -> tuple[Policy, Notes]:
    try:
        text = document.read_text(name)
    except Unreadable as error:
        notes.problems.add(path, f"missing policy config file {name}: {error}")
        return Policy(), Notes(Problems(), Problems())
    value, problems = document.read(text)
    policy = decode(value, Policy, "", problems)
    return policy or Policy(), Notes(problems, Problems(problems.lines, problems.moved))


def _report(inner: Notes, name: str, path: str, notes: Notes) -> None:
    """Report the policy's problems at the path that names its file: its lines mean nothing here."""
    for problem in inner.problems.found:
        notes.problems.add(f"{path}.file.path", f"{name}: {problem}")
    for warning in inner.warnings.found:
        notes.warnings.add(f"{path}.file.path", f"{name}: {warning}")
    for moved, written in inner.problems.moved.items():
        if moved != PROFILE:
            notes.moved(moved, f"{path}.{written}" if written else path)
