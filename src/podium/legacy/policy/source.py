"""A policy that a v1alpha1 file names instead of plugins: read from another file."""

from podium.config import document, wire
from podium.config.decode import decode
from podium.config.document import Unreadable
from podium.config.problems import Problems
from podium.config.version import Meaning, Notes
from podium.legacy.policy.chosen import PROFILE
from podium.legacy.policy.policy import translate
from podium.legacy.policy.written import Policy


class PolicyFile(wire.Wire, frozen=True):
    path: str = ""


class PolicyConfigMap(wire.Wire, frozen=True):
    namespace: str = ""
    name: str = ""


class PolicySource(wire.Wire, frozen=True):
    file: PolicyFile | None = None
    config_map: PolicyConfigMap | None = None


def policy_in(source: PolicySource, path: str, notes: Notes) -> Meaning:
    """What the policy comes to; when it cannot be read, that is a problem at ``path``."""
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
    """Lines of the other file mean nothing here: what is found there is told at its name."""
    for problem in inner.problems.found:
        notes.problems.add(f"{path}.file.path", f"{name}: {problem}")
    for warning in inner.warnings.found:
        notes.warnings.add(f"{path}.file.path", f"{name}: {warning}")
    for place, written in inner.problems.moved.items():
        if place != PROFILE:
            notes.moved(place, f"{path}.{written}" if written else path)
